//! [`Observer`]: the function that is notified about the statuses of runs.

use std::{fmt, sync::Arc};

use agcore_chat::Actor;

use super::{changes::Changes, stored::Stored};
use crate::session::{Session, run::Run};

#[derive(Clone, Default)]
pub(super) struct Observer(Option<Arc<Observe>>);

type Observe = dyn Fn(&Actor, &str, &Run) + Send + Sync;

impl Observer {
    pub(super) fn new(observe: impl Fn(&Actor, &str, &Run) + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(observe)))
    }

    /// Returns the runs that get another status, to be reported when the changes are applied.
    pub(super) fn changed(&self, changes: &Changes, stored: &Stored) -> Vec<Run> {
        match self.0 {
            Some(_) => changes.new_statuses(stored).cloned().collect(),
            None => Vec::new(),
        }
    }

    /// Reports that a run of a session has got another status.
    pub(super) fn report(&self, session: &Session, run: &Run) {
        if let Some(observe) = self.0.as_ref().filter(|_| session.part_of.is_none()) {
            observe(&session.owner, &session.id, run);
        }
    }
}

impl fmt::Debug for Observer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = if self.0.is_some() { "Observer" } else { "None" };
        f.write_str(name)
    }
}
