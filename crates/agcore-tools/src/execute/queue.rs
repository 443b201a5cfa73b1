//! [`CallQueue`]: the calls of a batch that wait until the [schedule](CallSchedule) lets them start.

use std::{
    collections::VecDeque,
    future::poll_fn,
    iter,
    sync::{Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Waker},
};

use super::schedule::{CallSchedule, Exclusivity};

/// The queue of the calls of a batch.
#[derive(Debug)]
pub(super) struct CallQueue(Mutex<State>);

#[derive(Debug)]
struct State {
    schedule: CallSchedule,
    /// The waiting calls and their wakers.
    waiting: VecDeque<(usize, Waker)>,
}

impl CallQueue {
    /// Creates a queue that lets at most `max_concurrency` calls run side by side.
    pub(super) fn new(max_concurrency: usize) -> Self {
        Self(Mutex::new(State {
            schedule: CallSchedule::new(max_concurrency),
            waiting: VecDeque::new(),
        }))
    }

    /// Waits until a call may start: at once, unless other calls wait already.
    pub(super) async fn wait(&self, call: usize, exclusivity: Exclusivity) {
        let mut exclusivity = Some(exclusivity);
        poll_fn(|cx| self.lock().poll(call, exclusivity.take(), cx)).await;
    }

    /// Starts every call that may run now. Returns whether there was one.
    pub(super) fn start(&self) -> bool {
        // The lock is released before each wake.
        let started = iter::from_fn(|| self.lock().start());
        started.map(Waker::wake).count() > 0
    }

    /// Removes a call that has ended.
    pub(super) fn end(&self, call: usize) {
        self.lock().schedule.end(call);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Queues a call when it is first polled, with its exclusivity, and completes when the call has been started.
    fn poll(&mut self, call: usize, exclusivity: Option<Exclusivity>, cx: &Context<'_>) -> Poll<()> {
        if let Some(exclusivity) = exclusivity {
            let Some(exclusivity) = self.schedule.start_at_once(call, exclusivity) else {
                return Poll::Ready(());
            };
            self.schedule.push(call, exclusivity);
            self.waiting.push_back((call, cx.waker().clone()));
            return Poll::Pending;
        }
        match self.waiting.iter_mut().find(|(waiting, _)| *waiting == call) {
            None => Poll::Ready(()),
            Some((_, waker)) => {
                waker.clone_from(cx.waker());
                Poll::Pending
            }
        }
    }

    /// Starts the next call that may run and returns its waker.
    fn start(&mut self) -> Option<Waker> {
        let call = self.schedule.start()?;
        let index = self.waiting.iter().position(|(waiting, _)| *waiting == call)?;
        self.waiting.remove(index).map(|(_, waker)| waker)
    }
}
