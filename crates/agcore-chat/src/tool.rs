//! [`Tool`]: what the model is told of a tool it may use.
//!
//! Shapes after the Chat Completions API reference.

use serde::{
    Serialize, Serializer,
    de::{self, MapAccess},
    ser::SerializeMap,
};
use serde_json::{Map, Value};

use crate::{
    marks::Marks,
    object::{Extra, Object, Tagged, object, read_raw, tagged},
};

/// A tool that the model may use.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Tool {
    /// A function with JSON arguments.
    Function(ToolDefinition),
    /// A tool that takes free text.
    Custom(CustomTool),
    /// A tool that the vendor runs itself, as the vendor's own raw JSON; sent unchanged to that vendor.
    Hosted(Value),
}

impl Tool {
    /// The name by which the model calls it; a hosted tool's `name`, else its `type`.
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
    /// Its name, unique among the tools of a request.
    pub name: String,
    /// What it does, for the model.
    pub description: Option<String>,
    /// JSON Schema of the arguments; key order is kept. None means no arguments.
    pub parameters: Option<Value>,
    /// Whether the vendor shall force arguments to match the schema.
    pub strict: Option<bool>,
    /// Cache mark.
    pub marks: Marks,
    /// Members of the definition that have no field.
    pub extra: Extra,
    /// Members beside the definition, in the tool's outer object, that have no field.
    pub outer: Extra,
}
object!(ToolDefinition: "a function definition" {
    "name" => name [always], "description" => description, "parameters" => parameters, "strict" => strict,
});

impl ToolDefinition {
    /// A function by name, description and JSON Schema of its arguments.
    pub fn new(name: impl Into<String>, description: impl Into<String>, parameters: Value) -> Self {
        Self {
            name: name.into(),
            description: Some(description.into()),
            parameters: Some(parameters),
            ..Self::default()
        }
    }

    /// Asks the vendor to force arguments to match the schema.
    pub fn with_strict(mut self, strict: bool) -> Self {
        self.strict = Some(strict);
        self
    }

    /// Sets the marks.
    pub fn with_marks(mut self, marks: Marks) -> Self {
        self.marks = marks;
        self
    }
}

/// A tool that takes free text, perhaps of a grammar.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CustomTool {
    /// Its name, unique among the tools of a request.
    pub name: String,
    /// What it does, for the model.
    pub description: Option<String>,
    /// The input's format (free text, or a grammar), as the API has it.
    pub format: Option<Value>,
    /// Cache mark.
    pub marks: Marks,
    /// Members of the definition that have no field.
    pub extra: Extra,
    /// Members beside the definition, in the tool's outer object, that have no field.
    pub outer: Extra,
}
object!(CustomTool: "a custom tool's definition" {
    "name" => name [always], "description" => description, "format" => format,
});
