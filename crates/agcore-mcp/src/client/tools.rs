//! Requests about tools: lists and calls.

use std::time::Duration;

use agcore_chat::Progress;
use agcore_tools::{ToolError, ToolOutput};
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CallToolResult, ListToolsRequest, PaginatedRequestParams, ServerResult,
};
use serde_json::Value;
use tokio::time::Instant;

use super::{
    McpClient,
    connection::Connection,
    input::Input,
    remote_tool::{JsonObject, RemoteTool},
    request::Limits,
};
use crate::{
    convert,
    error::{McpError, McpErrorKind},
};

/// A call of a tool. See [`McpClient::call_tool`].
#[derive(Debug, Clone, PartialEq)]
#[must_use]
#[non_exhaustive]
pub struct ToolCallRequest {
    /// The name that the server knows.
    pub name: String,
    /// The arguments.
    pub arguments: JsonObject,
    /// How long the call may take without progress; [`ClientOptions::call_timeout`](crate::ClientOptions) by default.
    pub timeout: Option<Duration>,
}

impl ToolCallRequest {
    /// Creates a call without arguments.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            arguments: JsonObject::new(),
            timeout: None,
        }
    }

    /// Sets the arguments.
    pub fn with_arguments(mut self, arguments: JsonObject) -> Self {
        self.arguments = arguments;
        self
    }

    /// Sets one argument.
    pub fn with_argument(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.arguments.insert(name.into(), value.into());
        self
    }

    /// Sets how long the call may take without progress.
    pub fn with_timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }
}

impl From<&str> for ToolCallRequest {
    fn from(name: &str) -> Self {
        Self::new(name)
    }
}

impl McpClient {
    /// Returns the tools of the server, from all pages of its list. A server without tools has an empty list.
    ///
    /// A malformed tool is left out, with a warning in the log. Cancel safe.
    ///
    /// # Errors
    /// When the server does not answer in time, answers with an error, repeats a page, or lists too many tools.
    pub async fn list_tools(&self) -> Result<Vec<RemoteTool>, McpError> {
        let connection = self.0.connection().await?;
        if !connection.info.has_tools {
            return Ok(Vec::new());
        }
        let deadline = Instant::now() + self.0.options.list_timeout;
        let (mut tools, mut cursor) = (Vec::new(), None::<String>);
        loop {
            let (page, next) = self.page_of_tools(&connection, cursor.clone(), deadline).await?;
            tools.extend(page);
            if tools.len() > self.0.options.max_list_entries {
                return Err(self.list_error(&format!("more than {} tools", self.0.options.max_list_entries)));
            }
            match next {
                None => return Ok(tools),
                Some(next) if cursor.as_ref() == Some(&next) => {
                    return Err(self.list_error("the same page of tools again and again"));
                }
                Some(next) => cursor = Some(next),
            }
        }
    }

    async fn page_of_tools(
        &self,
        connection: &Connection,
        cursor: Option<String>,
        deadline: Instant,
    ) -> Result<(Vec<RemoteTool>, Option<String>), McpError> {
        let what = "tools/list";
        let params = PaginatedRequestParams::default().with_cursor(cursor);
        let request = ListToolsRequest {
            params: Some(params),
            ..ListToolsRequest::default()
        };
        let limits = Limits::within(deadline.saturating_duration_since(Instant::now()));
        match connection.requests.send(what, request, limits, &mut |_| {}).await? {
            ServerResult::ListToolsResult(page) => {
                Ok((page.tools.into_iter().map(RemoteTool::new).collect(), page.next_cursor))
            }
            other => match lenient_list(other, "tools") {
                Some((list, next)) => {
                    let (tools, problems) = RemoteTool::read_valid(list);
                    for problem in problems {
                        tracing::warn!(server = self.name(), problem, "a malformed tool is left out");
                    }
                    Ok((tools, next))
                }
                None => Err(connection.requests.unexpected(what, "a list of tools")),
            },
        }
    }

    pub(super) fn list_error(&self, problem: &str) -> McpError {
        McpError::new(
            McpErrorKind::Protocol,
            format!("the MCP server {:?} lists {problem}; the list is not used", self.name()),
        )
    }

    /// Calls a tool. `on_progress` receives the progress that the server reports, before the result.
    ///
    /// The arguments are sent as they are; tools that were registered with [`register_into`](Self::register_into) are
    /// validated first. Dropping the future cancels the call at the server.
    ///
    /// # Errors
    /// The inner error is a failure that the tool itself reports. The outer one is that of the connection, of the
    /// protocol, or an error response.
    ///
    /// ```no_run
    /// # async fn example(client: agcore_mcp::McpClient) -> Result<(), Box<dyn std::error::Error>> {
    /// use agcore_mcp::ToolCallRequest;
    ///
    /// let call = ToolCallRequest::new("echo").with_argument("message", "hello");
    /// let output = client.call_tool(call, |progress| println!("{:?}", progress.done)).await??;
    /// println!("{:?}", output.into_content());
    /// # Ok(())
    /// # }
    /// ```
    pub async fn call_tool(
        &self,
        call: impl Into<ToolCallRequest>,
        mut on_progress: impl FnMut(Progress) + Send,
    ) -> Result<Result<ToolOutput, ToolError>, McpError> {
        let call = call.into();
        let connection = self.0.connection().await?;
        let result = self.call(&connection, call, &mut on_progress).await?;
        Ok(convert::tool_output(result))
    }

    async fn call(
        &self,
        connection: &Connection,
        call: ToolCallRequest,
        on_progress: &mut (dyn FnMut(Progress) + Send),
    ) -> Result<CallToolResult, McpError> {
        let options = &self.0.options;
        let idle = call.timeout.unwrap_or(options.call_timeout);
        let limits = Limits {
            idle,
            total: options.max_call_time.max(idle),
        };
        let what = format!("the call of {:?}", agcore_chat::text::prefix(&call.name, 100));
        let params = CallToolRequestParams::new(call.name).with_arguments(call.arguments);
        let request = |input: Input| {
            let mut params = params.clone();
            (params.input_responses, params.request_state) = (input.responses, input.state);
            CallToolRequest::new(params).into()
        };
        match self
            .send_with_input(connection, &what, request, limits, on_progress)
            .await?
        {
            ServerResult::CallToolResult(result) => Ok(result),
            // A result without any member.
            ServerResult::EmptyResult(_) => Ok(CallToolResult::default()),
            _ => Err(connection.requests.unexpected(&what, "the result of a call")),
        }
    }
}

/// Returns the entries of a list in which at least one is malformed, with the cursor of the next page.
pub(super) fn lenient_list(result: ServerResult, member: &str) -> Option<(Vec<Value>, Option<String>)> {
    let ServerResult::CustomResult(result) = result else {
        return None;
    };
    let Value::Object(mut members) = result.0 else {
        return None;
    };
    let next = members.get("nextCursor").and_then(Value::as_str).map(str::to_owned);
    match members.remove(member) {
        Some(Value::Array(list)) => Some((list, next)),
        _ => None,
    }
}
