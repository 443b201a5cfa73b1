//! Requests and replies of models that do not chat, in the form of chats, so that they pass through the same layers.
//!
//! What the model reads travels in messages, where layers estimate its tokens. The other options travel in one member of the
//! body, and the items of a reply in members of the response.

use agcore_chat::{ChatRequest, ChatResponse, Content, Extra, Message};
#[cfg(feature = "media")]
use base64::{Engine, engine::general_purpose::STANDARD};
#[cfg(feature = "media")]
use bytes::Bytes;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

use agcore_wire::{LlmError, LlmErrorKind, Place, ReplyDelta};

/// The member of the body that contains the options of a request.
const OPTIONS: &str = "agcore_options";

/// The longest URL of a file that is accepted, in bytes.
#[cfg(feature = "media")]
const MAX_URL_BYTES: usize = 8 << 10;

/// Returns a chat request that carries these messages, options and extra members.
pub(super) fn request(
    messages: Vec<Message>,
    options: &impl Serialize,
    extra: &Extra,
) -> Result<ChatRequest, LlmError> {
    let mut request = ChatRequest::new(messages);
    request.extra_body = extra.clone();
    let options = serde_json::to_value(options);
    let options = options.map_err(|error| invalid("the options cannot be written as JSON").with_source(error))?;
    request.extra_body.insert(OPTIONS, options);
    Ok(request)
}

/// Returns the options that a chat request carries, and the extra members.
pub(super) fn options<T: DeserializeOwned>(request: &ChatRequest, kind: &str) -> Result<(T, Extra), LlmError> {
    let mut extra = request.extra_body.clone();
    let options = extra
        .remove(OPTIONS)
        .and_then(|options| serde_json::from_value(options).ok());
    let options = options.ok_or_else(|| {
        let message = format!("the call is not for a {kind} model; a chat was sent to it");
        LlmError::new(LlmErrorKind::InvalidRequest, message)
    })?;
    Ok((options, extra))
}

/// Returns the contents of the user messages.
pub(super) fn contents(request: &ChatRequest) -> impl Iterator<Item = &Content> {
    request.messages.iter().filter_map(|message| match &**message {
        Message::User(message) => Some(&message.content),
        _ => None,
    })
}

/// Returns the texts of the user messages.
pub(super) fn texts(request: &ChatRequest) -> impl Iterator<Item = String> {
    contents(request).map(|content| content.text().into_owned())
}

/// Returns the delta that carries one entry of a list in a reply. Entries that are arrays are never joined.
pub(super) fn entry(name: &str, entry: Value) -> ReplyDelta {
    ReplyDelta::Member {
        place: Place::Response,
        name: name.into(),
        value: Value::Array(vec![entry]),
    }
}

/// Returns the entries of a list in a reply.
pub(super) fn entries<'r>(response: &'r ChatResponse, name: &str) -> &'r [Value] {
    let entries = response.extra.get(name).and_then(Value::as_array);
    entries.map(Vec::as_slice).unwrap_or_default()
}

/// Returns bytes as the text in which they travel.
#[cfg(feature = "media")]
pub(super) fn encode_bytes(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

/// Returns the bytes that travelled as text.
#[cfg(feature = "media")]
pub(super) fn decode_bytes(text: &str) -> Option<Bytes> {
    STANDARD.decode(text).ok().map(Bytes::from)
}

/// Returns whether this is a URL of a file on the web. Such URLs come from servers and are only passed on.
#[cfg(feature = "media")]
pub(super) fn is_web_url(url: &str) -> bool {
    let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"));
    let is_clean = url.len() <= MAX_URL_BYTES && !url.chars().any(|char| char.is_control() || char == ' ');
    is_clean && rest.is_some_and(|rest| !rest.is_empty() && !rest.starts_with('/'))
}

fn invalid(message: &'static str) -> LlmError {
    LlmError::new(LlmErrorKind::InvalidRequest, message)
}

#[cfg(all(test, feature = "media"))]
mod tests {
    use super::*;

    #[test]
    fn accepts_only_addresses_on_the_web() {
        for url in ["https://example.com/a.png?x=1", "http://127.0.0.1:8000/a"] {
            assert!(is_web_url(url), "{url}");
        }
        for url in [
            "",
            "file:///etc/passwd",
            "https://",
            "https:///a",
            "javascript:1",
            "https://a/\n",
            "data:x",
        ] {
            assert!(!is_web_url(url), "{url}");
        }
        assert!(!is_web_url(&format!(
            "https://example.com/{}",
            "a".repeat(MAX_URL_BYTES)
        )));
    }
}
