//! Reads the arguments of a call from the command line or standard input.

use std::io::{self, IsTerminal};

use agcore::{
    chat::ToolCall,
    tools::{Arguments, RegisteredTool},
};

use crate::{exit::Failure, input::read_stdin};

/// Creates a call of a tool and validates its arguments.
///
/// # Errors
/// When the arguments are not a JSON object or do not match the tool's schema.
pub(super) async fn call(tool: &RegisteredTool, json: Option<&str>) -> Result<ToolCall, Failure> {
    let json = match json {
        Some(json) => json.to_owned(),
        None if io::stdin().is_terminal() => String::new(),
        None => read_stdin().await?,
    };
    let call = ToolCall::function("call_1", tool.name().as_str(), json.trim());
    Arguments::from_call(&call)
        .and_then(|arguments| tool.tool().check_arguments(&arguments))
        .map_err(|error| {
            Failure::usage(format!(
                "{error}\nRun `agcore tools show {}` to see its parameters.",
                tool.name()
            ))
        })?;
    Ok(call)
}
