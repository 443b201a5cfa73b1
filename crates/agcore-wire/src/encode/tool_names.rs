//! Names of tools in the form that every vendor accepts.
//!
//! The names of an application may contain dots and be long ([`agcore_chat::tool_name`]). They are written in their portable form
//! everywhere in a request, and restored in the reply by [`decode::tool_names`](crate::decode::tool_names).

use std::borrow::Cow;

use agcore_chat::{
    AllowedTool, Tool, ToolChoice,
    tool_name::{is_portable, portable},
};

use super::invalid_request;
use crate::error::LlmError;

/// The name sent for a call that has none. Every API requires one; the call was never run, as its result states.
const UNKNOWN_TOOL: &str = "unknown_tool";

/// Returns the name to send for the tool of a call.
pub(crate) fn of_call(name: &str) -> Cow<'_, str> {
    if name.is_empty() {
        Cow::Borrowed(UNKNOWN_TOOL)
    } else {
        portable(name)
    }
}

/// Returns the name of a tool that is sent in another form; `None` for hosted tools and names that are portable.
pub(crate) fn changed_name(tool: &Tool) -> Option<&str> {
    matches!(tool, Tool::Function(_) | Tool::Custom(_))
        .then(|| tool.name())
        .filter(|name| !is_portable(name))
}

/// Checks that the tools still have different names in the form in which they are sent.
pub(crate) fn check(tools: &[Tool]) -> Result<(), LlmError> {
    for changed in tools.iter().filter_map(changed_name) {
        let sent = portable(changed);
        let is_same = |name: &&str| *name != changed && portable(name) == sent;
        if let Some(other) = tools.iter().map(Tool::name).find(is_same) {
            return Err(invalid_request(format!(
                "the tools `{changed}` and `{other}` would both be sent as `{sent}`: rename one of them, or leave it out"
            )));
        }
    }
    Ok(())
}

/// Returns a tool choice with the names that are sent.
pub(crate) fn of_choice(choice: &ToolChoice) -> Cow<'_, ToolChoice> {
    let owned = |name: &str| portable(name).into_owned();
    match choice {
        ToolChoice::Function(name) if !is_portable(name) => Cow::Owned(ToolChoice::Function(owned(name))),
        ToolChoice::Custom(name) if !is_portable(name) => Cow::Owned(ToolChoice::Custom(owned(name))),
        ToolChoice::Allowed { mode, tools } if tools.iter().any(is_changed) => Cow::Owned(ToolChoice::Allowed {
            mode: *mode,
            tools: tools
                .iter()
                .map(|tool| match tool {
                    AllowedTool::Function(name) => AllowedTool::Function(owned(name)),
                    AllowedTool::Custom(name) => AllowedTool::Custom(owned(name)),
                    other => other.clone(),
                })
                .collect(),
        }),
        choice => Cow::Borrowed(choice),
    }
}

fn is_changed(tool: &AllowedTool) -> bool {
    match tool {
        AllowedTool::Function(name) | AllowedTool::Custom(name) => !is_portable(name),
        _ => false,
    }
}
