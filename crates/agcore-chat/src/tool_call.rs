//! [`ToolCall`]: what the model asks of a tool, and [`VendorData`], which a vendor wants back.
//!
//! Shapes after the Chat Completions API reference.

use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{self, MapAccess},
    ser::SerializeMap,
};
use serde_json::{Map, Value};

use crate::object::{Extra, Member, Object, object};

/// Data that only the vendor who made it understands and wants back unchanged: signatures, encrypted reasoning.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct VendorData {
    /// Who made it, as the wire or dialect names itself.
    pub vendor: String,
    /// The data, opaque to everybody else.
    pub data: Value,
}

impl VendorData {
    /// Data of a vendor.
    pub fn new(vendor: impl Into<String>, data: impl Into<Value>) -> Self {
        Self {
            vendor: vendor.into(),
            data: data.into(),
        }
    }
}

/// What the model asks of a tool.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ToolCall {
    /// The call's id; its result names it.
    pub id: String,
    /// The tool's name.
    pub name: String,
    /// The arguments as the model wrote them, or the free text of a custom tool.
    pub input: CallInput,
    /// What the vendor wants back with this call.
    pub vendor: Option<VendorData>,
    /// Members of the call that have no field.
    pub extra: Extra,
    /// Members inside its `function` or `custom` object that have no field.
    pub inner: Extra,
}

/// What a call hands to the tool, exactly as the model wrote it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum CallInput {
    /// JSON text, not yet checked; see [`ToolCall::arguments`].
    Arguments(String),
    /// Free text of a custom tool.
    Text(String),
}

impl Default for CallInput {
    fn default() -> Self {
        Self::Arguments(String::new())
    }
}

/// The arguments of a call cannot be used. The text is fit for the model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ArgumentsError {
    /// Not JSON, or not whole.
    #[error("the arguments of {name} are not valid JSON: {why}; send one JSON object")]
    NotJson {
        /// The tool's name.
        name: String,
        /// What the parser said, with line and column.
        why: String,
    },
    /// JSON, but no object.
    #[error("the arguments of {name} are {found}, but must be one JSON object")]
    NotAnObject {
        /// The tool's name.
        name: String,
        /// What they are instead.
        found: &'static str,
    },
    /// The call is of a custom tool.
    #[error("{name} was called with free text, not with JSON arguments")]
    FreeText {
        /// The tool's name.
        name: String,
    },
}

impl ToolCall {
    /// A function call with its arguments as JSON text.
    pub fn function(id: impl Into<String>, name: impl Into<String>, arguments: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            name: name.into(),
            input: CallInput::Arguments(arguments.into()),
            ..Self::default()
        }
    }

    /// A call of a custom tool with free text.
    pub fn custom(id: impl Into<String>, name: impl Into<String>, text: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            name: name.into(),
            input: CallInput::Text(text.into()),
            ..Self::default()
        }
    }

    /// Adds what the vendor wants back with this call.
    pub fn with_vendor(mut self, vendor: VendorData) -> Self {
        self.vendor = Some(vendor);
        self
    }

    /// The input as the model wrote it.
    pub fn raw_input(&self) -> &str {
        match &self.input {
            CallInput::Arguments(raw) | CallInput::Text(raw) => raw,
        }
    }

    /// The arguments as an object. None at all (empty text, `null`) is the empty object.
    ///
    /// # Errors
    /// When they are not JSON, not an object, or the call is of a custom tool. Nothing is ever repaired or guessed.
    pub fn arguments(&self) -> Result<Map<String, Value>, ArgumentsError> {
        let CallInput::Arguments(raw) = &self.input else {
            return Err(ArgumentsError::FreeText {
                name: self.name.clone(),
            });
        };
        if raw.trim().is_empty() {
            return Ok(Map::new());
        }
        let found = match serde_json::from_str(raw) {
            Ok(Value::Object(arguments)) => return Ok(arguments),
            Ok(Value::Null) => return Ok(Map::new()),
            Ok(Value::Array(_)) => "an array",
            Ok(Value::String(_)) => "a string",
            Ok(Value::Number(_)) => "a number",
            Ok(Value::Bool(_)) => "a boolean",
            Err(error) => {
                return Err(ArgumentsError::NotJson {
                    name: self.name.clone(),
                    why: error.to_string(),
                });
            }
        };
        Err(ArgumentsError::NotAnObject {
            name: self.name.clone(),
            found,
        })
    }
}

/// What stands inside a call on the wire, for both kinds.
#[derive(Default)]
struct CallBody {
    name: String,
    arguments: RawArguments,
    input: Option<String>,
    extra: Extra,
}
object!(CallBody: "a call's name and input" { "name" => name, "arguments" => arguments, "input" => input });

/// Argument text. Some servers send an object instead of a string; it is kept as its compact JSON text.
#[derive(Default)]
struct RawArguments(String);

impl Member for RawArguments {}

impl Serialize for RawArguments {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for RawArguments {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self(match Value::deserialize(deserializer)? {
            Value::String(text) => text,
            Value::Null => String::new(),
            other => other.to_string(),
        }))
    }
}

#[derive(Default)]
struct CallEnvelope {
    id: String,
    kind: Option<String>,
    function: Option<CallBody>,
    custom: Option<CallBody>,
    vendor: Option<VendorData>,
    extra: Extra,
}
object!(CallEnvelope: "a tool call" {
    "id" => id [always], "type" => kind, "function" => function, "custom" => custom, "agcore" => vendor,
});

impl CallEnvelope {
    fn into_call<E: de::Error>(self) -> Result<ToolCall, E> {
        let (mut body, is_custom) = match (self.function, self.custom) {
            (Some(body), _) => (body, false),
            (None, Some(body)) => (body, true),
            (None, None) => return Err(E::missing_field("function")),
        };
        // The other kind's member means nothing here, but nothing that came may be lost.
        let input = if is_custom {
            if !body.arguments.0.is_empty() {
                body.extra.insert("arguments", body.arguments.0);
            }
            CallInput::Text(body.input.unwrap_or_default())
        } else {
            if let Some(input) = body.input {
                body.extra.insert("input", input);
            }
            CallInput::Arguments(body.arguments.0)
        };
        Ok(ToolCall {
            id: self.id,
            name: body.name,
            input,
            vendor: self.vendor,
            extra: self.extra,
            inner: body.extra,
        })
    }
}

impl<'de> Deserialize<'de> for ToolCall {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct CallVisitor;
        impl<'de> de::Visitor<'de> for CallVisitor {
            type Value = ToolCall;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a tool call")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<ToolCall, A::Error> {
                CallEnvelope::read(&mut map)?.into_call()
            }
        }
        deserializer.deserialize_map(CallVisitor)
    }
}

impl Serialize for ToolCall {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("id", &self.id)?;
        let (kind, input) = match &self.input {
            CallInput::Arguments(_) => ("function", "arguments"),
            CallInput::Text(_) => ("custom", "input"),
        };
        map.serialize_entry("type", kind)?;
        map.serialize_entry(kind, &WrittenBody { call: self, input })?;
        crate::object::entry(&mut map, "agcore", &self.vendor)?;
        crate::object::extra(&mut map, &self.extra)?;
        map.end()
    }
}

/// The inner object of a written call.
struct WrittenBody<'a> {
    call: &'a ToolCall,
    input: &'static str,
}

impl Serialize for WrittenBody<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("name", &self.call.name)?;
        map.serialize_entry(self.input, self.call.raw_input())?;
        crate::object::extra(&mut map, &self.call.inner)?;
        map.end()
    }
}
