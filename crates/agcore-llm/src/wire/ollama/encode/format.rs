//! The form of the answer.

use agcore_chat::{ChatRequest, ResponseFormat};
use serde::ser::{Error, SerializeMap};

use super::refusal::refuse;

const FORMAT: &str = "format";

/// Writes `format`: the word `json`, or the schema itself, to which the server always holds the model.
pub(super) fn write<S: SerializeMap>(request: &ChatRequest, map: &mut S) -> Result<(), S::Error> {
    let Some(format) = &request.response_format else {
        return Ok(());
    };
    if request.extra_body.get(FORMAT).is_some() {
        let message = "extra_body must not hold `format` beside response_format: set one of them";
        return Err(Error::custom(message));
    }
    match format {
        ResponseFormat::Text => Ok(()),
        ResponseFormat::JsonObject => map.serialize_entry(FORMAT, "json"),
        ResponseFormat::JsonSchema(format) => match &format.schema {
            Some(schema) => map.serialize_entry(FORMAT, schema),
            None => map.serialize_entry(FORMAT, "json"),
        },
        _ => Err(refuse(
            "this form of the answer",
            "use `json_object` or `json_schema`, or set `format` in extra_body",
        )),
    }
}
