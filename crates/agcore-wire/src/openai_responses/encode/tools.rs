//! Tool definitions and the tool choice. Without tools, neither is written.

use std::borrow::Cow;

use agcore_chat::{
    AllowedTool, ChatRequest, CustomTool, Extra, Tool, ToolChoice, ToolDefinition, schema, tool_name::portable,
};
use serde::{Serialize, Serializer, ser::SerializeMap};
use serde_json::{Map, Value, json};

use crate::openai_responses::vendor::unsupported_parameter;

/// Writes the tools, the tool choice and `parallel_tool_calls`.
pub(super) fn write<S: SerializeMap>(request: &ChatRequest, map: &mut S) -> Result<(), S::Error> {
    if request.tools.is_empty() {
        return Ok(());
    }
    let tools: Vec<EncodedTool<'_>> = request.tools.iter().map(EncodedTool).collect();
    map.serialize_entry("tools", &tools)?;
    if let Some(choice) = &request.tool_choice {
        map.serialize_entry("tool_choice", &EncodedChoice(choice))?;
    }
    request
        .parallel_tool_calls
        .map_or(Ok(()), |allowed| map.serialize_entry("parallel_tool_calls", &allowed))
}

/// A tool in the form of the API, which does not nest its members.
struct EncodedTool<'a>(&'a Tool);

impl Serialize for EncodedTool<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Tool::Function(tool) => function(tool, serializer),
            Tool::Custom(tool) => custom(tool, serializer),
            // A hosted tool is sent unchanged.
            other => other.serialize(serializer),
        }
    }
}

fn function<S: Serializer>(tool: &ToolDefinition, serializer: S) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(None)?;
    map.serialize_entry("type", "function")?;
    map.serialize_entry("name", &portable(&tool.name))?;
    write_some("description", tool.description.as_ref(), &mut map)?;
    let is_strict = tool.strict == Some(true);
    let parameters = match &tool.parameters {
        None => Cow::Owned(json!({"type": "object", "properties": {}})),
        Some(schema) if is_strict => schema::closed(schema).map_err(|error| {
            let what = format!("the parameters of the tool `{}`", tool.name);
            unsupported_parameter("strict", &what, &error.to_string())
        })?,
        Some(schema) => Cow::Borrowed(schema),
    };
    map.serialize_entry("parameters", &*parameters)?;
    // Always written: strict mode is the default of this API, and rejects or changes schemas that were not written for it.
    map.serialize_entry("strict", &is_strict)?;
    write_extra([&tool.extra, &tool.outer], &mut map)?;
    map.end()
}

fn custom<S: Serializer>(tool: &CustomTool, serializer: S) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(None)?;
    map.serialize_entry("type", "custom")?;
    map.serialize_entry("name", &portable(&tool.name))?;
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

/// Returns the format of a custom tool. In the Chat Completions API, a grammar is nested one level deeper.
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

/// A tool choice in the form of the API, where a name is next to the type.
struct EncodedChoice<'a>(&'a ToolChoice);

impl Serialize for EncodedChoice<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            ToolChoice::Function(name) => named("function", name, serializer),
            ToolChoice::Custom(name) => named("custom", name, serializer),
            ToolChoice::Allowed { mode, tools } => {
                let tools: Vec<EncodedAllowed<'_>> = tools.iter().map(EncodedAllowed).collect();
                let mut map = serializer.serialize_map(Some(3))?;
                map.serialize_entry("type", "allowed_tools")?;
                map.serialize_entry("mode", mode)?;
                map.serialize_entry("tools", &tools)?;
                map.end()
            }
            // A single word, or JSON of the vendor that is sent unchanged.
            other => other.serialize(serializer),
        }
    }
}

struct EncodedAllowed<'a>(&'a AllowedTool);

impl Serialize for EncodedAllowed<'_> {
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
    map.serialize_entry("name", &portable(name))?;
    map.end()
}
