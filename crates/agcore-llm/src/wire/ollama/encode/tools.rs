//! Tools. The API has no way to say which of them must be called.

use agcore_chat::{AllowedMode, AllowedTool, ChatRequest, Tool, ToolChoice, ToolDefinition};
use serde::{
    Serialize, Serializer,
    ser::{Error, SerializeMap},
};
use serde_json::json;

use super::refusal::refuse;

/// Writes the tools that the model may call; none of them when there are none.
pub(super) fn write<S: SerializeMap>(request: &ChatRequest, map: &mut S) -> Result<(), S::Error> {
    if request.tools.is_empty() {
        return Ok(());
    }
    check_choice(request.tool_choice.as_ref())?;
    if request.parallel_tool_calls == Some(false) {
        let advice = "its models may always call several tools";
        return Err(refuse("the parameter `parallel_tool_calls`", advice));
    }
    let is_sent = |tool: &&Tool| is_allowed(tool, request.tool_choice.as_ref());
    let sent: Vec<_> = request.tools.iter().filter(is_sent).map(WrittenTool).collect();
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
            let advice = "offer that tool alone, and ask for the call in the prompt";
            ("a `tool_choice` that names one tool", advice)
        }
        Some(ToolChoice::Required | ToolChoice::Allowed { .. }) => {
            let advice = "let the model decide, and ask for the call in the prompt";
            ("`tool_choice: required`", advice)
        }
        Some(_) => ("this `tool_choice`", "leave it out, the model decides"),
    };
    Err(refuse(what, advice))
}

/// Tools stay away when none shall be called, or when only others are allowed.
fn is_allowed(tool: &Tool, choice: Option<&ToolChoice>) -> bool {
    match choice {
        Some(ToolChoice::None) => false,
        Some(ToolChoice::Allowed { tools, .. }) => tools
            .iter()
            .any(|allowed| matches!(allowed, AllowedTool::Function(name) if tool.name() == name)),
        _ => true,
    }
}

struct WrittenTool<'a>(&'a Tool);

impl Serialize for WrittenTool<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let tool = match self.0 {
            Tool::Function(tool) => tool,
            Tool::Custom(tool) => {
                let what = format!("tools of free text such as `{}`", tool.name);
                return Err(refuse(&what, "offer a function with one argument of type string"));
            }
            hosted => {
                let what = format!("tools that a vendor runs itself such as `{}`", hosted.name());
                return Err(refuse(&what, "leave it out, or offer a function that does it"));
            }
        };
        if tool.strict == Some(true) {
            let what = format!("`strict` (tool `{}`)", tool.name);
            return Err(refuse(
                &what,
                "leave it out, arguments are checked before the tool runs",
            ));
        }
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("type", "function")?;
        map.serialize_entry("function", &WrittenFunction(tool))?;
        tool.outer
            .iter()
            .try_for_each(|(name, value)| map.serialize_entry(name, value))?;
        map.end()
    }
}

struct WrittenFunction<'a>(&'a ToolDefinition);

impl Serialize for WrittenFunction<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let tool = self.0;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("name", &tool.name)?;
        if let Some(description) = &tool.description {
            map.serialize_entry("description", description)?;
        }
        match &tool.parameters {
            Some(schema) => map.serialize_entry("parameters", schema)?,
            // The server would make one with an empty type of it, which templates and grammars trip over.
            None => map.serialize_entry("parameters", &json!({"type": "object", "properties": {}}))?,
        }
        tool.extra
            .iter()
            .try_for_each(|(name, value)| map.serialize_entry(name, value))?;
        map.end()
    }
}
