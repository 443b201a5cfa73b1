//! The token that cancels a call and its run, and the check of whether calls may begin.

use std::sync::atomic::{Ordering, fence};

use agcore_chat::StopCheck;
use tokio_util::sync::CancellationToken;

use super::ToolContext;

impl ToolContext {
    /// Returns the token that is cancelled when the run is cancelled, when the call is dropped, and when the call ends.
    ///
    /// A tool that spawns tasks should pass it on to them.
    pub fn cancellation(&self) -> &CancellationToken {
        let Some(call) = &self.call else {
            return &self.run.cancellation;
        };
        let token = call.cancellation.get_or_init(|| self.run.cancellation.child_token());
        // Either the end of the call sees the token, or this sees the end.
        fence(Ordering::SeqCst);
        if call.has_ended.load(Ordering::Acquire) {
            token.cancel();
        }
        token
    }

    /// Returns the token that is cancelled when the run is cancelled. For code that is dropped when its call ends.
    pub(crate) fn run_cancellation(&self) -> &CancellationToken {
        &self.run.cancellation
    }

    /// Returns the check that is asked before each call of the run whether it may begin. A tool that makes calls of its own should
    /// pass it on to them.
    pub fn stop_check(&self) -> Option<&StopCheck> {
        self.run.stop_check.as_ref()
    }

    /// Returns whether no call of the run may begin any more: it was cancelled, or its check requires it.
    pub(crate) fn must_stop(&self) -> bool {
        self.run.cancellation.is_cancelled() || self.run.stop_check.as_ref().is_some_and(StopCheck::must_stop)
    }
}
