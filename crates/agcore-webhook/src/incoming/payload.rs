//! [`DeliveryPayload`]: the content of a delivery.

use std::{error::Error, fmt};

use serde::Serialize;
use serde_json::{Map, Value};
use url::form_urlencoded;

/// The largest number of fields of a form.
pub const MAX_FORM_FIELDS: usize = 1000;

/// The member of a form with the whole event as JSON.
const PAYLOAD: &str = "payload";

/// The reason why a body has no payload. It does not quote the body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum PayloadError {
    /// The body is neither declared as JSON nor as a form.
    Type,
    /// It is not JSON, or is nested too deeply: the line and the column.
    Json(usize, usize),
    /// A form has a field twice, or more than [`MAX_FORM_FIELDS`].
    Form,
}

impl fmt::Display for PayloadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Type => f.write_str(
                "the body must be JSON or a form, with the header `Content-Type: application/json` or \
                 `application/x-www-form-urlencoded`",
            ),
            Self::Json(line, column) => write!(f, "the body is not valid JSON (line {line}, column {column})"),
            Self::Form => write!(f, "the form has a field twice, or more than {MAX_FORM_FIELDS} fields"),
        }
    }
}

impl Error for PayloadError {}

/// The content of a delivery: JSON, that in the field `payload` of a form, as GitHub and Slack send it, or the fields of another
/// form as texts. [`Serialize`] writes it as JSON. [`Debug`](fmt::Debug) hides it.
///
/// ```
/// use agcore_webhook::{DeliveryPayload, PayloadError};
/// use serde_json::{json, to_value};
///
/// let json = DeliveryPayload::parse("application/json; charset=utf-8", br#"{"id": 1}"#)?;
/// assert_eq!(to_value(&json)?, json!({"id": 1}));
/// let form = "application/x-www-form-urlencoded";
/// assert_eq!(DeliveryPayload::parse(form, b"payload=%7B%22id%22%3A1%7D")?, json);
/// let command = DeliveryPayload::parse(form, b"command=%2Fask&text=Hi+there")?;
/// assert_eq!(to_value(&command)?, json!({"command": "/ask", "text": "Hi there"}));
/// assert_eq!(DeliveryPayload::parse("text/plain", b"{}"), Err(PayloadError::Type));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Serialize)]
#[serde(transparent)]
pub struct DeliveryPayload(Value);

impl DeliveryPayload {
    /// Reads a body of this `Content-Type`.
    ///
    /// # Errors
    /// When the body is of another type, or does not have the form that it is declared to have.
    pub fn parse(content_type: &str, body: &[u8]) -> Result<Self, PayloadError> {
        let kind = content_type.split(';').next().unwrap_or_default().trim();
        if is_json(kind) {
            return parse_json(body).map(Self);
        }
        if !kind.eq_ignore_ascii_case("application/x-www-form-urlencoded") {
            return Err(PayloadError::Type);
        }
        let mut fields = Map::new();
        for (name, value) in form_urlencoded::parse(body) {
            let repeated = fields.insert(name.into_owned(), value.into_owned().into());
            if repeated.is_some() || fields.len() > MAX_FORM_FIELDS {
                return Err(PayloadError::Form);
            }
        }
        match fields.get(PAYLOAD).and_then(Value::as_str) {
            Some(payload) => parse_json(payload.as_bytes()).map(Self),
            None => Ok(Self(Value::Object(fields))),
        }
    }

    pub(super) fn pointer(&self, pointer: &str) -> Option<&Value> {
        self.0.pointer(pointer)
    }

    /// Returns a text.
    pub(super) fn text(&self, pointer: &str) -> Option<&str> {
        self.0.pointer(pointer)?.as_str()
    }
}

/// Hides the content.
impl fmt::Debug for DeliveryPayload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("DeliveryPayload(***)")
    }
}

/// Returns whether a media type is JSON, such as `application/json` or `application/cloudevents+json`.
fn is_json(kind: &str) -> bool {
    let subtype = kind
        .split_once('/')
        .filter(|(main, _)| main.eq_ignore_ascii_case("application"));
    subtype.is_some_and(|(_, subtype)| {
        let subtype = subtype.to_ascii_lowercase();
        subtype == "json" || subtype.ends_with("+json")
    })
}

fn parse_json(text: &[u8]) -> Result<Value, PayloadError> {
    serde_json::from_slice(text).map_err(|error| PayloadError::Json(error.line(), error.column()))
}
