//! [`Inbox`]: the progress of one request, on its way to the one who waits for it.
#![cfg_attr(
    not(feature = "client"),
    allow(dead_code, reason = "only clients learn of the end of a connection")
)]

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Waker},
};

use agcore_chat::Progress;

/// The number of progress notifications that wait for their receiver. More are dropped.
const WAITING: usize = 64;

/// The progress of one request, and whether its connection has ended. The side that delivers has a clone.
///
/// Most requests have no progress, and thousands may run side by side, so an inbox without progress is small.
#[derive(Debug, Clone, Default)]
pub(crate) struct Inbox(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    progress: VecDeque<Progress>,
    has_ended: bool,
    waker: Option<Waker>,
}

impl Inbox {
    /// Returns whether the receiver, or another clone, still exists.
    pub(crate) fn has_receiver(&self) -> bool {
        Arc::strong_count(&self.0) > 1
    }

    /// Delivers progress. What does not fit is dropped.
    pub(crate) fn deliver(&self, progress: Progress) {
        let mut state = self.lock();
        if state.progress.len() < WAITING {
            state.progress.push_back(progress);
        }
        Self::wake(state);
    }

    /// Reports that the connection has ended.
    pub(crate) fn end(&self) {
        let mut state = self.lock();
        state.has_ended = true;
        Self::wake(state);
    }

    /// Takes progress that has arrived.
    pub(crate) fn take(&self) -> Option<Progress> {
        self.lock().progress.pop_front()
    }

    /// Waits for progress. Returns `None` when the connection has ended and there is no more.
    pub(crate) fn poll(&self, context: &mut Context<'_>) -> Poll<Option<Progress>> {
        let mut state = self.lock();
        if let Some(progress) = state.progress.pop_front() {
            return Poll::Ready(Some(progress));
        }
        if state.has_ended {
            return Poll::Ready(None);
        }
        match &mut state.waker {
            Some(waker) => waker.clone_from(context.waker()),
            none => *none = Some(context.waker().clone()),
        }
        Poll::Pending
    }

    /// Wakes the receiver without holding the lock.
    fn wake(mut state: MutexGuard<'_, State>) {
        let waker = state.waker.take();
        drop(state);
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::{future::poll_fn, pin::pin};

    use super::*;

    #[tokio::test]
    async fn progress_precedes_the_end() {
        let inbox = Inbox::default();
        let sender = inbox.clone();
        for done in 0..=WAITING {
            sender.deliver(Progress::amount(done as f64, None));
        }
        sender.end();
        let mut received = 0;
        while let Some(progress) = poll_fn(|context| inbox.poll(context)).await {
            assert_eq!(progress.done, Some(f64::from(received)));
            received += 1;
        }
        assert_eq!(received as usize, WAITING);
        assert!(inbox.take().is_none());
    }

    #[tokio::test]
    async fn a_waiting_receiver_is_woken() {
        for ends in [false, true] {
            let inbox = Inbox::default();
            let mut received = pin!(poll_fn(|context| inbox.poll(context)));
            let pending = poll_fn(|context| Poll::Ready(received.as_mut().poll(context).is_pending()));
            assert!(pending.await);
            let sender = inbox.clone();
            tokio::spawn(async move {
                match ends {
                    true => sender.end(),
                    false => sender.deliver(Progress::amount(1.0, None)),
                }
            });
            assert_eq!(received.await.is_none(), ends);
        }
    }
}
