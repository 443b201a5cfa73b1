//! [`CallObserver`], and [`Waits`]: reports when a call starts and stops waiting for people.

use std::{
    future::poll_fn,
    pin::pin,
    sync::{Arc, Mutex, PoisonError},
};

use agcore_chat::{Progress, Text};

/// Receives the progress of calls, with the id of the call. Called from within the tool, so it must not block.
pub type ProgressSender = Arc<dyn Fn(&Text, Progress) + Send + Sync>;

/// Observes the calls of a batch. Called from within tools, so it must not block.
pub(crate) trait CallObserver: Send + Sync {
    /// A call reports progress.
    fn progress(&self, call: &Text, progress: Progress);

    /// A call starts or stops waiting for a person.
    fn waiting(&self, call: &Text, waiting: bool);
}

/// The waits of one call. They may nest and overlap.
pub(super) struct Waits {
    /// The number of waits in progress. Locked while a report is sent, so that reports keep their order.
    open: Mutex<usize>,
    observer: Option<Arc<dyn CallObserver>>,
}

impl Waits {
    pub(super) fn new(observer: Option<Arc<dyn CallObserver>>) -> Self {
        Self {
            open: Mutex::default(),
            observer,
        }
    }

    /// Awaits `wait`, and reports it unless it is ready at once.
    pub(super) async fn observe<F: Future>(&self, call: &Text, wait: F) -> F::Output {
        let mut wait = pin!(wait);
        let mut open = None;
        poll_fn(|cx| {
            let poll = wait.as_mut().poll(cx);
            if poll.is_pending() {
                open.get_or_insert_with(|| OpenWait::new(self, call));
            }
            poll
        })
        .await
    }

    /// Adds or removes a wait. The first and the last one are reported.
    fn count(&self, call: &Text, begins: bool) {
        let Some(observer) = &self.observer else { return };
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if begins {
            *open += 1;
        } else {
            *open -= 1;
        }
        if *open == usize::from(begins) {
            observer.waiting(call, begins);
        }
    }
}

/// Ends a wait on drop.
struct OpenWait<'a> {
    waits: &'a Waits,
    call: &'a Text,
}

impl<'a> OpenWait<'a> {
    fn new(waits: &'a Waits, call: &'a Text) -> Self {
        waits.count(call, true);
        Self { waits, call }
    }
}

impl Drop for OpenWait<'_> {
    fn drop(&mut self) {
        self.waits.count(self.call, false);
    }
}
