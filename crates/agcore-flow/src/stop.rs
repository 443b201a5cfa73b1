//! [`Stop`]: what ends a run from outside.

use agcore_chat::StopCheck;
use tokio_util::sync::CancellationToken;

/// The token that cancels a run, and the check that is asked before each attempt of a node.
#[derive(Clone)]
pub(crate) struct Stop {
    pub(crate) token: CancellationToken,
    pub(crate) check: Option<StopCheck>,
}

impl Stop {
    /// Returns the same for a node, whose token can be cancelled alone.
    pub(crate) fn child(&self) -> Self {
        Self {
            token: self.token.child_token(),
            check: self.check.clone(),
        }
    }

    /// Returns whether no attempt may begin any more.
    pub(crate) fn must_stop(&self) -> bool {
        self.token.is_cancelled() || self.check.as_ref().is_some_and(StopCheck::must_stop)
    }
}
