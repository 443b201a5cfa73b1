//! [`Interrupt`]: what ends an exchange from our side.

use std::{
    future::{Future, pending},
    pin::Pin,
    time::Duration,
};

use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use crate::error::{LlmError, LlmErrorKind, TimeoutStage};

/// Ready with the error when the caller cancels or the deadline passes.
pub(super) type Interrupt = Pin<Box<dyn Future<Output = LlmError> + Send>>;

/// Watches a token and a deadline, which counts from the first poll.
pub(super) fn interrupt(token: CancellationToken, deadline: Option<Duration>) -> Interrupt {
    let Some(deadline) = deadline else {
        return Box::pin(async move {
            token.cancelled_owned().await;
            LlmError::cancelled()
        });
    };
    Box::pin(async move {
        if deadline.is_zero() {
            // A timer of no time goes off only after a moment in which something could be sent.
            return overdue(deadline);
        }
        tokio::select! {
            biased;
            () = token.cancelled() => LlmError::cancelled(),
            () = sleep(deadline) => overdue(deadline),
        }
    })
}

/// Never interrupts.
pub(super) fn never() -> Interrupt {
    Box::pin(pending())
}

fn overdue(deadline: Duration) -> LlmError {
    let message = format!(
        "the call did not end within its deadline of {} s; give it more time",
        deadline.as_secs_f64()
    );
    LlmError::new(LlmErrorKind::Timeout(TimeoutStage::Total), message)
}
