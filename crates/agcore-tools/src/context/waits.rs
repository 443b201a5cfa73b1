//! [`Waits`]: reports when a call starts and stops waiting for people.

use std::{
    future::poll_fn,
    pin::pin,
    sync::{Arc, Mutex, PoisonError},
};

use agcore_chat::{Progress, Text};

/// Receives the id of a call and whether it waits for a person from now on.
pub(crate) type WaitSender = Arc<dyn Fn(&Text, bool) + Send + Sync>;

/// Receives the progress of calls, with the id of the call. Called from within the tool, so it must not block.
pub type ProgressSender = Arc<dyn Fn(&Text, Progress) + Send + Sync>;

/// The observers of one call.
#[derive(Clone, Default)]
pub(crate) struct CallObservers {
    pub(crate) progress: Option<ProgressSender>,
    pub(crate) waits: Option<WaitSender>,
}

/// The waits of one call. They may nest and overlap.
pub(super) struct Waits {
    /// The number of waits in progress. Locked while a report is sent, so that reports keep their order.
    open: Mutex<usize>,
    sender: Option<WaitSender>,
}

impl Waits {
    pub(super) fn new(sender: Option<WaitSender>) -> Self {
        Self {
            open: Mutex::default(),
            sender,
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
        let Some(send) = &self.sender else { return };
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if begins {
            *open += 1;
        } else {
            *open -= 1;
        }
        if *open == usize::from(begins) {
            send(call, begins);
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
