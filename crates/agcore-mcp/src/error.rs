//! [`McpError`]: the error of a client, a server or a configuration.
#![cfg_attr(
    not(feature = "client"),
    allow(dead_code, reason = "only the client makes some errors")
)]

use std::{error::Error, fmt, sync::Arc};

use agcore_chat::text::{clip, prefix, visible};
use agcore_tools::{ToolError, ToolErrorKind};
#[cfg(feature = "server")]
use serde_json::Value;

/// The longest text of a peer that an error quotes, in bytes.
pub(crate) const QUOTE_BYTES: usize = 2048;

/// An error of the Model Context Protocol.
///
/// The message names the server, what happened, and what to do about it. Text of the server is quoted without control
/// characters and cut to a reasonable length.
///
/// ```
/// use agcore_mcp::{McpClient, McpErrorKind, StdioTransport};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let error = McpClient::connect("notes", StdioTransport::new("no-such-program")).await.unwrap_err();
/// assert_eq!(error.kind(), McpErrorKind::Start);
/// assert_eq!(
///     error.to_string(),
///     "the MCP server \"notes\" cannot be started: the command `no-such-program` was not found; install it, or give its \
///      full path"
/// );
/// # }
/// ```
#[derive(Clone)]
pub struct McpError(Arc<Inner>);

#[derive(Clone)]
struct Inner {
    kind: McpErrorKind,
    message: String,
    model_text: Option<String>,
    code: Option<i32>,
    #[cfg(feature = "server")]
    data: Option<Value>,
    source: Option<Arc<dyn Error + Send + Sync>>,
}

/// The kinds of failure that a caller may want to distinguish.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum McpErrorKind {
    /// A setting cannot be used.
    Config,
    /// The program of the server cannot be started.
    Start,
    /// The connection failed or ended: the process exited, the network failed, or the client was closed.
    Closed,
    /// The server did not answer in time. The effects of the request are unknown.
    Timeout,
    /// The server violated the protocol.
    Protocol,
    /// The server answered with an error; [`McpError::code`] has its code.
    Server,
    /// The server does not offer the requested feature, or requests one that this client does not offer.
    Unsupported,
    /// The server requires authorization.
    Unauthorized,
}

impl McpErrorKind {
    /// Returns the name of the kind in logs.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Config => "config",
            Self::Start => "start",
            Self::Closed => "closed",
            Self::Timeout => "timeout",
            Self::Protocol => "protocol",
            Self::Server => "server",
            Self::Unsupported => "unsupported",
            Self::Unauthorized => "unauthorized",
        }
    }
}

impl fmt::Display for McpErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl McpError {
    /// Creates an error.
    pub fn new(kind: McpErrorKind, message: impl Into<String>) -> Self {
        Self(Arc::new(Inner {
            kind,
            message: message.into(),
            model_text: None,
            code: None,
            #[cfg(feature = "server")]
            data: None,
            source: None,
        }))
    }

    /// Sets the cause.
    #[must_use]
    pub fn with_source(mut self, cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Arc::make_mut(&mut self.0).source = Some(Arc::from(cause.into()));
        self
    }

    /// Sets the text for the model, when the call of a tool fails with this error.
    #[must_use]
    pub(crate) fn with_model_text(mut self, text: impl Into<String>) -> Self {
        Arc::make_mut(&mut self.0).model_text = Some(text.into());
        self
    }

    /// Creates the error for an error response.
    pub(crate) fn from_response(server: &str, request: &str, code: i32, message: &str) -> Self {
        let message = quote(message);
        let mut error = Self::new(
            McpErrorKind::Server,
            format!("the MCP server {server:?} answered {request} with error {code}: {message}"),
        )
        .with_model_text(format!("the tool's server refused the call: {message}"));
        Arc::make_mut(&mut error.0).code = Some(code);
        error
    }

    /// Sets the error response that a server sends because of this error.
    #[cfg(feature = "server")]
    #[must_use]
    pub(crate) fn with_response(mut self, code: i32, data: Value) -> Self {
        let inner = Arc::make_mut(&mut self.0);
        inner.code = Some(code);
        inner.data = Some(data);
        self
    }

    /// Returns the data of the error response that a server sends because of this error.
    #[cfg(feature = "server")]
    pub(crate) fn data(&self) -> Option<&Value> {
        self.0.data.as_ref()
    }

    /// Returns the kind.
    pub fn kind(&self) -> McpErrorKind {
        self.0.kind
    }

    /// Returns the JSON-RPC code of the error response, if there is one.
    pub fn code(&self) -> Option<i32> {
        self.0.code
    }

    /// Returns the message.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// Converts the error into that of a tool's call.
    ///
    /// An error response of the server becomes a result that the model sees; a broken connection does not.
    pub(crate) fn into_tool_error(self) -> ToolError {
        let kind = match self.0.kind {
            McpErrorKind::Config => ToolErrorKind::Config,
            McpErrorKind::Start | McpErrorKind::Closed => ToolErrorKind::NotConnected,
            McpErrorKind::Timeout => ToolErrorKind::Timeout,
            McpErrorKind::Protocol => ToolErrorKind::Protocol,
            McpErrorKind::Server if self.0.code == Some(INVALID_PARAMS) => ToolErrorKind::InvalidArguments,
            McpErrorKind::Server | McpErrorKind::Unsupported => ToolErrorKind::ExecutionFailed,
            McpErrorKind::Unauthorized => ToolErrorKind::Transport,
        };
        let error = ToolError::new(kind, self.0.message.clone());
        match &self.0.model_text {
            Some(text) => error.with_model_text(text.clone()),
            None => error,
        }
        .with_source(self)
    }
}

/// Converts an error into the error response that it stands for.
#[cfg(feature = "server")]
pub(crate) fn error_data(error: McpError) -> rmcp::ErrorData {
    let message = error.message().to_owned();
    match error.code() {
        Some(code) => rmcp::ErrorData::new(rmcp::model::ErrorCode(code), message, error.data().cloned()),
        None => rmcp::ErrorData::internal_error(message, None),
    }
}

/// In tools, `?` converts the errors of [clients](crate::McpClient) and [peers](crate::McpPeer).
#[cfg(any(feature = "client", feature = "server"))]
impl From<McpError> for ToolError {
    fn from(error: McpError) -> Self {
        error.into_tool_error()
    }
}

/// The JSON-RPC code of invalid parameters.
pub(crate) const INVALID_PARAMS: i32 = -32602;

/// Returns text of a peer as it may be quoted: one line, without control characters, of limited length.
pub(crate) fn quote(text: &str) -> String {
    let line: Vec<&str> = prefix(text, 2 * QUOTE_BYTES).split_whitespace().collect();
    clip(&visible(&line.join(" ")), QUOTE_BYTES).into_owned()
}

impl fmt::Display for McpError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)
    }
}

impl fmt::Debug for McpError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = f.debug_struct("McpError");
        debug.field("kind", &self.0.kind).field("message", &self.0.message);
        if let Some(code) = self.0.code {
            debug.field("code", &code);
        }
        if let Some(source) = &self.0.source {
            debug.field("source", source);
        }
        debug.finish_non_exhaustive()
    }
}

impl Error for McpError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.0.source.as_deref().map(|source| source as &(dyn Error + 'static))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_are_one_short_line_without_control_characters() {
        let text = quote(&format!("a\n\u{1b}[31mred\r\n{}", "x".repeat(5000)));
        assert!(
            text.starts_with("a ") && text.len() < QUOTE_BYTES + 8,
            "{}",
            &text[..40]
        );
        assert!(!text.contains(['\n', '\u{1b}']));
    }

    #[test]
    fn responses_are_for_the_model_and_broken_connections_are_not() {
        let response = McpError::from_response("s", "tools/call", INVALID_PARAMS, "days must be positive");
        let error = response.into_tool_error();
        assert_eq!(error.kind(), ToolErrorKind::InvalidArguments);
        assert_eq!(
            error.model_text(),
            "the tool's server refused the call: days must be positive"
        );
        let closed = McpError::new(McpErrorKind::Closed, "gone").into_tool_error();
        assert_eq!(closed.kind(), ToolErrorKind::NotConnected);
        assert!(!closed.is_for_model());
    }
}
