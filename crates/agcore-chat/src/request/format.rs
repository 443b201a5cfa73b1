//! Parameters with their own JSON shape: [`ResponseFormat`], [`StopSequence`], [`StreamOptions`].

use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{self, MapAccess, SeqAccess, value::SeqAccessDeserializer},
    ser::SerializeMap,
};
use serde_json::{Map, Value};

use crate::object::{Extra, Object, Tagged, object, raw_tagged, read_raw, tagged, write_tagged};

/// The format that the answer must have.
///
/// ```
/// use agcore_chat::ResponseFormat;
/// use serde_json::json;
///
/// let format = ResponseFormat::json_schema("weather", json!({"type": "object"}));
/// assert_eq!(
///     serde_json::to_value(&format)?,
///     json!({"type": "json_schema", "json_schema": {"name": "weather", "schema": {"type": "object"}, "strict": true}})
/// );
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ResponseFormat {
    /// Free text.
    Text,
    /// Any JSON object.
    JsonObject,
    /// JSON that matches a schema.
    JsonSchema(JsonSchemaFormat),
    /// A format of unknown type, as raw JSON.
    Other(Value),
}

impl ResponseFormat {
    /// Creates a format for JSON that matches a schema, with the vendor's strict mode enabled.
    pub fn json_schema(name: impl Into<String>, schema: Value) -> Self {
        Self::JsonSchema(JsonSchemaFormat {
            name: name.into(),
            schema: Some(schema),
            strict: Some(true),
            ..JsonSchemaFormat::default()
        })
    }
}

/// The schema of a [`ResponseFormat::JsonSchema`].
#[derive(Debug, Clone, Default, PartialEq)]
pub struct JsonSchemaFormat {
    /// The name of the schema: up to 64 letters, digits, `_` and `-`.
    pub name: String,
    /// The purpose of the schema, for the model.
    pub description: Option<String>,
    /// The JSON Schema, which keeps the order of its keys.
    pub schema: Option<Value>,
    /// Whether the vendor must force the answer to match the schema.
    pub strict: Option<bool>,
    /// Members without a field of their own.
    pub extra: Extra,
}
object!(JsonSchemaFormat: "a JSON schema format" {
    "name" => name [always], "description" => description, "schema" => schema, "strict" => strict,
});

#[derive(Default)]
struct SchemaEnvelope {
    json_schema: JsonSchemaFormat,
    extra: Extra,
}
object!(SchemaEnvelope: "a json_schema response format" { "json_schema" => json_schema [always] });

impl Tagged for ResponseFormat {
    const TAG: &'static str = "type";
    const EXPECTED: &'static str = "a response format: an object with a `type`";

    fn read<'de, A: MapAccess<'de>>(tag: &str, map: &mut A) -> Result<Self, A::Error> {
        let raw = |map: &mut A| read_raw(Self::TAG, tag, map);
        Ok(match tag {
            "json_schema" => match SchemaEnvelope::read(map)? {
                envelope if envelope.extra.is_empty() => Self::JsonSchema(envelope.json_schema),
                envelope => Self::Other(raw_tagged(Self::TAG, tag, &envelope)?),
            },
            "text" | "json_object" => match raw(map)? {
                // A known format with unknown members is kept as raw JSON, so that no data is lost.
                Value::Object(members) if members.len() > 1 => Self::Other(Value::Object(members)),
                _ if tag == "text" => Self::Text,
                _ => Self::JsonObject,
            },
            _ => Self::Other(raw(map)?),
        })
    }

    fn untagged<E: de::Error>(members: Map<String, Value>) -> Result<Self, E> {
        Ok(Self::Other(Value::Object(members)))
    }
}

tagged!(ResponseFormat);

impl Serialize for ResponseFormat {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let bare = |serializer: S, kind: &str| {
            let mut map = serializer.serialize_map(Some(1))?;
            map.serialize_entry("type", kind)?;
            map.end()
        };
        match self {
            Self::Text => bare(serializer, "text"),
            Self::JsonObject => bare(serializer, "json_object"),
            Self::JsonSchema(json_schema) => {
                let envelope = SchemaEnvelope {
                    json_schema: json_schema.clone(),
                    extra: Extra::new(),
                };
                write_tagged(serializer, "type", "json_schema", &envelope)
            }
            Self::Other(raw) => raw.serialize(serializer),
        }
    }
}

/// The texts at which the model stops. Its JSON form is a string or an array.
///
/// ```
/// use agcore_chat::StopSequence;
///
/// assert_eq!(serde_json::to_string(&StopSequence::from("END"))?, r#""END""#);
/// assert_eq!(serde_json::to_string(&StopSequence::from_iter(["a", "b"]))?, r#"["a","b"]"#);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StopSequence {
    /// A single text.
    One(String),
    /// Several texts; most vendors accept up to four.
    Many(Vec<String>),
}

impl From<String> for StopSequence {
    fn from(text: String) -> Self {
        Self::One(text)
    }
}

impl From<Vec<String>> for StopSequence {
    fn from(texts: Vec<String>) -> Self {
        Self::Many(texts)
    }
}

impl<const N: usize> From<[&str; N]> for StopSequence {
    fn from(texts: [&str; N]) -> Self {
        Self::Many(texts.map(str::to_owned).into())
    }
}

impl From<&str> for StopSequence {
    fn from(stop: &str) -> Self {
        Self::One(stop.to_owned())
    }
}

impl<S: Into<String>> FromIterator<S> for StopSequence {
    fn from_iter<I: IntoIterator<Item = S>>(stops: I) -> Self {
        Self::Many(stops.into_iter().map(Into::into).collect())
    }
}

impl Serialize for StopSequence {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::One(stop) => serializer.serialize_str(stop),
            Self::Many(stops) => stops.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for StopSequence {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct StopVisitor;
        impl<'de> de::Visitor<'de> for StopVisitor {
            type Value = StopSequence;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a stop sequence: a string or an array of strings")
            }
            fn visit_str<E: de::Error>(self, stop: &str) -> Result<StopSequence, E> {
                Ok(stop.into())
            }
            fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<StopSequence, A::Error> {
                Vec::deserialize(SeqAccessDeserializer::new(seq)).map(StopSequence::Many)
            }
        }
        deserializer.deserialize_any(StopVisitor)
    }
}

/// Options for streaming a reply.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct StreamOptions {
    /// Whether the server should send usage in a final chunk.
    pub include_usage: Option<bool>,
    /// Members without a field of their own.
    pub extra: Extra,
}
object!(StreamOptions: "stream options" { "include_usage" => include_usage });
