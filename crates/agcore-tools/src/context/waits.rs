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
#[derive(Default)]
pub(super) struct Waits {
    /// The number of waits in progress. Locked while a report is sent, so that reports keep their order.
    open: Mutex<usize>,
}

impl Waits {
    /// Awaits `wait`, and reports it to the observer unless it is ready at once.
    pub(super) async fn observe<F: Future>(
        &self,
        observer: Option<&dyn CallObserver>,
        call: &Text,
        wait: F,
    ) -> F::Output {
        let Some(observer) = observer else {
            return wait.await;
        };
        let mut wait = pin!(wait);
        let mut open = None;
        poll_fn(|cx| {
            let poll = wait.as_mut().poll(cx);
            if poll.is_pending() {
                open.get_or_insert_with(|| OpenWait::new(self, observer, call));
            }
            poll
        })
        .await
    }
}

/// A wait in progress. The first one and the end of the last one are reported.
struct OpenWait<'a> {
    waits: &'a Waits,
    observer: &'a dyn CallObserver,
    call: &'a Text,
}

impl<'a> OpenWait<'a> {
    fn new(waits: &'a Waits, observer: &'a dyn CallObserver, call: &'a Text) -> Self {
        let wait = Self { waits, observer, call };
        wait.count(true);
        wait
    }

    fn count(&self, begins: bool) {
        let mut open = self.waits.open.lock().unwrap_or_else(PoisonError::into_inner);
        if begins {
            *open += 1;
        } else {
            *open -= 1;
        }
        if *open == usize::from(begins) {
            self.observer.waiting(self.call, begins);
        }
    }
}

impl Drop for OpenWait<'_> {
    fn drop(&mut self) {
        self.count(false);
    }
}
