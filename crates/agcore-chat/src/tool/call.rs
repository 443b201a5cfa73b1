//! [`ToolCall`]: a tool call by the model, and [`VendorData`], which has to be sent back to the vendor.
//!
//! The shapes follow the Chat Completions API reference.

mod raw_arguments;

use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{self, MapAccess},
    ser::SerializeMap,
};
use serde_json::{Map, Value};

use self::raw_arguments::InvalidArguments;
pub use self::raw_arguments::RawArguments;
use crate::object::{Extra, Object, object};

/// Opaque data of a vendor that has to be sent back to it unchanged, such as signatures and encrypted reasoning.
///
/// ```
/// use agcore_chat::{AssistantMessage, Reasoning, VendorData};
/// use serde_json::json;
///
/// let signed = Reasoning::new("It is sunny.").with_vendor(VendorData::new("anthropic", json!({"signature": "EqQB"})));
/// let message = AssistantMessage::new("Sunny.").with_reasoning(signed);
///
/// let json = serde_json::to_string(&message)?;
/// assert_eq!(serde_json::from_str::<AssistantMessage>(&json)?, message);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct VendorData {
    /// The vendor that created the data, under the name of its wire or dialect.
    pub vendor: String,
    /// The data, opaque to everyone but the vendor.
    pub data: Value,
}

impl VendorData {
    /// Creates data of a vendor.
    pub fn new(vendor: impl Into<String>, data: impl Into<Value>) -> Self {
        Self {
            vendor: vendor.into(),
            data: data.into(),
        }
    }
}

/// A tool call by the model.
///
/// ```
/// use agcore_chat::ToolCall;
///
/// let call = ToolCall::function("call_1", "weather", r#"{"city": "Paris"}"#);
/// assert_eq!(call.arguments()?["city"], "Paris");
///
/// let truncated = ToolCall::function("call_2", "weather", r#"{"city": "Pa"#);
/// assert!(truncated.arguments().is_err());
/// # Ok::<(), agcore_chat::ArgumentsError>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ToolCall {
    /// The id of the call, which its result refers to.
    pub id: String,
    /// The name of the tool.
    pub name: String,
    /// The arguments as the model wrote them, or the free text of a custom tool.
    pub input: CallInput,
    /// Data that has to be sent back to the vendor with this call.
    pub vendor: Option<VendorData>,
    /// Members of the call without a field of their own.
    pub extra: Extra,
    /// Members of its `function` or `custom` object without a field of their own.
    pub inner: Extra,
}

/// The input of a call, exactly as the model wrote it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum CallInput {
    /// JSON text, not yet validated; see [`ToolCall::arguments`].
    Arguments(RawArguments),
    /// Free text for a custom tool.
    Text(String),
}

impl Default for CallInput {
    fn default() -> Self {
        Self::Arguments(RawArguments::default())
    }
}

/// The reason the arguments of a call cannot be used. Its message is suitable for the model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ArgumentsError {
    /// The arguments are not JSON, or are truncated.
    #[error("the arguments of {name} are not valid JSON: {reason}; send one JSON object")]
    NotJson {
        /// The name of the tool.
        name: String,
        /// The message of the JSON parser, with line and column.
        reason: String,
    },
    /// The arguments are JSON, but not an object.
    #[error("the arguments of {name} are {found}, but must be one JSON object")]
    NotAnObject {
        /// The name of the tool.
        name: String,
        /// A description of the value that was found instead, such as `an array`.
        found: &'static str,
    },
    /// The call is to a custom tool, which has no arguments.
    #[error("{name} was called with free text, not with JSON arguments")]
    FreeText {
        /// The name of the tool.
        name: String,
    },
}

impl ToolCall {
    /// Creates a function call from its arguments as JSON text.
    pub fn function(id: impl Into<String>, name: impl Into<String>, arguments: impl Into<RawArguments>) -> Self {
        Self {
            id: id.into(),
            name: name.into(),
            input: CallInput::Arguments(arguments.into()),
            ..Self::default()
        }
    }

    /// Creates a call to a custom tool with free text.
    pub fn custom(id: impl Into<String>, name: impl Into<String>, text: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            name: name.into(),
            input: CallInput::Text(text.into()),
            ..Self::default()
        }
    }

    /// Sets the data that has to be sent back to the vendor with this call.
    #[must_use]
    pub fn with_vendor(mut self, vendor: VendorData) -> Self {
        self.vendor = Some(vendor);
        self
    }

    /// Returns the input as the model wrote it.
    pub fn raw_input(&self) -> &str {
        match &self.input {
            CallInput::Arguments(raw) => raw,
            CallInput::Text(raw) => raw,
        }
    }

    /// Returns the arguments as an object. Empty text and `null` are the empty object.
    ///
    /// The text is parsed at most once: the result is cached and shared by all clones of the call.
    ///
    /// # Errors
    /// If the arguments are not JSON or not an object, or if the call is to a custom tool. Invalid arguments are never
    /// repaired or guessed.
    pub fn arguments(&self) -> Result<&Map<String, Value>, ArgumentsError> {
        self.raw_arguments()?.object().map_err(|error| self.invalid(error))
    }

    /// Checks that the arguments are an object and returns their text. Cheaper than [`arguments`](Self::arguments), as
    /// no object is built.
    ///
    /// # Errors
    /// Same as [`arguments`](Self::arguments).
    pub fn check_arguments(&self) -> Result<&RawArguments, ArgumentsError> {
        let raw = self.raw_arguments()?;
        raw.check().map_err(|error| self.invalid(error))?;
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

    fn invalid(&self, error: InvalidArguments) -> ArgumentsError {
        let name = self.name.clone();
        match error {
            InvalidArguments::NotJson(reason) => ArgumentsError::NotJson { name, reason },
            InvalidArguments::NotAnObject(found) => ArgumentsError::NotAnObject { name, found },
        }
    }
}

/// The inner object of a call in JSON, for both kinds of calls.
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
        // The member of the other kind has no meaning here, but no data may be lost.
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
        map.serialize_entry(kind, &SerializedBody { call: self, input })?;
        crate::object::entry(&mut map, "agcore", &self.vendor)?;
        crate::object::extra(&mut map, &self.extra)?;
        map.end()
    }
}

/// The serialized form of a call's inner object.
struct SerializedBody<'a> {
    call: &'a ToolCall,
    input: &'static str,
}

impl Serialize for SerializedBody<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("name", &self.call.name)?;
        map.serialize_entry(self.input, self.call.raw_input())?;
        crate::object::extra(&mut map, &self.call.inner)?;
        map.end()
    }
}
