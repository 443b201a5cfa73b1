//! [`Interrupt`]: what ends an exchange from our side.

use std::{
    future::Future,
    pin::Pin,
    task::{Context, Poll, Waker},
    time::Duration,
};

use tokio::time::{Sleep, sleep};
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};

use crate::error::{LlmError, LlmErrorKind, TimeoutStage};

/// A token and a deadline, which counts from the first poll.
///
/// Looking at a token costs next to nothing, waiting for it something; most of the time a waiter that has registered itself
/// once need not do so again.
pub(super) struct Interrupt {
    token: Option<CancellationToken>,
    deadline: Option<Duration>,
    /// Made when something is first waited for.
    cancelled: Option<Pin<Box<WaitForCancellationFutureOwned>>>,
    /// Who is woken when the token is cancelled.
    waker: Option<Waker>,
    /// Made with the first poll.
    overdue: Option<Pin<Box<Sleep>>>,
}

impl Interrupt {
    /// Watches a token and a deadline.
    pub(super) fn new(token: CancellationToken, deadline: Option<Duration>) -> Self {
        Self {
            token: Some(token),
            deadline,
            ..Self::never()
        }
    }

    /// Never interrupts.
    pub(super) fn never() -> Self {
        Self {
            token: None,
            deadline: None,
            cancelled: None,
            waker: None,
            overdue: None,
        }
    }

    /// Ready with the error when the caller has cancelled or the deadline has passed; does not wait for the token.
    pub(super) fn poll_now(&mut self, cx: &mut Context<'_>) -> Poll<LlmError> {
        if self.token.as_ref().is_some_and(CancellationToken::is_cancelled) {
            return Poll::Ready(LlmError::cancelled());
        }
        let Some(deadline) = self.deadline else {
            return Poll::Pending;
        };
        // A timer of no time goes off only after a moment in which something could be sent.
        let is_over = deadline.is_zero() || {
            let timer = self.overdue.get_or_insert_with(|| Box::pin(sleep(deadline)));
            timer.as_mut().poll(cx).is_ready()
        };
        if is_over {
            Poll::Ready(overdue(deadline))
        } else {
            Poll::Pending
        }
    }

    /// To be called when there is nothing to do but to wait: then the caller's task is woken by the token, too.
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

fn overdue(deadline: Duration) -> LlmError {
    let message = format!(
        "the call did not end within its deadline of {} s; give it more time",
        deadline.as_secs_f64()
    );
    LlmError::new(LlmErrorKind::Timeout(TimeoutStage::Total), message)
}
