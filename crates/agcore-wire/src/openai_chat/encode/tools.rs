//! Tools and `tool_choice`. Nothing is written if there are no tools.

use std::borrow::Cow;

use agcore_chat::{
    AllowedMode, AllowedTool, ChatRequest, CustomTool, Tool, ToolChoice, ToolDefinition,
    tool_name::{is_portable, portable},
};
use serde::{
    Serialize, Serializer,
    ser::{Error, SerializeMap},
};
use serde_json::{json, value::to_raw_value};

use super::{context::Context, schema};
use crate::encode::tool_names;

/// Writes the tools, the tool choice and `parallel_tool_calls`.
pub(super) fn write<S: SerializeMap>(
    context: &Context<'_>,
    request: &ChatRequest,
    map: &mut S,
) -> Result<(), S::Error> {
    let rule = context.dialect.tools;
    let choice = request.tool_choice.as_ref();
    let is_sent = |tool: &&Tool| is_sent(context, tool, choice);
    match request.tools.iter().filter(is_sent).count() {
        0 => return Ok(()),
        all if all == request.tools.len() => {
            let write = || {
                to_raw_value(&EncodedTools {
                    context,
                    tools: &request.tools,
                })
                .map_err(Error::custom)
            };
            map.serialize_entry("tools", &*context.tool_cache.json_of(&request.tools, write)?)?;
        }
        _ => {
            let sent: Vec<EncodedTool<'_>> = request
                .tools
                .iter()
                .filter(is_sent)
                .map(|tool| EncodedTool { context, tool })
                .collect();
            map.serialize_entry("tools", &sent)?;
        }
    }
    match choice {
        None => {}
        // The default, left out for vendors that document little more.
        Some(ToolChoice::Auto) if rule.choice_required.is_none() && !rule.choice_none => {}
        Some(choice) => write_choice(context, choice, map)?,
    }
    match request.parallel_tool_calls {
        Some(allowed) if context.dialect.accepts("parallel_tool_calls") => {
            map.serialize_entry("parallel_tool_calls", &allowed)
        }
        Some(false) => Err(context.refuse(
            "parallel_tool_calls",
            "the parameter `parallel_tool_calls`",
            "its models may always call several tools, so leave it out",
        )),
        // Such vendors always allow several calls.
        _ => Ok(()),
    }
}

/// Returns whether a tool is sent. Where `tool_choice` cannot express it, all tools are left out if none may be called, and
/// those that are not allowed otherwise.
fn is_sent(context: &Context<'_>, tool: &Tool, choice: Option<&ToolChoice>) -> bool {
    let rule = context.dialect.tools;
    match choice {
        Some(ToolChoice::None) => rule.choice_none,
        Some(ToolChoice::Allowed { tools, .. }) if !rule.choice_allowed => tools.iter().any(|allowed| match allowed {
            AllowedTool::Function(name) | AllowedTool::Custom(name) => tool.name() == name,
            AllowedTool::Hosted(raw) => matches!(tool, Tool::Hosted(hosted) if hosted == raw),
            _ => false,
        }),
        _ => true,
    }
}

fn write_choice<S: SerializeMap>(context: &Context<'_>, choice: &ToolChoice, map: &mut S) -> Result<(), S::Error> {
    let rule = context.dialect.tools;
    let required = || {
        if context.is_thinking && !rule.required_while_thinking {
            return Err(context.refuse(
                "tool_choice",
                "`tool_choice: required` while the model is thinking",
                "switch thinking off, or use `auto` and ask for the call in the prompt",
            ));
        }
        rule.choice_required.ok_or_else(|| {
            context.refuse(
                "tool_choice",
                "`tool_choice: required`",
                "use `auto` and ask for the call in the prompt",
            )
        })
    };
    let name = "tool_choice";
    match choice {
        ToolChoice::Required => map.serialize_entry(name, required()?),
        ToolChoice::Allowed {
            mode: AllowedMode::Required,
            ..
        } if !rule.choice_allowed => map.serialize_entry(name, required()?),
        ToolChoice::Allowed { .. } if !rule.choice_allowed => Ok(()),
        ToolChoice::Function(_) | ToolChoice::Custom(_) if !rule.choice_named => Err(context.refuse(
            "tool_choice",
            "a `tool_choice` that names one tool",
            "send only that tool",
        )),
        other => map.serialize_entry(name, &tool_names::of_choice(other)),
    }
}

/// The JSON of all tools of a request.
struct EncodedTools<'a> {
    context: &'a Context<'a>,
    tools: &'a [Tool],
}

impl Serialize for EncodedTools<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { context, tools } = *self;
        serializer.collect_seq(tools.iter().map(|tool| EncodedTool { context, tool }))
    }
}

struct EncodedTool<'a> {
    context: &'a Context<'a>,
    tool: &'a Tool,
}

impl Serialize for EncodedTool<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let context = self.context;
        let (kind, extra) = match self.tool {
            Tool::Function(tool) => ("function", &tool.outer),
            Tool::Custom(tool) if context.dialect.tools.custom => ("custom", &tool.outer),
            Tool::Custom(tool) => {
                let what = format!("custom tools such as `{}`", tool.name);
                return Err(context.refuse("tools", &what, "use a function with one argument of type string"));
            }
            // Hosted tools are the vendor's own JSON.
            other => return other.serialize(serializer),
        };
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("type", kind)?;
        match self.tool {
            Tool::Function(tool) => {
                map.serialize_entry(kind, &EncodedFunction { context, tool })?;
            }
            Tool::Custom(tool) if is_portable(&tool.name) => map.serialize_entry(kind, tool)?,
            Tool::Custom(tool) => {
                let name = portable(&tool.name).into_owned();
                let tool = CustomTool { name, ..tool.clone() };
                map.serialize_entry(kind, &tool)?;
            }
            _ => {}
        }
        extra
            .iter()
            .try_for_each(|(name, value)| map.serialize_entry(name, value))?;
        map.end()
    }
}

struct EncodedFunction<'a> {
    context: &'a Context<'a>,
    tool: &'a ToolDefinition,
}

impl Serialize for EncodedFunction<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { context, tool } = self;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("name", &portable(&tool.name))?;
        if let Some(description) = &tool.description {
            map.serialize_entry("description", description)?;
        }
        let adapted = schema::adapt_tool(context.dialect, tool).map_err(Error::custom)?;
        let empty_schema = || {
            context
                .dialect
                .tools
                .needs_parameters
                .then(|| Cow::Owned(json!({"type": "object", "properties": {}})))
        };
        if let Some(parameters) = adapted.or_else(empty_schema) {
            map.serialize_entry("parameters", &*parameters)?;
        }
        if let Some(strict) = schema::strict(context.dialect, tool.strict, &tool.name).map_err(Error::custom)? {
            map.serialize_entry("strict", &strict)?;
        }
        tool.extra
            .iter()
            .try_for_each(|(name, value)| map.serialize_entry(name, value))?;
        map.end()
    }
}
