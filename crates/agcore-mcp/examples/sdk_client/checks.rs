//! [`Checks`]: the results of checks, and calls whose result is text.

use std::process::ExitCode;

use agcore_mcp::{McpClient, ToolCallRequest};

/// The results so far.
#[derive(Debug, Default)]
pub(crate) struct Checks {
    has_failed: bool,
}

impl Checks {
    /// Prints the result of a check.
    pub(crate) fn add(&mut self, name: &str, result: Result<(), String>) {
        match result {
            Ok(()) => println!("ok {name}"),
            Err(reason) => {
                self.has_failed = true;
                println!("FAILED {name}: {reason}");
            }
        }
    }

    /// Checks that the result of a call contains a text.
    pub(crate) async fn call(&mut self, client: &McpClient, call: ToolCallRequest, expected: &str) {
        let name = call.name.clone();
        let result = match text(client, call).await {
            Ok(text) if text.contains(expected) => Ok(()),
            Ok(text) => Err(format!("{expected:?} is not in {text:?}")),
            Err(reason) => Err(reason),
        };
        self.add(&name, result);
    }

    pub(crate) fn exit_code(&self) -> ExitCode {
        ExitCode::from(u8::from(self.has_failed))
    }
}

/// Calls a tool, and returns the text of its result.
pub(crate) async fn text(client: &McpClient, call: impl Into<ToolCallRequest>) -> Result<String, String> {
    let output = client
        .call_tool(call, |_| {})
        .await
        .map_err(|error| error.to_string())?;
    let output = output.map_err(|error| format!("the tool failed: {error}"))?;
    Ok(output
        .into_content()
        .map(|content| content.text().into_owned())
        .unwrap_or_default())
}
