//! [`EncodedPart`]: a part of a content in the form of the API.

use std::borrow::Cow;

use agcore_chat::Extra;
use serde::{Serialize, Serializer, ser::SerializeMap};
use serde_json::{Map, Value, value::RawValue};

use crate::gemini::vendor::{ID, SIGNATURE, THOUGHT};

/// A signature that the API accepts without checking it: `skip_thought_signature_validator` in base64, as the member consists of
/// bytes (ai.google.dev, "Thought signatures").
const PLACEHOLDER: &str = "c2tpcF90aG91Z2h0X3NpZ25hdHVyZV92YWxpZGF0b3I=";

/// A part in the form of the API.
#[derive(Debug)]
pub(super) struct EncodedPart<'a> {
    pub(super) kind: PartKind<'a>,
    pub(super) members: Members<'a>,
}

/// The kind of a part, with its content.
#[derive(Debug)]
pub(super) enum PartKind<'a> {
    Text(Cow<'a, str>),
    Thought(&'a str),
    /// A file in base64.
    Inline {
        media_type: Cow<'a, str>,
        data: &'a str,
    },
    /// A file by its URI.
    File {
        media_type: Option<Cow<'a, str>>,
        uri: &'a str,
    },
    Call {
        id: Option<&'a str>,
        name: Cow<'a, str>,
        arguments: Arguments<'a>,
    },
    Result {
        id: Option<&'a str>,
        name: Cow<'a, str>,
        output: Cow<'a, str>,
        is_error: bool,
        /// Files, for models that accept them in results.
        files: Vec<EncodedPart<'a>>,
    },
    /// A part that is sent unchanged.
    Raw(&'a Map<String, Value>),
}

/// Further members of a part.
#[derive(Debug, Clone, Copy)]
pub(super) enum Members<'a> {
    None,
    /// Members that the vendor sent with the part.
    Vendor(&'a Map<String, Value>),
    /// Members that the application added.
    Extra(&'a Extra),
    /// A signature that the API does not check.
    Placeholder,
}

/// The arguments of a call.
#[derive(Debug)]
pub(super) enum Arguments<'a> {
    /// An object, exactly as the model wrote it.
    Raw(&'a RawValue),
    /// An object that replaces missing or invalid arguments.
    Value(Value),
}

impl<'a> EncodedPart<'a> {
    pub(super) fn new(kind: PartKind<'a>) -> Self {
        Self {
            kind,
            members: Members::None,
        }
    }

    pub(super) fn with(self, members: Members<'a>) -> Self {
        Self { members, ..self }
    }

    /// Creates a text part, unless there is nothing in it.
    pub(super) fn text(text: impl Into<Cow<'a, str>>, members: Members<'a>) -> Option<Self> {
        let text = text.into();
        let is_empty = text.is_empty() && !matches!(members, Members::Vendor(_));
        (!is_empty).then(|| Self::new(PartKind::Text(text)).with(members))
    }
}

impl Serialize for EncodedPart<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        self.kind.write(&mut map)?;
        let mut write = |name: &String, value: &Value| match (name.as_str(), &self.kind) {
            // It is a member of the call.
            (ID, PartKind::Call { .. }) => Ok(()),
            _ => map.serialize_entry(name, value),
        };
        match self.members {
            Members::None => {}
            Members::Vendor(members) => members.iter().try_for_each(|(name, value)| write(name, value))?,
            Members::Extra(extra) => extra.iter().try_for_each(|(name, value)| write(name, value))?,
            Members::Placeholder => map.serialize_entry(SIGNATURE, PLACEHOLDER)?,
        }
        map.end()
    }
}

impl PartKind<'_> {
    fn write<S: SerializeMap>(&self, map: &mut S) -> Result<(), S::Error> {
        match self {
            Self::Text(text) => map.serialize_entry("text", text),
            Self::Thought(text) => {
                map.serialize_entry("text", text)?;
                map.serialize_entry(THOUGHT, &true)
            }
            Self::Inline { media_type, data } => {
                let media_type = Some(media_type.as_ref());
                let (data, uri) = (Some(*data), None);
                map.serialize_entry("inlineData", &FileBody { media_type, data, uri })
            }
            Self::File { media_type, uri } => {
                let media_type = media_type.as_deref();
                let (data, uri) = (None, Some(*uri));
                map.serialize_entry("fileData", &FileBody { media_type, data, uri })
            }
            Self::Call { id, name, arguments } => {
                let (arguments, response, parts) = (Some(arguments), None, &[][..]);
                let body = FunctionBody {
                    id: *id,
                    name,
                    arguments,
                    response,
                    parts,
                };
                map.serialize_entry("functionCall", &body)
            }
            Self::Result {
                id,
                name,
                output,
                is_error,
                files,
            } => {
                let response = match is_error {
                    true => Response {
                        output: None,
                        error: Some(output),
                    },
                    false => Response {
                        output: Some(output),
                        error: None,
                    },
                };
                let (arguments, response, parts) = (None, Some(response), &files[..]);
                let body = FunctionBody {
                    id: *id,
                    name,
                    arguments,
                    response,
                    parts,
                };
                map.serialize_entry("functionResponse", &body)
            }
            Self::Raw(part) => part
                .iter()
                .try_for_each(|(name, value)| map.serialize_entry(name, value)),
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct FileBody<'a> {
    #[serde(rename = "mimeType", skip_serializing_if = "Option::is_none")]
    media_type: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<&'a str>,
    #[serde(rename = "fileUri", skip_serializing_if = "Option::is_none")]
    uri: Option<&'a str>,
}

#[derive(Serialize)]
struct FunctionBody<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a str>,
    name: &'a str,
    #[serde(rename = "args", skip_serializing_if = "Option::is_none")]
    arguments: Option<&'a Arguments<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response: Option<Response<'a>>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    parts: &'a [EncodedPart<'a>],
}

/// The result of a function, which must be an object.
#[derive(Serialize)]
struct Response<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    output: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a str>,
}

impl Serialize for Arguments<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Raw(raw) => raw.serialize(serializer),
            Self::Value(value) => value.serialize(serializer),
        }
    }
}
