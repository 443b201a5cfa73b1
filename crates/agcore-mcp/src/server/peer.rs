//! [`McpPeer`]: the client that called a tool.
#![expect(
    deprecated,
    reason = "logging and sampling are part of the revisions up to 2025-11-25"
)]

use std::{fmt, sync::Arc};

use rmcp::{
    Peer, RoleServer,
    model::{
        CreateMessageRequestParams, LoggingLevel, LoggingMessageNotificationParam, SamplingMessage,
        SamplingMessageContentBlock,
    },
};
use serde_json::Value;
use tokio::sync::watch;

use crate::error::{McpError, McpErrorKind};

/// The client that called a tool. Tools find it in their context, with
/// [`ToolContext::extension`](agcore_tools::ToolContext::extension).
///
/// ```
/// use agcore_mcp::McpPeer;
/// use agcore_tools::{NoArguments, ToolContext, ToolError, typed};
///
/// let tool = typed("clean", "Cleans up.", |_: NoArguments, context: ToolContext| async move {
///     if let Some(client) = context.extension::<McpPeer>() {
///         client.log("info", None, "cleaning").await;
///     }
///     Ok::<_, ToolError>("clean")
/// });
/// # let _ = tool;
/// ```
#[derive(Clone)]
pub struct McpPeer {
    pub(super) peer: Peer<RoleServer>,
    pub(super) level: Arc<LogLevel>,
}

/// The lowest severity of log messages that a client wants.
#[derive(Debug)]
pub(super) struct LogLevel(watch::Sender<u8>);

impl Default for LogLevel {
    fn default() -> Self {
        Self(watch::Sender::new(rank(LoggingLevel::Info)))
    }
}

impl LogLevel {
    /// Creates the level of a request without a session, which has to name one to get messages.
    pub(super) fn of_request(level: Option<LoggingLevel>) -> Self {
        Self(watch::Sender::new(level.map_or(u8::MAX, rank)))
    }

    pub(super) fn set(&self, level: LoggingLevel) {
        self.0.send_replace(rank(level));
    }
}

/// Returns the place of a severity in the order of the protocol.
fn rank(level: LoggingLevel) -> u8 {
    match level {
        LoggingLevel::Debug => 0,
        LoggingLevel::Info => 1,
        LoggingLevel::Notice => 2,
        LoggingLevel::Warning => 3,
        LoggingLevel::Error => 4,
        LoggingLevel::Critical => 5,
        LoggingLevel::Alert => 6,
        LoggingLevel::Emergency => 7,
    }
}

impl McpPeer {
    /// Sends a log message, if the client wants messages of this severity: `debug`, `info`, `notice`, `warning`, `error`,
    /// `critical`, `alert` or `emergency`. The client may show it to anyone, so it must not contain secrets.
    ///
    /// A message that cannot be sent is dropped, as is one with another severity. Cancel safe.
    pub async fn log(&self, level: &str, logger: Option<&str>, data: impl Into<Value>) {
        let Ok(level) = serde_json::from_value::<LoggingLevel>(level.into()) else {
            return tracing::warn!(level, "a log message for an MCP client has an unknown severity");
        };
        if rank(level) < *self.level.0.borrow() {
            return;
        }
        let mut message = LoggingMessageNotificationParam::new(level, data.into());
        message.logger = logger.map(str::to_owned);
        if let Err(error) = self.peer.notify_logging_message(message).await {
            tracing::debug!(%error, "a log message for an MCP client is dropped");
        }
    }

    /// Asks the person behind the client for input, in the form of a JSON Schema of an object with scalar members.
    /// Only clients with a session can be asked: those of the revisions up to 2025-11-25.
    ///
    /// # Errors
    /// When the client cannot ask, the person declines, or the connection ends.
    pub async fn ask(&self, message: &str, schema: Value) -> Result<Value, McpError> {
        use rmcp::model::{ElicitRequestParams, ElicitationAction};
        let unsupported = |reason: String| McpError::new(McpErrorKind::Unsupported, reason);
        let requested_schema = serde_json::from_value(schema)
            .map_err(|error| unsupported(format!("the schema of a question cannot be sent: {error}")))?;
        let params = ElicitRequestParams::FormElicitationParams {
            meta: None,
            message: message.to_owned(),
            requested_schema,
        };
        let result = self.peer.create_elicitation(params).await;
        let result = result.map_err(|error| unsupported(format!("the client cannot be asked: {error}")))?;
        match (result.action, result.content) {
            (ElicitationAction::Accept, content) => Ok(content.unwrap_or_default()),
            (ElicitationAction::Decline, _) => Err(unsupported("the person declined to answer".to_owned())),
            _ => Err(unsupported("the person cancelled the question".to_owned())),
        }
    }
}

impl McpPeer {
    /// Asks the model of the client, which must have a session (a revision up to 2025-11-25), and returns its text.
    ///
    /// # Errors
    /// When the client has no model, refuses, or the connection ends.
    pub async fn sample(&self, prompt: &str, max_tokens: u32) -> Result<String, McpError> {
        let messages = vec![SamplingMessage::user_text(prompt)];
        let result = self
            .peer
            .create_message(CreateMessageRequestParams::new(messages, max_tokens))
            .await;
        let result = result.map_err(|error| {
            McpError::new(
                McpErrorKind::Unsupported,
                format!("the model of the client cannot be asked: {error}"),
            )
        })?;
        let texts = result
            .message
            .content
            .into_vec()
            .into_iter()
            .filter_map(|block| match block {
                SamplingMessageContentBlock::Text(text) => Some(text.text),
                _ => None,
            });
        Ok(texts.collect::<Vec<_>>().join("\n"))
    }
}

impl fmt::Debug for McpPeer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("McpPeer").finish_non_exhaustive()
    }
}
