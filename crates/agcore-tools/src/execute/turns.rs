//! [`Turns`]: where calls wait until the [lanes](Lanes) let them begin.

use std::{
    collections::VecDeque,
    future::poll_fn,
    iter,
    sync::{Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Waker},
};

use super::lanes::{Lanes, Need};

/// Where the calls of a batch wait for their turn.
#[derive(Debug)]
pub(super) struct Turns(Mutex<State>);

#[derive(Debug)]
struct State {
    lanes: Lanes,
    /// Who is told that a call may begin.
    waiting: VecDeque<(usize, Waker)>,
}

impl Turns {
    /// Turns for so many calls at a time.
    pub(super) fn new(most: usize) -> Self {
        Self(Mutex::new(State {
            lanes: Lanes::new(most),
            waiting: VecDeque::new(),
        }))
    }

    /// Waits for a call's turn, which comes no sooner than at the next [`begin`](Self::begin): all calls that come as far
    /// at the same time are lined up before the first of them begins.
    pub(super) async fn wait(&self, call: usize, need: Need) {
        let mut need = Some(need);
        poll_fn(|cx| self.lock().poll(call, need.take(), cx)).await;
    }

    /// Lets every call begin whose turn it is. False when it is nobody's.
    pub(super) fn begin(&self) -> bool {
        // Nobody is woken under the lock.
        let begun = iter::from_fn(|| self.lock().begin());
        begun.map(Waker::wake).count() > 0
    }

    /// A call has ended.
    pub(super) fn end(&self, call: usize) {
        self.lock().lanes.end(call);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Lines a call up that says what it needs; then it waits for as long as it is known here.
    fn poll(&mut self, call: usize, need: Option<Need>, cx: &Context<'_>) -> Poll<()> {
        if let Some(need) = need {
            self.lanes.wait(call, need);
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

    /// Lets the next call begin.
    fn begin(&mut self) -> Option<Waker> {
        let call = self.lanes.begin()?;
        let place = self.waiting.iter().position(|(waiting, _)| *waiting == call)?;
        self.waiting.remove(place).map(|(_, waker)| waker)
    }
}
