//! [`Tool`]: the description of a tool for the model.
//!
//! The shapes follow the Chat Completions API reference.

pub(crate) mod call;
pub(crate) mod choice;
pub(crate) mod annotations;
pub(crate) mod executor;
pub(crate) mod question;
pub(crate) mod client_result;

use serde::{
    Serialize, Serializer,
    de::{self, MapAccess},
    ser::SerializeMap,
};
use serde_json::{Map, Value};

use crate::{
    content::marks::Marks,
    object::{Extra, Object, Tagged, object, read_raw, tagged},
};

/// A tool that the model may use.
///
/// ```
/// use agcore_chat::{Tool, ToolDefinition};
/// use serde_json::json;
///
/// let weather: Tool = ToolDefinition::new(
///     "weather",
///     "Returns the current weather of a city.",
///     json!({"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}),
/// )
/// .into();
/// assert_eq!(weather.name(), "weather");
///
/// let search = Tool::Hosted(json!({"type": "web_search"}));
/// assert_eq!(search.name(), "web_search");
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Tool {
    /// A function with JSON arguments.
    Function(ToolDefinition),
    /// A tool that accepts free text.
    Custom(CustomTool),
    /// A tool that the vendor runs itself, as raw JSON; sent to that vendor unchanged.
    Hosted(Value),
}

impl Tool {
    /// Returns the name by which the model calls the tool. For a hosted tool this is its `name`, or its `type` if it
    /// has none.
    pub fn name(&self) -> &str {
        match self {
            Self::Function(tool) => &tool.name,
            Self::Custom(tool) => &tool.name,
            Self::Hosted(raw) => raw
                .get("name")
                .or_else(|| raw.get("type"))
                .and_then(Value::as_str)
                .unwrap_or(""),
        }
    }
}

impl From<ToolDefinition> for Tool {
    fn from(definition: ToolDefinition) -> Self {
        Self::Function(definition)
    }
}

impl From<CustomTool> for Tool {
    fn from(tool: CustomTool) -> Self {
        Self::Custom(tool)
    }
}

impl Tagged for Tool {
    const TAG: &'static str = "type";
    const EXPECTED: &'static str = "a tool: an object with a `type`";

    fn read<'de, A: MapAccess<'de>>(tag: &str, map: &mut A) -> Result<Self, A::Error> {
        Ok(match tag {
            "function" => Self::Function(FunctionEnvelope::read(map)?.into_definition()),
            "custom" => Self::Custom(CustomEnvelope::read(map)?.into_tool()),
            _ => Self::Hosted(read_raw(Self::TAG, tag, map)?),
        })
    }

    fn untagged<E: de::Error>(members: Map<String, Value>) -> Result<Self, E> {
        Ok(Self::Hosted(Value::Object(members)))
    }
}

tagged!(Tool);

impl Serialize for Tool {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Function(tool) => {
                let mut map = serializer.serialize_map(None)?;
                map.serialize_entry("type", "function")?;
                map.serialize_entry("function", tool)?;
                crate::object::entry(&mut map, "agcore", &tool.marks)?;
                crate::object::extra(&mut map, &tool.outer)?;
                map.end()
            }
            Self::Custom(tool) => {
                let mut map = serializer.serialize_map(None)?;
                map.serialize_entry("type", "custom")?;
                map.serialize_entry("custom", tool)?;
                crate::object::entry(&mut map, "agcore", &tool.marks)?;
                crate::object::extra(&mut map, &tool.outer)?;
                map.end()
            }
            Self::Hosted(raw) => raw.serialize(serializer),
        }
    }
}

#[derive(Default)]
struct FunctionEnvelope {
    function: ToolDefinition,
    marks: Marks,
    extra: Extra,
}
object!(FunctionEnvelope: "a function tool" { "function" => function [always], "agcore" => marks });

impl FunctionEnvelope {
    fn into_definition(self) -> ToolDefinition {
        ToolDefinition {
            marks: self.marks,
            outer: self.extra,
            ..self.function
        }
    }
}

#[derive(Default)]
struct CustomEnvelope {
    custom: CustomTool,
    marks: Marks,
    extra: Extra,
}
object!(CustomEnvelope: "a custom tool" { "custom" => custom [always], "agcore" => marks });

impl CustomEnvelope {
    fn into_tool(self) -> CustomTool {
        CustomTool {
            marks: self.marks,
            outer: self.extra,
            ..self.custom
        }
    }
}

/// A function that the model may call with JSON arguments.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ToolDefinition {
    /// The name, unique among the tools of a request.
    pub name: String,
    /// A description of the tool for the model.
    pub description: Option<String>,
    /// The JSON Schema of the arguments, which keeps the order of its keys; `None` means no arguments.
    pub parameters: Option<Value>,
    /// Whether the vendor must force arguments to match the schema.
    pub strict: Option<bool>,
    /// The cache mark.
    pub marks: Marks,
    /// Members of the definition without a field of their own.
    pub extra: Extra,
    /// Members of the outer object, beside the definition, without a field of their own.
    pub outer: Extra,
}
object!(ToolDefinition: "a function definition" {
    "name" => name [always], "description" => description, "parameters" => parameters, "strict" => strict,
});

impl ToolDefinition {
    /// Creates a definition from a name, a description and the JSON Schema of the arguments.
    pub fn new(name: impl Into<String>, description: impl Into<String>, parameters: Value) -> Self {
        Self {
            name: name.into(),
            description: Some(description.into()),
            parameters: Some(parameters),
            ..Self::default()
        }
    }

    /// Sets whether the vendor must force arguments to match the schema.
    #[must_use]
    pub fn with_strict(mut self, strict: bool) -> Self {
        self.strict = Some(strict);
        self
    }

    /// Sets the marks.
    #[must_use]
    pub fn with_marks(mut self, marks: Marks) -> Self {
        self.marks = marks;
        self
    }
}

/// A tool that accepts free text, optionally constrained by a grammar.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CustomTool {
    /// The name, unique among the tools of a request.
    pub name: String,
    /// A description of the tool for the model.
    pub description: Option<String>,
    /// The format of the input (free text or a grammar), as defined by the API.
    pub format: Option<Value>,
    /// The cache mark.
    pub marks: Marks,
    /// Members of the definition without a field of their own.
    pub extra: Extra,
    /// Members of the outer object, beside the definition, without a field of their own.
    pub outer: Extra,
}
object!(CustomTool: "a custom tool's definition" {
    "name" => name [always], "description" => description, "format" => format,
});
