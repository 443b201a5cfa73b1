//! [`Observer`]: a function that is called before and after each call of a store.

use std::{fmt, sync::Arc};

/// A moment of a call of a [`FaultyStore`](super::FaultyStore).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum StoreMoment {
    /// The call has not reached the store yet.
    Before,
    /// The store has answered, and the caller has not received the answer yet.
    After,
}

/// A function that observes calls, or none.
#[derive(Clone, Default)]
pub(super) struct Observer(Option<Arc<Observe>>);

type Observe = dyn Fn(StoreMoment, &str) + Send + Sync;

impl Observer {
    pub(super) fn new(observer: impl Fn(StoreMoment, &str) + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(observer)))
    }

    pub(super) fn observe(&self, moment: StoreMoment, method: &str) {
        if let Some(observe) = &self.0 {
            observe(moment, method);
        }
    }
}

impl fmt::Debug for Observer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Observer").field(&self.0.is_some()).finish()
    }
}
