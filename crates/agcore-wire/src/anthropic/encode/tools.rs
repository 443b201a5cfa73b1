//! [`Tools`]: tool definitions and the tool choice. Without tools, neither is written.

use std::borrow::Cow;

use agcore_chat::{AllowedMode, AllowedTool, ChatRequest, Tool, ToolChoice, ToolDefinition, tool_name::portable};
use serde::{Serialize, Serializer, ser::SerializeMap};
use serde_json::{Value, json};

use super::{
    block::{Mark, write_cache},
    schema,
};
use crate::{
    anthropic::vendor::{CACHE_CONTROL, unsupported_parameter},
    encode::closed_schema::closed,
};

/// The member of a tool that is loaded later.
const DEFER_LOADING: &str = "defer_loading";

/// The tools of a request.
#[derive(Debug, Default)]
pub(super) struct Tools<'a> {
    pub(super) list: Vec<EncodedTool<'a>>,
    pub(super) choice: Option<Value>,
}

/// A tool in the form of the API.
#[derive(Debug)]
pub(super) enum EncodedTool<'a> {
    Function {
        tool: &'a ToolDefinition,
        schema: Cow<'a, Value>,
        mark: Option<Mark<'a>>,
    },
    /// A tool that the vendor runs, sent unchanged.
    Hosted(&'a Value),
}

impl<'a> Tools<'a> {
    pub(super) fn new(request: &'a ChatRequest) -> Result<Self, String> {
        let choice = request.tool_choice.as_ref();
        let offered = request.tools.iter().filter(|tool| is_offered(tool, choice));
        let list: Vec<EncodedTool<'a>> = offered.map(encode_tool).collect::<Result<_, _>>()?;
        if list.is_empty() {
            return Ok(Self::default());
        }
        let choice = tool_choice(choice, request.parallel_tool_calls)?;
        Ok(Self { list, choice })
    }

    /// Returns whether the application placed a cache mark on any tool.
    pub(super) fn is_marked(&self) -> bool {
        self.list.iter().any(|tool| match tool {
            EncodedTool::Function { tool, mark, .. } => mark.is_some() || member(tool, CACHE_CONTROL).is_some(),
            EncodedTool::Hosted(raw) => raw.get(CACHE_CONTROL).is_some(),
        })
    }

    /// Marks the last function. Tools that are loaded later cannot be marked, and hosted tools are sent unchanged.
    pub(super) fn mark_last(&mut self) {
        let last = self.list.iter_mut().rev().find_map(|tool| match tool {
            EncodedTool::Function { tool, mark, .. } if !is_deferred(tool) => Some(mark),
            _ => None,
        });
        if let Some(mark) = last {
            *mark = Some(Mark::Automatic);
        }
    }
}

/// Returns whether a tool is sent. The API cannot restrict the model to some of the tools, so tools that are not allowed
/// are left out.
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

fn encode_tool(tool: &Tool) -> Result<EncodedTool<'_>, String> {
    match tool {
        Tool::Function(tool) => {
            let mut schema = schema::tool_parameters(tool.parameters.as_ref(), &tool.name)?;
            if tool.strict == Some(true) {
                let closed = closed(&schema).map_err(|error| {
                    unsupported_parameter("strict", &format!("the parameters of the tool `{}`", tool.name), &error)
                })?;
                schema = Cow::Owned(closed);
            }
            let mark = tool.marks.cache.as_ref().map(Mark::Own);
            Ok(EncodedTool::Function { tool, schema, mark })
        }
        Tool::Custom(tool) => Err(unsupported_parameter(
            "tools",
            &format!("custom tools such as `{}`", tool.name),
            "define a function with one argument of type string",
        )),
        Tool::Hosted(raw) if raw.is_object() => Ok(EncodedTool::Hosted(raw)),
        _ => Err("a tool is neither a function nor a JSON object: leave it out".into()),
    }
}

fn tool_choice(choice: Option<&ToolChoice>, parallel: Option<bool>) -> Result<Option<Value>, String> {
    let mut written = match choice {
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
        Some(ToolChoice::Function(name) | ToolChoice::Custom(name)) => {
            json!({"type": "tool", "name": portable(name)})
        }
        Some(ToolChoice::Other(raw @ Value::Object(_))) => raw.clone(),
        Some(other) => {
            return Err(unsupported_parameter(
                "tool_choice",
                &format!("the tool choice {other:?}"),
                "set another one",
            ));
        }
    };
    if let (Some(false), Value::Object(members)) = (parallel, &mut written) {
        members.entry("disable_parallel_tool_use").or_insert(Value::Bool(true));
    }
    Ok(Some(written))
}

impl Serialize for EncodedTool<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (tool, schema, mark) = match self {
            Self::Hosted(raw) => return raw.serialize(serializer),
            Self::Function { tool, schema, mark } => (tool, schema, mark),
        };
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("name", &portable(&tool.name))?;
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
        // A mark that the application wrote in the vendor's form takes precedence.
        write_cache(mark.filter(|_| member(tool, CACHE_CONTROL).is_none()), &mut map)?;
        map.end()
    }
}

/// Returns whether a tool is loaded only when the model has searched for it.
fn is_deferred(tool: &ToolDefinition) -> bool {
    member(tool, DEFER_LOADING).is_some_and(|value| *value == true)
}

/// Returns a member of a tool that has no field.
fn member<'a>(tool: &'a ToolDefinition, name: &str) -> Option<&'a Value> {
    tool.extra.get(name).or_else(|| tool.outer.get(name))
}
