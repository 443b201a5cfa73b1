//! [`StartLine`]: where calls wait until it is reported that they begin.

use std::{
    future::poll_fn,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll, Waker},
};

use agcore_chat::Text;

use super::calls::wake_unless_polled;

/// The calls of a batch that can run, but must not before their begin has been reported.
#[derive(Debug, Default)]
pub(super) struct StartLine {
    /// Whether a call waits. Written under the lock, and read without it.
    any: AtomicBool,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// The calls that are not reported yet.
    arrived: Vec<Arrival>,
    /// The calls that are reported and run at the next [`release`](StartLine::release).
    reported: Vec<Arrival>,
}

#[derive(Debug)]
struct Arrival {
    call: usize,
    id: Text,
    waker: Waker,
}

impl StartLine {
    /// Waits until a call has been reported and released.
    pub(super) async fn wait(&self, call: usize, id: &Text) {
        let mut id = Some(id);
        poll_fn(|cx| match id.take() {
            None if self.is_empty() => Poll::Ready(()),
            id => self.change(|state| state.poll(call, id, cx)),
        })
        .await;
    }

    /// Returns the ids of the calls to report; empty if there are none.
    pub(super) fn report(&self) -> Vec<Text> {
        if self.is_empty() {
            return Vec::new();
        }
        self.change(|State { arrived, reported }| {
            let ids = arrived.iter().map(|arrival| arrival.id.clone()).collect();
            if reported.is_empty() {
                // Usual, and saves a second buffer.
                std::mem::swap(arrived, reported);
            } else {
                reported.append(arrived);
            }
            ids
        })
    }

    /// Releases the calls that were reported, before the task with this waker polls its calls. Returns whether there was one.
    pub(super) fn release(&self, task: &Waker) -> bool {
        if self.is_empty() {
            return false;
        }
        // The lock is released before each wake.
        let released = self.change(|state| std::mem::take(&mut state.reported));
        let any = !released.is_empty();
        for Arrival { waker, .. } in released {
            wake_unless_polled(waker, task);
        }
        any
    }

    /// Releases all calls without a report, after the run was cancelled. Returns whether there was one.
    pub(super) fn cancel(&self, task: &Waker) -> bool {
        drop(self.report());
        self.release(task)
    }

    /// Returns whether no call waits, without the lock.
    pub(super) fn is_empty(&self) -> bool {
        !self.any.load(Ordering::Acquire)
    }

    fn change<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let changed = change(&mut state);
        let any = !(state.arrived.is_empty() && state.reported.is_empty());
        self.any.store(any, Ordering::Release);
        changed
    }
}

impl State {
    /// Adds a call when it is first polled, with its id, and completes when it has been released.
    fn poll(&mut self, call: usize, id: Option<&Text>, cx: &Context<'_>) -> Poll<()> {
        if let Some(id) = id {
            self.arrived.push(Arrival {
                call,
                id: id.clone(),
                waker: cx.waker().clone(),
            });
            return Poll::Pending;
        }
        let mut known = self.arrived.iter_mut().chain(&mut self.reported);
        match known.find(|arrival| arrival.call == call) {
            None => Poll::Ready(()),
            Some(arrival) => {
                arrival.waker.clone_from(cx.waker());
                Poll::Pending
            }
        }
    }
}
