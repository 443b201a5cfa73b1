//! Waiting on the clock that was handed in, unless the call is cancelled.

use std::{pin::Pin, sync::Arc, time::Duration};

use agcore_chat::Clock;
use tokio_util::sync::CancellationToken;

/// A wait; true when the token was cancelled.
pub(super) type Wait = Pin<Box<dyn Future<Output = bool> + Send>>;

pub(super) fn wait(clock: Arc<dyn Clock>, delay: Duration, token: CancellationToken) -> Wait {
    Box::pin(async move {
        tokio::select! {
            biased;
            () = token.cancelled() => true,
            () = clock.sleep(delay) => false,
        }
    })
}
