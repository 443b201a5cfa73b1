//! [`StartLine`]: where calls wait until it is reported that they begin.

use std::{
    future::poll_fn,
    sync::{Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Waker},
};

use agcore_chat::Text;

/// The calls of a batch that can run, but must not before their begin has been reported.
#[derive(Debug, Default)]
pub(super) struct StartLine(Mutex<State>);

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
        poll_fn(|cx| self.lock().poll(call, id.take(), cx)).await;
    }

    /// Returns the ids of the calls to report; empty if there are none.
    pub(super) fn report(&self) -> Vec<Text> {
        let State { arrived, reported } = &mut *self.lock();
        let ids = arrived.iter().map(|arrival| arrival.id.clone()).collect();
        if reported.is_empty() {
            // Usual, and saves a second buffer.
            std::mem::swap(arrived, reported);
        } else {
            reported.append(arrived);
        }
        ids
    }

    /// Releases the calls that were reported. Returns whether there was one.
    pub(super) fn release(&self) -> bool {
        // The lock is released before each wake.
        let released = std::mem::take(&mut self.lock().reported);
        let any = !released.is_empty();
        released.into_iter().for_each(|arrival| arrival.waker.wake());
        any
    }

    /// Releases all calls without a report, after the run was cancelled. Returns whether there was one.
    pub(super) fn cancel(&self) -> bool {
        drop(self.report());
        self.release()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
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
