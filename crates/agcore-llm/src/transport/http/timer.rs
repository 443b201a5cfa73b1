//! [`ExchangeTimer`]: one timer for all limits of an exchange.
//!
//! Resetting a timer for each chunk of a stream costs more than reading the chunk. So a timer that fires too early is
//! left alone, and is only reset to the current deadline when it fires.

use std::{
    future::{Future, poll_fn},
    pin::Pin,
    task::{Context, Poll, Waker},
    time::Duration,
};

use tokio::time::{Instant, Sleep, sleep_until};

use super::timeouts::Timeouts;
use agcore_wire::TimeoutStage;

/// One timer for all limits of an exchange.
pub(super) struct ExchangeTimer {
    /// The deadline of the whole exchange.
    deadline: Option<Instant>,
    /// Whether the reply is streamed.
    stream: bool,
    /// The deadline of the current wait, and the stage that timed out when it passes.
    due: Option<(Instant, TimeoutStage)>,
    /// Created on the first wait.
    timer: Option<Pin<Box<Sleep>>>,
    /// The waker that the timer is registered with.
    waker: Option<Waker>,
}

impl ExchangeTimer {
    /// Creates a timer for an exchange. The total limit only applies to replies that are not streamed.
    pub(super) fn new(limits: &Timeouts, stream: bool) -> Self {
        let total = limits.total.filter(|_| !stream);
        Self {
            deadline: total.map(|limit| Instant::now() + limit),
            stream,
            due: None,
            timer: None,
            waker: None,
        }
    }

    /// Returns the limit of the wait for the head of the reply. Servers send the head of a whole reply when all of it is
    /// generated, so only the total limit applies to that.
    pub(super) fn first_byte(&self, limits: &Timeouts) -> Option<Duration> {
        limits.first_byte.filter(|_| self.stream)
    }

    /// Starts a wait that may take at most `limit`.
    pub(super) fn start(&mut self, limit: Option<Duration>, stage: TimeoutStage) {
        let wait = limit.map(|limit| (Instant::now() + limit, stage));
        let total = self.deadline.map(|deadline| (deadline, TimeoutStage::Total));
        self.due = match (wait, total) {
            (Some(wait), Some(total)) => Some(if wait.0 < total.0 { wait } else { total }),
            (wait, total) => wait.or(total),
        };
    }

    /// Resolves to the stage that timed out once the wait has taken too long. Only the last caller is woken.
    pub(super) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<TimeoutStage> {
        let Some((due, stage)) = self.due else {
            return Poll::Pending;
        };
        let is_set = self.timer.as_ref().is_some_and(|timer| timer.deadline() <= due);
        if is_set && !self.has_fired() && self.wakes(cx) {
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

    /// Returns the output of a future, or the stage that timed out.
    ///
    /// The future is passed by reference because an `async fn` stores a future that it owns and awaits twice.
    pub(super) async fn limit<F: Future>(
        &mut self,
        limit: Option<Duration>,
        stage: TimeoutStage,
        mut future: Pin<&mut F>,
    ) -> Result<F::Output, TimeoutStage> {
        self.start(limit, stage);
        poll_fn(|cx| match future.as_mut().poll(cx) {
            Poll::Ready(output) => Poll::Ready(Ok(output)),
            Poll::Pending => self.poll(cx).map(Err),
        })
        .await
    }

    fn has_fired(&self) -> bool {
        self.timer.as_ref().is_some_and(|timer| timer.is_elapsed())
    }

    /// Returns whether the timer wakes this task.
    fn wakes(&self, cx: &Context<'_>) -> bool {
        self.waker.as_ref().is_some_and(|waker| waker.will_wake(cx.waker()))
    }
}
