//! Tool definitions. The API has no `tool_choice`, so the model always decides which of them it calls.

use agcore_chat::{AllowedMode, AllowedTool, ChatRequest, Tool, ToolChoice, ToolDefinition, tool_name::portable};
use serde::{
    Serialize, Serializer,
    ser::{Error, SerializeMap},
};
use serde_json::json;

use crate::ollama::vendor::unsupported_parameter;

/// Writes the tools that the model may call. Without tools, nothing is written or checked.
pub(super) fn write<S: SerializeMap>(request: &ChatRequest, map: &mut S) -> Result<(), S::Error> {
    if request.tools.is_empty() {
        return Ok(());
    }
    check_choice(request.tool_choice.as_ref())?;
    if request.parallel_tool_calls == Some(false) {
        return Err(unsupported_parameter(
            "parallel_tool_calls",
            "`parallel_tool_calls: false`",
            "leave it out, and expect several calls at once",
        ));
    }
    let is_sent = |tool: &&Tool| is_allowed(tool, request.tool_choice.as_ref());
    let sent: Vec<_> = request.tools.iter().filter(is_sent).map(EncodedTool).collect();
    if sent.is_empty() {
        Ok(())
    } else {
        map.serialize_entry("tools", &sent)
    }
}

fn check_choice<E: Error>(choice: Option<&ToolChoice>) -> Result<(), E> {
    let (what, advice) = match choice {
        None | Some(ToolChoice::Auto | ToolChoice::None) => return Ok(()),
        Some(ToolChoice::Allowed {
            mode: AllowedMode::Auto,
            ..
        }) => return Ok(()),
        Some(ToolChoice::Function(_) | ToolChoice::Custom(_)) => {
            let advice = "send only that tool, and ask for the call in the prompt";
            ("a `tool_choice` that names one tool", advice)
        }
        Some(ToolChoice::Required | ToolChoice::Allowed { .. }) => {
            let advice = "let the model decide, and ask for the call in the prompt";
            ("`tool_choice: required`", advice)
        }
        Some(_) => ("this `tool_choice`", "leave it out"),
    };
    Err(unsupported_parameter("tool_choice", what, advice))
}

/// Returns whether a tool is sent. Tools that must not be called are left out.
fn is_allowed(tool: &Tool, choice: Option<&ToolChoice>) -> bool {
    match choice {
        Some(ToolChoice::None) => false,
        Some(ToolChoice::Allowed { tools, .. }) => tools
            .iter()
            .any(|allowed| matches!(allowed, AllowedTool::Function(name) if tool.name() == name)),
        _ => true,
    }
}

/// A tool in the form of the API.
struct EncodedTool<'a>(&'a Tool);

impl Serialize for EncodedTool<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let tool = match self.0 {
            Tool::Function(tool) => tool,
            Tool::Custom(tool) => {
                let what = format!("custom tools such as `{}`", tool.name);
                let advice = "define a function with one argument of type string";
                return Err(unsupported_parameter("tools", &what, advice));
            }
            hosted => {
                let what = format!("hosted tools such as `{}`", hosted.name());
                let advice = "leave them out, or define a function that does the same";
                return Err(unsupported_parameter("tools", &what, advice));
            }
        };
        if tool.strict == Some(true) {
            let what = format!("`strict` (tool `{}`)", tool.name);
            return Err(unsupported_parameter(
                "strict",
                &what,
                "leave it out; arguments are checked before the tool runs",
            ));
        }
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("type", "function")?;
        map.serialize_entry("function", &EncodedFunction(tool))?;
        tool.outer
            .iter()
            .try_for_each(|(name, value)| map.serialize_entry(name, value))?;
        map.end()
    }
}

struct EncodedFunction<'a>(&'a ToolDefinition);

impl Serialize for EncodedFunction<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let tool = self.0;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("name", &portable(&tool.name))?;
        if let Some(description) = &tool.description {
            map.serialize_entry("description", description)?;
        }
        match &tool.parameters {
            Some(schema) => map.serialize_entry("parameters", schema)?,
            // The server would fill in a schema with an empty type, which templates and grammars cannot handle.
            None => map.serialize_entry("parameters", &json!({"type": "object", "properties": {}}))?,
        }
        tool.extra
            .iter()
            .try_for_each(|(name, value)| map.serialize_entry(name, value))?;
        map.end()
    }
}
