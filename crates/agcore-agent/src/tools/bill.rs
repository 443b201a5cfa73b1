//! [`bill_calls`]: bills the model calls that tools make themselves.

use agcore_chat::ModelCall;
use agcore_tools::ToolContext;

use crate::{error::AgentError, session::AgentSession, turn::TurnScope};

/// Bills model calls that a tool has made itself, such as those of an embedder, to the session in which the tool runs: a
/// [stored](crate::StoredSessions) session with a biller keeps them in an audit message. In other sessions, and outside of a turn,
/// nothing happens.
///
/// ```
/// use std::sync::Arc;
///
/// use agcore_agent::bill_calls;
/// use agcore_chat::{Clock, Embedder, ModelCall};
/// use agcore_tools::{ToolContext, ToolError};
///
/// async fn embed(text: &str, embedder: &dyn Embedder, context: &ToolContext) -> Result<Vec<f32>, ToolError> {
///     let sent_at = context.clock().now();
///     let embedded = embedder.embed(&[text]).await.map_err(|fault| ToolError::failed(fault.message))?;
///     if let Some(who) = embedded.answered_by {
///         let mut call = ModelCall::new(who, sent_at);
///         call.usage = embedded.usage;
///         bill_calls(context, vec![call]).await.map_err(|error| ToolError::failed(error.to_string()))?;
///     }
///     Ok(embedded.vectors.into_iter().next().unwrap_or_default())
/// }
/// ```
///
/// # Errors
/// [`Storage`](crate::AgentErrorKind::Storage) if the store fails.
pub async fn bill_calls(context: &ToolContext, calls: Vec<ModelCall>) -> Result<(), AgentError> {
    let scope = context.extension::<TurnScope>();
    match scope.as_ref().and_then(|scope| scope.recorder.as_ref()) {
        Some(recorder) => Ok(recorder.document(calls).await?),
        None => Ok(()),
    }
}

impl AgentSession {
    /// Bills model calls to the session that were made for it elsewhere, such as by the sampler of an MCP server. Like
    /// [`bill_calls`], which tools use; it may be called while a turn runs.
    ///
    /// # Errors
    /// [`Storage`](crate::AgentErrorKind::Storage) if the store fails.
    pub async fn bill_calls(&self, calls: Vec<ModelCall>) -> Result<(), AgentError> {
        match self.recorder() {
            Some(recorder) => Ok(recorder.document(calls).await?),
            None => Ok(()),
        }
    }
}
