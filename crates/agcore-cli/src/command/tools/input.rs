//! The arguments of a call, from the command line or from standard input.

use std::io::{self, IsTerminal};

use agcore::{
    chat::ToolCall,
    tools::{Arguments, RegisteredTool},
};

use crate::{exit::Failure, stdin};

/// A call of a tool, its arguments checked.
///
/// # Errors
/// Arguments that are no JSON object, or do not fit the tool.
pub(super) async fn call(tool: &RegisteredTool, json: Option<&str>) -> Result<ToolCall, Failure> {
    let json = match json {
        Some(json) => json.to_owned(),
        None if io::stdin().is_terminal() => String::new(),
        None => stdin::read().await?,
    };
    let call = ToolCall::function("call_1", tool.name().as_str(), json.trim());
    Arguments::of(&call)
        .and_then(|arguments| tool.tool().check_arguments(&arguments))
        .map_err(|error| {
            Failure::usage(format!(
                "{error}\n`agcore tools show {}` shows what it takes.",
                tool.name()
            ))
        })?;
    Ok(call)
}
