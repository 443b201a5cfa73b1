//! [`Scrub`]: what is taken out of exchanges before they are written.

mod cleaner;
mod pieces;
mod shapes;

use agcore_chat::ChatRequest;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

use self::cleaner::Cleaner;
use super::{ending::Ending, exchange::Exchange, item::RecordedItem, path::FieldPath};
use crate::credential::{MARK, Secret, SecretGuard};
use agcore_wire::ReplyDelta;

/// Headers whose values are never written, beside those whose names end as [`SECRET_ENDS`] do.
const SECRET_HEADERS: [&str; 3] = ["cookie", "set-cookie", "x-amz-signature"];
const SECRET_ENDS: [&str; 4] = ["authorization", "-key", "-token", "-secret"];

/// What is taken out of requests, replies and errors before they are written, and reads `[redacted]` then.
///
/// - **Known secrets** ([`with_secret`](Self::with_secret), [`with_guard`](Self::with_guard)): wherever they stand, in
///   names, values, JSON inside of texts such as the arguments of a call, and also where the pieces of a reply cut through
///   them. Ones of fewer than seven bytes are placeholders and stay.
/// - **Shapes of well-known keys**: `sk-…`, `Bearer …`, `AKIA…`, `ghp_…`, JSON web tokens, private keys and more; in the
///   same places. [`without_shapes`](Self::without_shapes) turns them off.
/// - **Fields** by their path in the request ([`with_field`](Self::with_field)) or in an item of the reply
///   ([`with_reply_field`](Self::with_reply_field)), such as `metadata.user_id` or `messages.*.name`.
/// - **Headers**: values of those that carry keys by their names, and of those named by [`with_header`](Self::with_header).
///
/// It does not find what it does not know: a key of no known shape, a secret that is encoded (base64, percent signs) or
/// that a model spells out in another way.
///
/// [`ReplayProvider`](super::ReplayProvider) takes the same rules, so that requests match that hold what was taken out.
#[derive(Debug, Clone)]
pub struct Scrub {
    secrets: Vec<Secret>,
    guards: Vec<SecretGuard>,
    shapes: bool,
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
    /// Takes out what has the shape of a key, and the values of headers that carry keys.
    pub fn new() -> Self {
        Self {
            secrets: Vec::new(),
            guards: Vec::new(),
            shapes: true,
            fields: Vec::new(),
            reply_fields: Vec::new(),
            headers: Vec::new(),
        }
    }

    /// Takes out this secret.
    pub fn with_secret(mut self, secret: impl Into<Secret>) -> Self {
        self.secrets.push(secret.into());
        self
    }

    /// Takes out the secrets that this guard knows when an exchange is written: those that its transport used.
    pub fn with_guard(mut self, guard: SecretGuard) -> Self {
        self.guards.push(guard);
        self
    }

    /// Takes out what stands at this path of the request: `metadata.user_id`, `messages.0.content`, `messages.*.name`.
    pub fn with_field(mut self, path: &str) -> Self {
        self.fields.push(path.into());
        self
    }

    /// Takes out what stands at this path of an item of the reply, or of the error at its end: `start.id`, `message`. What
    /// is no string there becomes `null`.
    pub fn with_reply_field(mut self, path: &str) -> Self {
        self.reply_fields.push(path.into());
        self
    }

    /// Takes out the values of headers of this name.
    pub fn with_header(mut self, name: impl Into<String>) -> Self {
        self.headers.push(name.into());
        self
    }

    /// Leaves alone what only looks like a key.
    pub fn without_shapes(mut self) -> Self {
        self.shapes = false;
        self
    }

    /// Takes everything out of an exchange.
    ///
    /// # Errors
    /// When what is left is no exchange any more.
    pub(super) fn clean(&self, exchange: &mut Exchange) -> Result<(), serde_json::Error> {
        let cleaner = self.cleaner();
        self.clean_request(&cleaner, &mut exchange.request);
        self.clean_headers(&cleaner, &mut exchange.headers);
        cleaner.text(&mut exchange.provider);
        cleaner.text(&mut exchange.model);
        for item in exchange.chunks.iter_mut().flat_map(|chunk| &mut chunk.items) {
            self.clean_fields(item)?;
        }
        pieces::clean(&cleaner, &mut exchange.chunks);
        for item in exchange.chunks.iter_mut().flat_map(|chunk| &mut chunk.items) {
            clean_item(&cleaner, item)?;
        }
        if let Ending::Error(error) = &mut exchange.end {
            self.clean_headers(&cleaner, &mut error.headers);
            self.clean_fields(error)?;
            clean_texts(&cleaner, error)?;
        }
        Ok(())
    }

    /// A request and its headers as they would have been written.
    ///
    /// # Errors
    /// When the request cannot be written.
    pub(super) fn written(&self, request: &ChatRequest) -> Result<(Value, Vec<(String, String)>), serde_json::Error> {
        let cleaner = self.cleaner();
        let (mut body, mut headers) = (serde_json::to_value(request)?, request.extra_headers.clone());
        self.clean_request(&cleaner, &mut body);
        self.clean_headers(&cleaner, &mut headers);
        Ok((body, headers))
    }

    /// Takes everything out of what is compared of a recorded request: nothing, where it was recorded by the same rules.
    pub(super) fn clean_question(&self, question: &mut Value) {
        self.clean_request(&self.cleaner(), question);
    }

    fn cleaner(&self) -> Cleaner {
        let guarded = self.guards.iter().flat_map(SecretGuard::secrets);
        Cleaner::new(self.secrets.iter().cloned().chain(guarded), self.shapes)
    }

    fn clean_request(&self, cleaner: &Cleaner, request: &mut Value) {
        for field in &self.fields {
            field.change(request, &|value| *value = MARK.into());
        }
        cleaner.value(request);
    }

    fn clean_headers(&self, cleaner: &Cleaner, headers: &mut [(String, String)]) {
        for (name, value) in headers {
            if self.is_secret_header(name) {
                MARK.clone_into(value);
            }
            cleaner.text(name);
            cleaner.text(value);
        }
    }

    fn is_secret_header(&self, name: &str) -> bool {
        let is_listed = self.headers.iter().any(|listed| listed.eq_ignore_ascii_case(name));
        let name = name.to_ascii_lowercase();
        is_listed || SECRET_HEADERS.contains(&&*name) || SECRET_ENDS.iter().any(|end| name.ends_with(end))
    }

    /// Takes fields out of a part of a reply.
    fn clean_fields<T: Serialize + DeserializeOwned>(&self, part: &mut T) -> Result<(), serde_json::Error> {
        if self.reply_fields.is_empty() {
            return Ok(());
        }
        through_json(part, |json| {
            for field in &self.reply_fields {
                field.change(json, &|value| {
                    *value = if value.is_string() { MARK.into() } else { Value::Null };
                });
            }
        })
    }
}

/// Cleans what [`pieces`] leaves: all but the texts that go on in other pieces.
fn clean_item(cleaner: &Cleaner, item: &mut RecordedItem) -> Result<(), serde_json::Error> {
    match item {
        RecordedItem::Delta(ReplyDelta::Text { .. } | ReplyDelta::Reasoning { .. } | ReplyDelta::Refusal { .. }) => {
            Ok(())
        }
        RecordedItem::Delta(ReplyDelta::Call { fragment, .. }) => {
            let (name, input) = (fragment.name.take(), fragment.input.take());
            let cleaned = clean_texts(cleaner, item);
            if let RecordedItem::Delta(ReplyDelta::Call { fragment, .. }) = item {
                (fragment.name, fragment.input) = (name, input);
            }
            cleaned
        }
        _ => clean_texts(cleaner, item),
    }
}

fn clean_texts<T: Serialize + DeserializeOwned>(cleaner: &Cleaner, part: &mut T) -> Result<(), serde_json::Error> {
    through_json(part, |json| cleaner.value(json))
}

/// Changes a part by way of its JSON; one in which nothing is changed is not touched.
fn through_json<T: Serialize + DeserializeOwned>(
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
