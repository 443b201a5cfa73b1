//! [`Tools`]: tools, and which of them may or must be called. Nothing of it is written without tools.

use std::borrow::Cow;

use agcore_chat::{AllowedMode, AllowedTool, CacheMark, ChatRequest, Tool, ToolChoice, ToolDefinition};
use serde::{Serialize, Serializer, ser::SerializeMap};
use serde_json::{Value, json};

use super::{block::write_cache, schema};

/// The tools of a request.
#[derive(Debug, Default)]
pub(super) struct Tools<'a> {
    pub(super) list: Vec<WrittenTool<'a>>,
    pub(super) choice: Option<Value>,
}

/// One tool.
#[derive(Debug)]
pub(super) enum WrittenTool<'a> {
    Function {
        tool: &'a ToolDefinition,
        schema: Cow<'a, Value>,
    },
    /// A tool that the vendor runs, in its own words.
    Hosted(&'a Value),
}

impl<'a> Tools<'a> {
    pub(super) fn of(request: &'a ChatRequest) -> Result<Self, String> {
        let choice = request.tool_choice.as_ref();
        let offered = request.tools.iter().filter(|tool| is_offered(tool, choice));
        let list: Vec<WrittenTool<'a>> = offered.map(written).collect::<Result<_, _>>()?;
        if list.is_empty() {
            return Ok(Self::default());
        }
        let choice = chosen(choice, request.parallel_tool_calls)?;
        Ok(Self { list, choice })
    }
}

/// The API cannot hold the model to some of the tools, so that the others stay away.
fn is_offered(tool: &Tool, choice: Option<&ToolChoice>) -> bool {
    let Some(ToolChoice::Allowed { tools, .. }) = choice else {
        return true;
    };
    tools.iter().any(|allowed| match allowed {
        AllowedTool::Function(name) | AllowedTool::Custom(name) => tool.name() == name,
        AllowedTool::Hosted(raw) => matches!(tool, Tool::Hosted(hosted) if hosted == raw),
        _ => false,
    })
}

fn written(tool: &Tool) -> Result<WrittenTool<'_>, String> {
    match tool {
        Tool::Function(tool) => {
            let mut schema = schema::of_tool(tool.parameters.as_ref(), &tool.name)?;
            if tool.strict == Some(true) {
                let closed = schema::closed(&schema).map_err(|why| {
                    format!(
                        "the API does not take the parameters of the tool `{}`: {why}",
                        tool.name
                    )
                })?;
                schema = Cow::Owned(closed);
            }
            Ok(WrittenTool::Function { tool, schema })
        }
        Tool::Custom(tool) => Err(format!(
            "the API does not take tools of free text such as `{}`: offer a function with one argument of type string",
            tool.name
        )),
        Tool::Hosted(raw) if raw.is_object() => Ok(WrittenTool::Hosted(raw)),
        _ => Err("a tool has no form that the API takes: leave it out".into()),
    }
}

fn chosen(choice: Option<&ToolChoice>, parallel: Option<bool>) -> Result<Option<Value>, String> {
    let mut chosen = match choice {
        None if parallel == Some(false) => json!({"type": "auto"}),
        None => return Ok(None),
        Some(ToolChoice::None) => return Ok(Some(json!({"type": "none"}))),
        Some(
            ToolChoice::Auto
            | ToolChoice::Allowed {
                mode: AllowedMode::Auto,
                ..
            },
        ) => json!({"type": "auto"}),
        Some(ToolChoice::Required | ToolChoice::Allowed { .. }) => json!({"type": "any"}),
        Some(ToolChoice::Function(name) | ToolChoice::Custom(name)) => json!({"type": "tool", "name": name}),
        Some(ToolChoice::Other(raw @ Value::Object(_))) => raw.clone(),
        Some(other) => return Err(format!("the API has no tool choice such as {other:?}: set another one")),
    };
    if let (Some(false), Value::Object(members)) = (parallel, &mut chosen) {
        members.entry("disable_parallel_tool_use").or_insert(Value::Bool(true));
    }
    Ok(Some(chosen))
}

impl Serialize for WrittenTool<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (tool, schema) = match self {
            Self::Hosted(raw) => return raw.serialize(serializer),
            Self::Function { tool, schema } => (tool, schema),
        };
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("name", &tool.name)?;
        if let Some(description) = &tool.description {
            map.serialize_entry("description", description)?;
        }
        map.serialize_entry("input_schema", schema)?;
        if let Some(strict) = tool.strict {
            map.serialize_entry("strict", &strict)?;
        }
        for (name, value) in tool.extra.iter().chain(tool.outer.iter()) {
            map.serialize_entry(name, value)?;
        }
        write_cache(cache(tool), &mut map)?;
        map.end()
    }
}

/// The tool's mark, unless one stands there in the vendor's own words.
fn cache(tool: &ToolDefinition) -> Option<&CacheMark> {
    let is_told = [&tool.extra, &tool.outer]
        .iter()
        .any(|extra| extra.get("cache_control").is_some());
    tool.marks.cache.as_ref().filter(|_| !is_told)
}
