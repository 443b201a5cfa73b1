//! [`CallQueue`]: the calls of a batch that wait until the [schedule](CallSchedule) lets them start.

use std::{
    collections::VecDeque,
    future::poll_fn,
    iter,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll, Waker},
};

use super::{
    calls::wake_unless_polled,
    schedule::{CallSchedule, Exclusivity},
};

/// The queue of the calls of a batch.
#[derive(Debug)]
pub(super) struct CallQueue {
    /// Whether a call has ever waited. Written under the lock, and read without it: usually none does.
    has_waited: AtomicBool,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    schedule: CallSchedule,
    /// The waiting calls and their wakers.
    waiting: VecDeque<(usize, Waker)>,
}

impl CallQueue {
    /// Creates a queue that lets at most `max_concurrency` calls run side by side.
    pub(super) fn new(max_concurrency: usize) -> Self {
        Self {
            has_waited: AtomicBool::new(false),
            state: Mutex::new(State {
                schedule: CallSchedule::new(max_concurrency),
                waiting: VecDeque::new(),
            }),
        }
    }

    /// Waits until a call may start: at once, unless other calls wait already.
    pub(super) async fn wait(&self, call: usize, exclusivity: Exclusivity) {
        let mut exclusivity = Some(exclusivity);
        poll_fn(|cx| {
            let mut state = self.lock();
            let poll = state.poll(call, exclusivity.take(), cx);
            if poll.is_pending() {
                self.has_waited.store(true, Ordering::Release);
            }
            poll
        })
        .await;
    }

    /// Starts every call that may run now, before the task with this waker polls its calls. Returns whether there was one.
    pub(super) fn start(&self, task: &Waker) -> bool {
        if !self.has_waited.load(Ordering::Acquire) {
            return false;
        }
        // The lock is released before each wake.
        let started = iter::from_fn(|| self.lock().start());
        started.map(|waker| wake_unless_polled(waker, task)).count() > 0
    }

    /// Removes a call that has ended.
    pub(super) fn end(&self, call: usize) {
        self.lock().schedule.end(call);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
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
