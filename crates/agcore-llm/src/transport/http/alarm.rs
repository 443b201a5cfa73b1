//! [`Alarm`]: one timer for all limits of an exchange.
//!
//! Setting a timer anew for each piece of a stream costs more than reading the piece. So the timer, once set, stays where it
//! is as long as it goes off too early: when it does, it is set to where it has to be by then.

use std::{
    future::{Future, poll_fn},
    pin::Pin,
    task::{Context, Poll, Waker},
    time::Duration,
};

use tokio::time::{Instant, Sleep, sleep_until};

use agcore_wire::TimeoutStage;

/// One timer for all limits of an exchange.
pub(super) struct Alarm {
    /// When the whole exchange must be over.
    deadline: Option<Instant>,
    /// When the wait that is under way must be over, and what is late then.
    due: Option<(Instant, TimeoutStage)>,
    /// Made when something is first waited for.
    timer: Option<Pin<Box<Sleep>>>,
    /// Who is woken by the timer as it is set.
    waker: Option<Waker>,
}

impl Alarm {
    /// An alarm for an exchange that may take so long.
    pub(super) fn new(total: Option<Duration>) -> Self {
        Self {
            deadline: total.map(|limit| Instant::now() + limit),
            due: None,
            timer: None,
            waker: None,
        }
    }

    /// A wait begins that may take so long; the stage is named when it does not.
    pub(super) fn set(&mut self, limit: Option<Duration>, stage: TimeoutStage) {
        let own = limit.map(|limit| (Instant::now() + limit, stage));
        let whole = self.deadline.map(|deadline| (deadline, TimeoutStage::Total));
        self.due = match (own, whole) {
            (Some(own), Some(whole)) => Some(if own.0 < whole.0 { own } else { whole }),
            (own, whole) => own.or(whole),
        };
    }

    /// Ready with what is late when the wait is over. Only the last caller is woken.
    pub(super) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<TimeoutStage> {
        let Some((due, stage)) = self.due else {
            return Poll::Pending;
        };
        let is_set = self.timer.as_ref().is_some_and(|timer| timer.deadline() <= due);
        if is_set && !self.went_off() && self.wakes(cx) {
            return Poll::Pending;
        }
        loop {
            let timer = match &mut self.timer {
                Some(timer) if timer.deadline() <= due => timer,
                Some(timer) => {
                    timer.as_mut().reset(due);
                    timer
                }
                None => self.timer.insert(Box::pin(sleep_until(due))),
            };
            if timer.as_mut().poll(cx).is_pending() {
                self.waker = Some(cx.waker().clone());
                return Poll::Pending;
            }
            if timer.deadline() >= due {
                return Poll::Ready(stage);
            }
            timer.as_mut().reset(due);
        }
    }

    /// The future's output, or what is late. By reference: an `async fn` has room twice for what it takes and awaits.
    pub(super) async fn within<F: Future>(
        &mut self,
        limit: Option<Duration>,
        stage: TimeoutStage,
        mut future: Pin<&mut F>,
    ) -> Result<F::Output, TimeoutStage> {
        self.set(limit, stage);
        poll_fn(|cx| match future.as_mut().poll(cx) {
            Poll::Ready(output) => Poll::Ready(Ok(output)),
            Poll::Pending => self.poll(cx).map(Err),
        })
        .await
    }

    fn went_off(&self) -> bool {
        self.timer.as_ref().is_some_and(|timer| timer.is_elapsed())
    }

    /// Whether the timer is set to wake this task.
    fn wakes(&self, cx: &Context<'_>) -> bool {
        self.waker.as_ref().is_some_and(|waker| waker.will_wake(cx.waker()))
    }
}
