//! [`Scrub`]: rules for removing secrets from exchanges before they are written.

mod spellings;
mod redactor;
mod split_text;

use agcore_chat::ChatRequest;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

use self::redactor::Redactor;
use super::{ending::Ending, exchange::Exchange, item::RecordedItem, path::FieldPath};
use crate::credential::{REDACTED, Secret, SecretGuard};
use agcore_wire::ReplyDelta;

/// Headers whose values are never written, in addition to those with a name that ends like [`SECRET_SUFFIXES`].
const SECRET_HEADERS: [&str; 3] = ["cookie", "set-cookie", "x-amz-signature"];
const SECRET_SUFFIXES: [&str; 4] = ["authorization", "-key", "-token", "-secret"];

/// Rules for removing secrets from requests, replies and errors before they are written. Secrets become `[redacted]`.
///
/// - **Known secrets** ([`with_secret`](Self::with_secret), [`with_guard`](Self::with_guard)) are removed everywhere:
///   in names, in values, in JSON inside strings such as the arguments of a call, and where they are split between
///   chunks of a reply; also percent-encoded, as in a URL, and in base64 (standard and URL-safe, at any offset), as in a
///   `Basic` header. Secrets of fewer than seven bytes are placeholders and are kept.
/// - **Well-known keys** are recognized by patterns in the same places: `sk-…`, `Bearer …`, `AKIA…`, `ghp_…`, JSON web
///   tokens, private keys and more. [`without_key_patterns`](Self::without_key_patterns) disables this.
/// - **Fields** are removed by their path in the request ([`with_field`](Self::with_field)) or in an item of the reply
///   ([`with_reply_field`](Self::with_reply_field)), such as `metadata.user_id` or `messages.*.name`.
/// - **Headers** lose their values if their names suggest a key, or if they are listed with
///   [`with_header`](Self::with_header).
///
/// Other secrets are not found: keys without a known pattern, secrets in other encodings or in base64 with line breaks,
/// and secrets that a model spells in another way.
///
/// Set the same rules on a [`ReplayProvider`](super::ReplayProvider), so that requests with removed secrets still
/// match.
///
/// ```
/// use std::sync::Arc;
/// use agcore_chat::{ChatRequest, ChatResponse, Message};
/// use agcore_llm::{LlmProviderExt, SystemClock, cassette::{CassetteBuffer, RecordingProvider, Scrub}, provider_fn};
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let buffer = CassetteBuffer::new();
/// let model = provider_fn(|_| async { Ok(ChatResponse::from_text("Open sesame 4711!")) });
/// let recorder = RecordingProvider::new(model, buffer.clone(), Arc::new(SystemClock::new()))
///     .with_scrub(Scrub::new().with_secret("sesame 4711").with_field("user"));
/// let mut request = ChatRequest::new([Message::user("My key is sk-0123456789abcdef.")]);
/// request.user = Some("ada".into());
/// recorder.chat(request).await?;
///
/// let cassette = buffer.cassette();
/// let exchange = &cassette.exchanges()[0];
/// assert_eq!(exchange.request["messages"][0]["content"], "My key is [redacted].");
/// assert_eq!(exchange.request["user"], "[redacted]");
/// assert_eq!(exchange.response()?.text(), "Open [redacted]!");
/// # Ok::<(), agcore_llm::LlmError>(())
/// # }).unwrap();
/// ```
#[derive(Debug, Clone)]
pub struct Scrub {
    secrets: Vec<Secret>,
    guards: Vec<SecretGuard>,
    key_patterns: bool,
    fields: Vec<FieldPath>,
    reply_fields: Vec<FieldPath>,
    headers: Vec<String>,
}

impl Default for Scrub {
    fn default() -> Self {
        Self::new()
    }
}

impl Scrub {
    /// Creates rules that remove well-known keys and the values of headers that contain keys.
    pub fn new() -> Self {
        Self {
            secrets: Vec::new(),
            guards: Vec::new(),
            key_patterns: true,
            fields: Vec::new(),
            reply_fields: Vec::new(),
            headers: Vec::new(),
        }
    }

    /// Removes this secret.
    #[must_use]
    pub fn with_secret(mut self, secret: impl Into<Secret>) -> Self {
        self.secrets.push(secret.into());
        self
    }

    /// Removes the secrets that this guard knows when an exchange is written, which are those that its transport has
    /// sent.
    #[must_use]
    pub fn with_guard(mut self, guard: SecretGuard) -> Self {
        self.guards.push(guard);
        self
    }

    /// Removes the values at this path of the request, such as `metadata.user_id`, `messages.0.content` or
    /// `messages.*.name`.
    #[must_use]
    pub fn with_field(mut self, path: &str) -> Self {
        self.fields.push(path.into());
        self
    }

    /// Removes the values at this path of each item of the reply, or of the error at its end, such as `start.id` or
    /// `message`. Values other than strings become `null`.
    #[must_use]
    pub fn with_reply_field(mut self, path: &str) -> Self {
        self.reply_fields.push(path.into());
        self
    }

    /// Removes the values of headers with this name.
    #[must_use]
    pub fn with_header(mut self, name: impl Into<String>) -> Self {
        self.headers.push(name.into());
        self
    }

    /// Keeps well-known keys that are not known secrets.
    #[must_use]
    pub fn without_key_patterns(mut self) -> Self {
        self.key_patterns = false;
        self
    }

    /// Removes all secrets from an exchange.
    ///
    /// # Errors
    /// If the result is not a valid exchange.
    pub(super) fn exchange(&self, exchange: &mut Exchange) -> Result<(), serde_json::Error> {
        let redactor = self.redactor();
        self.scrub_request(&redactor, &mut exchange.request);
        self.scrub_headers(&redactor, &mut exchange.headers);
        redactor.redact_text(&mut exchange.provider);
        redactor.redact_text(&mut exchange.model);
        for item in exchange.chunks.iter_mut().flat_map(|chunk| &mut chunk.items) {
            self.scrub_fields(item)?;
        }
        split_text::redact(&redactor, &mut exchange.chunks);
        for item in exchange.chunks.iter_mut().flat_map(|chunk| &mut chunk.items) {
            redact_item(&redactor, item)?;
        }
        if let Ending::Error(error) = &mut exchange.end {
            self.scrub_headers(&redactor, &mut error.headers);
            self.scrub_fields(error)?;
            redact_strings(&redactor, error)?;
        }
        Ok(())
    }

    /// Returns a request and its headers as they would be recorded.
    ///
    /// # Errors
    /// If the request cannot be serialized.
    pub(super) fn request(&self, request: &ChatRequest) -> Result<(Value, Vec<(String, String)>), serde_json::Error> {
        let redactor = self.redactor();
        let (mut body, mut headers) = (serde_json::to_value(request)?, request.extra_headers.clone());
        self.scrub_request(&redactor, &mut body);
        self.scrub_headers(&redactor, &mut headers);
        Ok((body, headers))
    }

    /// Removes all secrets from the compared parts of a recorded call. Changes nothing if it was recorded with these
    /// rules.
    pub(super) fn recorded_call(&self, call: &mut Value) {
        self.scrub_request(&self.redactor(), call);
    }

    fn redactor(&self) -> Redactor {
        let guarded = self.guards.iter().flat_map(SecretGuard::secrets);
        Redactor::new(self.secrets.iter().cloned().chain(guarded), self.key_patterns)
    }

    fn scrub_request(&self, redactor: &Redactor, request: &mut Value) {
        for field in &self.fields {
            field.change(request, &|value| *value = REDACTED.into());
        }
        redactor.redact_value(request);
    }

    fn scrub_headers(&self, redactor: &Redactor, headers: &mut [(String, String)]) {
        for (name, value) in headers {
            if self.is_secret_header(name) {
                REDACTED.clone_into(value);
            }
            redactor.redact_text(name);
            redactor.redact_text(value);
        }
    }

    fn is_secret_header(&self, name: &str) -> bool {
        let is_listed = self.headers.iter().any(|listed| listed.eq_ignore_ascii_case(name));
        let name = name.to_ascii_lowercase();
        is_listed || SECRET_HEADERS.contains(&&*name) || SECRET_SUFFIXES.iter().any(|suffix| name.ends_with(suffix))
    }

    /// Removes the listed fields from a part of a reply.
    fn scrub_fields<T: Serialize + DeserializeOwned>(&self, part: &mut T) -> Result<(), serde_json::Error> {
        if self.reply_fields.is_empty() {
            return Ok(());
        }
        change_json(part, |json| {
            for field in &self.reply_fields {
                field.change(json, &|value| {
                    *value = if value.is_string() {
                        REDACTED.into()
                    } else {
                        Value::Null
                    };
                });
            }
        })
    }
}

/// Redacts the parts of an item that [`split_text`] does not: everything but the text that continues in other items.
fn redact_item(redactor: &Redactor, item: &mut RecordedItem) -> Result<(), serde_json::Error> {
    match item {
        RecordedItem::Delta(ReplyDelta::Text { .. } | ReplyDelta::Reasoning { .. } | ReplyDelta::Refusal { .. }) => {
            Ok(())
        }
        RecordedItem::Delta(ReplyDelta::Call { fragment, .. }) => {
            let (name, input) = (fragment.name.take(), fragment.input.take());
            let redacted = redact_strings(redactor, item);
            if let RecordedItem::Delta(ReplyDelta::Call { fragment, .. }) = item {
                (fragment.name, fragment.input) = (name, input);
            }
            redacted
        }
        _ => redact_strings(redactor, item),
    }
}

fn redact_strings<T: Serialize + DeserializeOwned>(redactor: &Redactor, part: &mut T) -> Result<(), serde_json::Error> {
    change_json(part, |json| redactor.redact_value(json))
}

/// Changes the JSON form of a part. A part whose JSON does not change is kept as it is.
fn change_json<T: Serialize + DeserializeOwned>(
    part: &mut T,
    change: impl FnOnce(&mut Value),
) -> Result<(), serde_json::Error> {
    let before = serde_json::to_value(&*part)?;
    let mut json = before.clone();
    change(&mut json);
    if json != before {
        *part = serde_json::from_value(json)?;
    }
    Ok(())
}
