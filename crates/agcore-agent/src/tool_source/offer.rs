//! [`ToolOffer`]: decides which of an agent's tools requests contain.

use std::sync::Arc;

use agcore_chat::ToolExecutor;
use agcore_tools::{ToolSession, ToolSnapshot};

/// Decides which of an agent's tools requests contain, where that is not all of them.
///
/// Turns only know this trait, so that a program without such a choice does not contain the code that makes it.
pub(crate) trait ToolOffer: Send + Sync {
    /// Returns the tools that are offered in a session of an agent that sees `tools`; `None` if requests contain all of them. Those
    /// in `forced` are named by the tool choice of the requests, so they must be offered.
    fn offered(
        &self,
        tools: &Arc<ToolSnapshot>,
        forced: &[String],
        session: &ToolSession,
    ) -> Option<Arc<dyn OfferedTools>>;
}

/// The tools that are offered in a session.
pub(crate) trait OfferedTools: Send + Sync {
    /// Returns all tools that can be called, also those that requests do not contain yet.
    fn callable(&self) -> &Arc<ToolSnapshot>;

    /// Returns the part of the system prompt that lists the tools which requests do not contain.
    fn prompt(&self) -> &str;

    /// Wraps an executor of the [callable](Self::callable) tools, so that requests contain only the tools that are offered. In a
    /// replay, `inner` answers all calls from a recording.
    fn executor(
        self: Arc<Self>,
        inner: Arc<dyn ToolExecutor>,
        session: ToolSession,
        is_replay: bool,
    ) -> Arc<dyn ToolExecutor>;
}
