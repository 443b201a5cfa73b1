//! Tools, and which of them may or must be called. Nothing of it is written without tools.

use std::borrow::Cow;

use agcore_chat::{AllowedTool, ChatRequest, CustomTool, Extra, Tool, ToolChoice, ToolDefinition};
use serde::{Serialize, Serializer, ser::SerializeMap};
use serde_json::{Map, Value, json};

use super::context::refuse;
use crate::wire::closed_schema;

/// Writes tools, choice and whether several may be called at once.
pub(super) fn write<S: SerializeMap>(request: &ChatRequest, map: &mut S) -> Result<(), S::Error> {
    if request.tools.is_empty() {
        return Ok(());
    }
    let tools: Vec<WrittenTool<'_>> = request.tools.iter().map(WrittenTool).collect();
    map.serialize_entry("tools", &tools)?;
    if let Some(choice) = &request.tool_choice {
        map.serialize_entry("tool_choice", &WrittenChoice(choice))?;
    }
    request
        .parallel_tool_calls
        .map_or(Ok(()), |allowed| map.serialize_entry("parallel_tool_calls", &allowed))
}

/// A tool as it is written: flat.
struct WrittenTool<'a>(&'a Tool);

impl Serialize for WrittenTool<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Tool::Function(tool) => function(tool, serializer),
            Tool::Custom(tool) => custom(tool, serializer),
            // The vendor's own JSON.
            other => other.serialize(serializer),
        }
    }
}

fn function<S: Serializer>(tool: &ToolDefinition, serializer: S) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(None)?;
    map.serialize_entry("type", "function")?;
    map.serialize_entry("name", &tool.name)?;
    write_some("description", tool.description.as_ref(), &mut map)?;
    let is_strict = tool.strict == Some(true);
    let parameters = match &tool.parameters {
        None => Cow::Owned(json!({"type": "object", "properties": {}})),
        Some(schema) if is_strict => closed_schema::adapt(schema).map_err(|fault| {
            refuse(
                &format!("the parameters of the tool `{}`", tool.name),
                &fault.to_string(),
            )
        })?,
        Some(schema) => Cow::Borrowed(schema),
    };
    map.serialize_entry("parameters", &*parameters)?;
    // Said always: here strict is the default, and would refuse or change schemas that were not written for it.
    map.serialize_entry("strict", &is_strict)?;
    write_extra([&tool.extra, &tool.outer], &mut map)?;
    map.end()
}

fn custom<S: Serializer>(tool: &CustomTool, serializer: S) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(None)?;
    map.serialize_entry("type", "custom")?;
    map.serialize_entry("name", &tool.name)?;
    write_some("description", tool.description.as_ref(), &mut map)?;
    write_some("format", tool.format.as_ref().map(flat_format), &mut map)?;
    write_extra([&tool.extra, &tool.outer], &mut map)?;
    map.end()
}

fn write_some<S: SerializeMap, T: Serialize>(name: &str, value: Option<T>, map: &mut S) -> Result<(), S::Error> {
    value.map_or(Ok(()), |value| map.serialize_entry(name, &value))
}

fn write_extra<S: SerializeMap>(extra: [&Extra; 2], map: &mut S) -> Result<(), S::Error> {
    extra
        .into_iter()
        .flat_map(Extra::iter)
        .try_for_each(|(name, value)| map.serialize_entry(name, value))
}

/// The format of a custom tool: the Chat Completions API has a grammar one level deeper.
fn flat_format(format: &Value) -> Cow<'_, Value> {
    match (format.get("type"), format.get("grammar")) {
        (Some(kind), Some(Value::Object(grammar))) => {
            let mut flat = Map::from_iter([("type".to_owned(), kind.clone())]);
            flat.extend(grammar.clone());
            Cow::Owned(Value::Object(flat))
        }
        _ => Cow::Borrowed(format),
    }
}

/// A choice as it is written: names stand beside the type.
struct WrittenChoice<'a>(&'a ToolChoice);

impl Serialize for WrittenChoice<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            ToolChoice::Function(name) => named("function", name, serializer),
            ToolChoice::Custom(name) => named("custom", name, serializer),
            ToolChoice::Allowed { mode, tools } => {
                let tools: Vec<WrittenAllowed<'_>> = tools.iter().map(WrittenAllowed).collect();
                let mut map = serializer.serialize_map(Some(3))?;
                map.serialize_entry("type", "allowed_tools")?;
                map.serialize_entry("mode", mode)?;
                map.serialize_entry("tools", &tools)?;
                map.end()
            }
            // One word, or the vendor's own JSON.
            other => other.serialize(serializer),
        }
    }
}

struct WrittenAllowed<'a>(&'a AllowedTool);

impl Serialize for WrittenAllowed<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            AllowedTool::Function(name) => named("function", name, serializer),
            AllowedTool::Custom(name) => named("custom", name, serializer),
            other => other.serialize(serializer),
        }
    }
}

fn named<S: Serializer>(kind: &str, name: &str, serializer: S) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(Some(2))?;
    map.serialize_entry("type", kind)?;
    map.serialize_entry("name", name)?;
    map.end()
}
