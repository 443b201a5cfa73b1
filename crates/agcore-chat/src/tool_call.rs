//! [`ToolCall`]: what the model asks of a tool, and [`VendorData`], which a vendor wants back.
//!
//! Shapes after the Chat Completions API reference.

mod raw_arguments;

use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{self, MapAccess},
    ser::SerializeMap,
};
use serde_json::{Map, Value};

pub use self::raw_arguments::RawArguments;
use self::raw_arguments::Unfit;
use crate::object::{Extra, Object, object};

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
    Arguments(RawArguments),
    /// Free text of a custom tool.
    Text(String),
}

impl Default for CallInput {
    fn default() -> Self {
        Self::Arguments(RawArguments::default())
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
    pub fn function(id: impl Into<String>, name: impl Into<String>, arguments: impl Into<RawArguments>) -> Self {
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
            CallInput::Arguments(raw) => raw,
            CallInput::Text(raw) => raw,
        }
    }

    /// The arguments as an object. None at all (empty text, `null`) is the empty object. Parsed at most once, however
    /// often and of whichever clone of the call it is asked.
    ///
    /// # Errors
    /// When they are not JSON, not an object, or the call is of a custom tool. Nothing is ever repaired or guessed.
    pub fn arguments(&self) -> Result<&Map<String, Value>, ArgumentsError> {
        self.raw_arguments()?.object().map_err(|why| self.unfit(why))
    }

    /// The arguments, checked to be an [object](Self::arguments) without making it: perhaps nobody looks at it.
    ///
    /// # Errors
    /// As [`arguments`](Self::arguments).
    pub fn check_arguments(&self) -> Result<&RawArguments, ArgumentsError> {
        let raw = self.raw_arguments()?;
        raw.check().map_err(|why| self.unfit(why))?;
        Ok(raw)
    }

    fn raw_arguments(&self) -> Result<&RawArguments, ArgumentsError> {
        match &self.input {
            CallInput::Arguments(raw) => Ok(raw),
            CallInput::Text(_) => Err(ArgumentsError::FreeText {
                name: self.name.clone(),
            }),
        }
    }

    fn unfit(&self, why: Unfit) -> ArgumentsError {
        let name = self.name.clone();
        match why {
            Unfit::NotJson(why) => ArgumentsError::NotJson { name, why },
            Unfit::NotAnObject(found) => ArgumentsError::NotAnObject { name, found },
        }
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
            if !body.arguments.is_empty() {
                body.extra.insert("arguments", body.arguments.as_str());
            }
            CallInput::Text(body.input.unwrap_or_default())
        } else {
            if let Some(input) = body.input {
                body.extra.insert("input", input);
            }
            CallInput::Arguments(body.arguments)
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
