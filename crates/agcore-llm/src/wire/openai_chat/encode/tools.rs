//! Tools, and which of them may or must be called. Nothing of it is written without tools.

use std::borrow::Cow;

use agcore_chat::{AllowedMode, AllowedTool, ChatRequest, Tool, ToolChoice, ToolDefinition};
use serde::{
    Serialize, Serializer,
    ser::{Error, SerializeMap},
};
use serde_json::{json, value::to_raw_value};

use super::{context::Context, schema};

/// Writes tools, choice and whether several may be called at once.
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
                to_raw_value(&Written {
                    context,
                    tools: &request.tools,
                })
                .map_err(Error::custom)
            };
            map.serialize_entry("tools", &*context.written_tools.json_of(&request.tools, write)?)?;
        }
        _ => {
            let sent: Vec<WrittenTool<'_>> = request
                .tools
                .iter()
                .filter(is_sent)
                .map(|tool| WrittenTool { context, tool })
                .collect();
            map.serialize_entry("tools", &sent)?;
        }
    }
    match choice {
        None => {}
        Some(ToolChoice::Auto) if !rule.choice_named && rule.choice_required.is_none() && !rule.choice_none => {}
        Some(choice) => write_choice(context, choice, map)?,
    }
    match request.parallel_tool_calls {
        Some(allowed) if context.dialect.takes("parallel_tool_calls") => {
            map.serialize_entry("parallel_tool_calls", &allowed)
        }
        Some(false) => Err(context.refuse(
            "the parameter `parallel_tool_calls`",
            "its models may always call several tools",
        )),
        // Several calls are what such vendors allow anyway.
        _ => Ok(()),
    }
}

/// Tools stay away when none shall be called and that cannot be said, or when only others are allowed.
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
        rule.choice_required.ok_or_else(|| {
            context.refuse(
                "`tool_choice: required`",
                "let the model decide, and ask for the call in the prompt",
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
        ToolChoice::Function(_) | ToolChoice::Custom(_) if !rule.choice_named => {
            Err(context.refuse("a `tool_choice` that names one tool", "offer that tool alone"))
        }
        other => map.serialize_entry(name, other),
    }
}

/// All tools of a request.
struct Written<'a> {
    context: &'a Context<'a>,
    tools: &'a [Tool],
}

impl Serialize for Written<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { context, tools } = *self;
        serializer.collect_seq(tools.iter().map(|tool| WrittenTool { context, tool }))
    }
}

struct WrittenTool<'a> {
    context: &'a Context<'a>,
    tool: &'a Tool,
}

impl Serialize for WrittenTool<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let context = self.context;
        let (kind, extra) = match self.tool {
            Tool::Function(tool) => ("function", &tool.outer),
            Tool::Custom(tool) if context.dialect.tools.custom => ("custom", &tool.outer),
            Tool::Custom(tool) => {
                let what = format!("tools of free text such as `{}`", tool.name);
                return Err(context.refuse(&what, "offer a function with one argument of type string"));
            }
            // The vendor's own JSON.
            other => return other.serialize(serializer),
        };
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("type", kind)?;
        match self.tool {
            Tool::Function(tool) => {
                map.serialize_entry(kind, &WrittenFunction { context, tool })?;
            }
            Tool::Custom(tool) => map.serialize_entry(kind, tool)?,
            _ => {}
        }
        extra
            .iter()
            .try_for_each(|(name, value)| map.serialize_entry(name, value))?;
        map.end()
    }
}

struct WrittenFunction<'a> {
    context: &'a Context<'a>,
    tool: &'a ToolDefinition,
}

impl Serialize for WrittenFunction<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { context, tool } = self;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("name", &tool.name)?;
        if let Some(description) = &tool.description {
            map.serialize_entry("description", description)?;
        }
        let adapted = schema::of_tool(context.dialect, tool).map_err(Error::custom)?;
        let nothing = || {
            context
                .dialect
                .tools
                .needs_parameters
                .then(|| Cow::Owned(json!({"type": "object", "properties": {}})))
        };
        if let Some(parameters) = adapted.or_else(nothing) {
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
