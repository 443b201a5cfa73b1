//! Requests about tools: lists and calls.

use std::time::Duration;

use agcore_chat::Progress;
use agcore_tools::{ToolError, ToolOutput};
use rmcp::model::{CallToolRequest, CallToolRequestParams, CallToolResult, ListToolsRequest, ServerResult, Tool};
use serde_json::Value;

use super::{
    McpClient,
    connection::Connection,
    input::Input,
    list::{List, Page, lenient_page},
    remote_tool::{JsonObject, RemoteTool},
    request::Limits,
};
use crate::{convert, error::McpError};

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
    /// Further members of `_meta`.
    pub meta: JsonObject,
}

impl ToolCallRequest {
    /// Creates a call without arguments.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            arguments: JsonObject::new(),
            timeout: None,
            meta: JsonObject::new(),
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

    /// Adds a member to `_meta`, where the protocol has a place for data that is not part of the arguments. Names have a prefix,
    /// such as `example.com/name`.
    pub fn with_meta(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.meta.insert(name.into(), value.into());
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
    /// A malformed tool is left out. The list ends, with a warning in the log, at a cursor that is empty or repeats, at pages
    /// without anything new, at the limits of the client, and at a later page that cannot be read. Cancel safe.
    ///
    /// # Errors
    /// When the server does not answer in time, or answers with an error, before it lists a tool.
    pub async fn list_tools(&self) -> Result<Vec<RemoteTool>, McpError> {
        Ok(self.read_tools().await?.entries)
    }

    /// Returns the tools of the server, with what was left out.
    pub(crate) async fn read_tools(&self) -> Result<List<RemoteTool>, McpError> {
        let connection = self.0.connection().await?;
        if !connection.info.has_tools {
            return Ok(List::default());
        }
        let request = |params| {
            ListToolsRequest {
                params,
                ..ListToolsRequest::default()
            }
            .into()
        };
        let page = |result| {
            let (tools, next): Page<Tool> = match result {
                ServerResult::ListToolsResult(page) => (page.tools.into_iter().map(Ok).collect(), page.next_cursor),
                other => lenient_page(other, "tools")?,
            };
            Some((tools.into_iter().map(|tool| tool.map(RemoteTool::new)).collect(), next))
        };
        self.all_pages(&connection, "tools/list", request, page, |tool| &tool.name)
            .await
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
        let mut params = CallToolRequestParams::new(call.name).with_arguments(call.arguments);
        params.meta = (!call.meta.is_empty()).then(|| call.meta.into());
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
            ServerResult::CustomResult(result) => {
                tracing::warn!(
                    server = self.name(),
                    "the result of a call has a wrong form; what can be used is kept"
                );
                let result = convert::lenient_result(result.0);
                result.ok_or_else(|| connection.requests.unexpected(&what, "the result of a call"))
            }
            _ => Err(connection.requests.unexpected(&what, "the result of a call")),
        }
    }
}
