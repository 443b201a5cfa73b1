//! [`McpTool`]: a tool of a server as a tool of agcore.

use std::collections::HashSet;

use agcore_chat::{ToolAnnotations, text::prefix};
use agcore_tools::{Arguments, BaseTool, Permission, SchemaValidator, ToolContext, ToolError, ToolOutput};
use agcore_trace::attribute;
use async_trait::async_trait;
use serde_json::Value;
use tracing::Span;

use super::options::ToolsetOptions;
use crate::{
    client::{McpClient, RemoteTool, ToolCallRequest},
    error::quote,
};

/// The member of `_meta` with the [idempotency key](ToolContext::idempotency_key) of a call.
const IDEMPOTENCY_KEY: &str = "agcore/idempotencyKey";

/// A tool of a server as a tool of agcore. It shares the connection of its client. Calls of stored sessions have the member
/// `agcore/idempotencyKey` in `_meta`.
#[derive(Debug, Clone)]
pub struct McpTool {
    client: McpClient,
    /// The name without the prefix of the registration.
    name: String,
    tool: RemoteTool,
    permissions: Vec<Permission>,
    timeout: Option<std::time::Duration>,
}

impl McpTool {
    /// Returns the definition that the server gave.
    pub fn remote(&self) -> &RemoteTool {
        &self.tool
    }
}

/// Makes tools of the tools of a server, and returns warnings about their unused parts. Two tools get the same name only if the
/// server lists it twice.
pub(super) fn adapt(
    client: &McpClient,
    tools: Vec<RemoteTool>,
    options: &ToolsetOptions,
) -> (Vec<McpTool>, Vec<String>) {
    let permissions = match &options.permissions {
        Some(permissions) => permissions.clone(),
        None => vec![server_permission(client.name())],
    };
    let (mut taken, mut warnings) = (HashSet::new(), Vec::new());
    let mut adapted = Vec::with_capacity(tools.len());
    for mut tool in tools {
        if let Some(filter) = &options.filter
            && !filter(&mut tool)
        {
            continue;
        }
        warnings.extend(without_invalid_output_schema(&mut tool));
        let mut name = tool.local_name(options.prefix.len()).into_owned();
        // Names that differ only in refused characters.
        if name != tool.name {
            let base = name.clone();
            let mut number = 2;
            while taken.contains(&name) {
                let suffix = format!("_{number}");
                let room = agcore_chat::tool_name::MAX_BYTES.saturating_sub(options.prefix.len() + suffix.len());
                name = format!("{}{suffix}", prefix(&base, room));
                number += 1;
            }
        }
        taken.insert(name.clone());
        adapted.push(McpTool {
            client: client.clone(),
            name,
            tool,
            permissions: permissions.clone(),
            timeout: options.timeout,
        });
    }
    (adapted, warnings)
}

/// Removes an output schema that cannot be used, since the text of the results can. Returns the reason.
fn without_invalid_output_schema(tool: &mut RemoteTool) -> Option<String> {
    let checked = SchemaValidator::new().check_schema(tool.output_schema.as_ref()?);
    let reason = checked.err()?;
    tool.output_schema = None;
    let name = quote(prefix(&tool.name, 100));
    Some(format!("the output schema of {name:?} is not used: {}", quote(&reason)))
}

/// Returns the permission that stands for the tools of a server.
fn server_permission(server: &str) -> Permission {
    let is_accepted = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/');
    let name: String = server.chars().map(|c| if is_accepted(c) { c } else { '_' }).collect();
    let name = if name.is_empty() { "_" } else { &name };
    // Only names with other characters are refused; unknown programs can do anything, as a shell can.
    Permission::custom(&format!("mcp:{name}")).unwrap_or(Permission::Shell)
}

#[async_trait]
impl BaseTool for McpTool {
    fn name(&self) -> &str {
        &self.name
    }

    fn description(&self) -> &str {
        &self.tool.description
    }

    fn parameters(&self) -> &Value {
        &self.tool.parameters
    }

    fn output_schema(&self) -> Option<&Value> {
        self.tool.output_schema.as_ref()
    }

    fn required_permissions(&self) -> &[Permission] {
        &self.permissions
    }

    fn annotations(&self) -> ToolAnnotations {
        self.tool.annotations.clone()
    }

    async fn execute(&self, arguments: &Arguments, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let mut call = ToolCallRequest::new(&*self.tool.name).with_arguments(arguments.clone().into_map());
        call.timeout = self.timeout;
        if let Some(key) = context.idempotency_key() {
            call = call.with_meta(IDEMPOTENCY_KEY, key);
        }
        // Of the tool call, which is the span of the request as well.
        Span::current().record(attribute::MCP_METHOD_NAME, "tools/call");
        let result = self
            .client
            .call_tool(call, |progress| context.report_progress(progress))
            .await;
        match result {
            Ok(output) => output,
            Err(error) => {
                if error.code() == Some(crate::error::INVALID_PARAMS) {
                    // The schema may have changed without a notice.
                    self.client.0.events.send(crate::client::ServerEvent::ToolsChanged);
                }
                Err(error.into_tool_error())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_permission_contains_the_name_of_the_server() {
        for (server, permission) in [("github", "mcp:github"), ("my server", "mcp:my_server"), ("", "mcp:_")] {
            assert_eq!(server_permission(server).to_string(), permission);
        }
    }
}
