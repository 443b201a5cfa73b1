//! Contents of results and prompts.

use agcore_chat::ContentPart;
use serde_json::json;

/// A picture of one red pixel.
pub(crate) const PNG: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";

/// A recording without a sample.
pub(crate) const WAV: &str = "UklGRiQAAABXQVZFZm10IBAAAAABAAEARKwAAIhYAQACABAAZGF0YQAAAAA=";

/// An embedded resource, in the form of the protocol.
pub(crate) fn resource(uri: &str, mime_type: &str, text: &str) -> ContentPart {
    ContentPart::Other(json!({"type": "resource", "resource": {"uri": uri, "mimeType": mime_type, "text": text}}))
}

pub(crate) fn image() -> ContentPart {
    ContentPart::image_url(format!("data:image/png;base64,{PNG}"))
}
