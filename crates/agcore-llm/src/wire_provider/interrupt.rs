//! [`Interrupt`]: cancellation and deadline of an exchange.

use std::{
    future::Future,
    pin::Pin,
    task::{Context, Poll, Waker},
    time::Duration,
};

use tokio::time::{Sleep, sleep};
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};

use agcore_wire::{LlmError, LlmErrorKind, TimeoutStage};

/// A cancellation token and a deadline that counts from the first poll.
///
/// Checking a token is nearly free, but waiting for it is not. A waiter that is registered once usually need not be
/// registered again.
pub(super) struct Interrupt {
    token: Option<CancellationToken>,
    deadline: Option<Duration>,
    /// Created by the first wait.
    cancelled: Option<Pin<Box<WaitForCancellationFutureOwned>>>,
    /// The waker that is registered with the token.
    waker: Option<Waker>,
    /// Created by the first poll.
    timer: Option<Pin<Box<Sleep>>>,
}

impl Interrupt {
    /// Creates an interrupt for a token and a deadline.
    pub(super) fn new(token: CancellationToken, deadline: Option<Duration>) -> Self {
        Self {
            token: Some(token),
            deadline,
            ..Self::never()
        }
    }

    /// Creates an interrupt that never fires.
    pub(super) fn never() -> Self {
        Self {
            token: None,
            deadline: None,
            cancelled: None,
            waker: None,
            timer: None,
        }
    }

    /// Returns the error if the caller has cancelled or the deadline has passed. Does not wait for the token.
    pub(super) fn poll_now(&mut self, cx: &mut Context<'_>) -> Poll<LlmError> {
        if self.token.as_ref().is_some_and(CancellationToken::is_cancelled) {
            return Poll::Ready(LlmError::cancelled());
        }
        let Some(deadline) = self.deadline else {
            return Poll::Pending;
        };
        // Even a timer of zero fires only after a moment, in which something could be sent.
        let is_over = deadline.is_zero() || {
            let timer = self.timer.get_or_insert_with(|| Box::pin(sleep(deadline)));
            timer.as_mut().poll(cx).is_ready()
        };
        if is_over {
            Poll::Ready(deadline_exceeded(deadline))
        } else {
            Poll::Pending
        }
    }

    /// Registers the task with the token too. Call it when there is nothing left to do but wait.
    pub(super) fn poll_wait(&mut self, cx: &mut Context<'_>) -> Poll<LlmError> {
        let Some(token) = &self.token else {
            return Poll::Pending;
        };
        if self.waker.as_ref().is_some_and(|waker| waker.will_wake(cx.waker())) {
            return Poll::Pending;
        }
        let cancelled = self
            .cancelled
            .get_or_insert_with(|| Box::pin(token.clone().cancelled_owned()));
        if cancelled.as_mut().poll(cx).is_ready() {
            return Poll::Ready(LlmError::cancelled());
        }
        self.waker = Some(cx.waker().clone());
        Poll::Pending
    }
}

fn deadline_exceeded(deadline: Duration) -> LlmError {
    let message = format!(
        "the call exceeded its deadline of {} s; allow it more time",
        deadline.as_secs_f64()
    );
    LlmError::new(LlmErrorKind::Timeout(TimeoutStage::Total), message)
}
