//! [`ErrorBody`]: the contents of an error body of any shape: nested, flat, bare string, list of details, array, page, event.

use std::time::Duration;

use serde_json::{Map, Value};

use super::{
    binary, codes, duration,
    members::{FALLBACK_MEMBERS, MESSAGE_MEMBERS, failed_base_resp, non_blank, text},
    page,
};
use crate::sse::{SseDecoder, SseTooLong};

/// The maximum nesting of errors: gateways put the body of the server behind them into their own, each as several objects.
const MAX_DEPTH: usize = 12;

/// The messages of routers that only report that the server behind them failed.
const GENERIC_MESSAGES: &[&str] = &["provider returned error", "provider returned error."];

/// The contents of a body that reports a failure.
#[derive(Debug, Default)]
pub(super) struct ErrorBody {
    /// The message.
    pub(super) message: Option<String>,
    /// Further messages, of servers behind gateways. Only used to classify the failure.
    more_messages: Vec<String>,
    /// Text to use if there is no message.
    fallback_message: Option<String>,
    /// Codes, types and reasons, in the order found.
    pub(super) codes: Vec<String>,
    /// A status that the body names.
    pub(super) status: Option<u16>,
    /// Ids of the exhausted quotas (google.rpc.QuotaFailure).
    pub(super) quota_ids: Vec<String>,
    /// The wait that the body asks for (google.rpc.RetryInfo).
    pub(super) retry_delay: Option<Duration>,
    /// The context window of the model, as reported by llama.cpp.
    pub(super) window: Option<u64>,
    /// The length of the prompt in tokens, as reported by llama.cpp.
    pub(super) prompt_tokens: Option<u64>,
    /// Whether a moderation flagged the input (OpenRouter).
    pub(super) is_flagged: bool,
    /// The server's id of the request.
    pub(super) request_id: Option<String>,
    /// Whether the body is blank.
    pub(super) is_blank: bool,
    /// Whether the body is a web page.
    pub(super) is_page: bool,
    /// A description of a body that is not text.
    pub(super) binary: Option<&'static str>,
}

impl ErrorBody {
    /// Parses a body of any shape.
    pub(super) fn parse(bytes: &[u8]) -> Self {
        let mut body = Self {
            is_blank: bytes.trim_ascii().is_empty(),
            binary: binary::detect(bytes),
            ..Self::default()
        };
        if body.binary.is_some() {
            return body;
        }
        if let Some(value) = json(bytes).or_else(|| first_event(bytes)) {
            body.read_value(&value, MAX_DEPTH);
            body.message = body.message.take().or(body.fallback_message.take());
            body.prefer_inner_message();
        } else {
            body.is_page = page::is_html(bytes);
            body.message = page::summary(&String::from_utf8_lossy(bytes));
        }
        body
    }

    /// Returns all messages, one per line.
    pub(super) fn text(&self) -> String {
        let messages = self.message.iter().chain(&self.more_messages);
        messages.map(String::as_str).collect::<Vec<_>>().join("\n")
    }

    fn read_value(&mut self, value: &Value, depth: usize) {
        match value {
            Value::String(text) => self.read_text(text, depth),
            Value::Array(items) => {
                if let Some(item) = items.iter().find(|item| !item.is_null()) {
                    self.read_value(item, depth);
                }
            }
            Value::Object(members) => self.read_object(members, depth),
            _ => {}
        }
    }

    /// Reads a text, which may itself be the JSON of an error.
    fn read_text(&mut self, text: &str, depth: usize) {
        let inner = if text.trim_start().starts_with(['{', '[']) {
            json(text.as_bytes())
        } else {
            None
        };
        match inner {
            Some(value) if depth > 0 => self.read_value(&value, depth - 1),
            _ => {
                self.add_message(text.trim());
                if let Some(error) = embedded_error(text).filter(|_| depth > 0) {
                    self.read_object(&error, depth - 1);
                }
            }
        }
    }

    /// Puts the text of the server behind a router in place of the router's, which only reports that there is one.
    fn prefer_inner_message(&mut self) {
        let is_generic = |message: &str| {
            GENERIC_MESSAGES
                .iter()
                .any(|generic| message.eq_ignore_ascii_case(generic))
        };
        let Some(generic) = self.message.as_deref().filter(|message| is_generic(message)) else {
            return;
        };
        if let Some(inner) = self.more_messages.iter().find(|inner| !is_generic(inner)) {
            self.message = Some(format!("{}: {inner}", generic.trim_end_matches('.')));
        }
    }

    fn add_message(&mut self, message: &str) {
        if message.is_empty() {
        } else if self.message.is_none() {
            self.message = Some(message.to_owned());
        } else {
            self.more_messages.push(message.to_owned());
        }
    }

    fn read_object(&mut self, members: &Map<String, Value>, depth: usize) {
        for name in [
            "code",
            "type",
            "status",
            "error_code",
            "reason",
            "status_code",
            "http_code",
        ] {
            self.read_code(non_blank(members, name));
        }
        self.read_details(members);
        let error = non_blank(members, "error");
        if let Some(inner @ (Value::Object(_) | Value::Array(_))) = error.filter(|_| depth > 0) {
            self.read_value(inner, depth - 1);
        }
        if let Some(base_resp) = failed_base_resp(members) {
            self.read_base_resp(base_resp);
        }
        for message in MESSAGE_MEMBERS.iter().filter_map(|name| non_blank(members, name)) {
            self.read_message(message, depth);
        }
        // Next to a message this is only the name of the status (NestJS); alone it is the message.
        if let Some(Value::String(text)) = error {
            self.read_text(text, depth);
        }
        for name in ["errors", "innererror", "details", "metadata"] {
            self.read_extra(non_blank(members, name), depth);
        }
        let fallback = FALLBACK_MEMBERS.iter().find_map(|name| text(members, name));
        self.fallback_message = self.fallback_message.take().or(fallback.map(str::to_owned));
    }

    /// Reads MiniMax's `base_resp`.
    fn read_base_resp(&mut self, base_resp: &Map<String, Value>) {
        let code = non_blank(base_resp, "status_code").map(ToString::to_string);
        let meaning = code.and_then(|code| codes::from_minimax(code.trim_matches('"')));
        self.codes.extend(meaning.map(str::to_owned));
        self.add_message(text(base_resp, "status_msg").unwrap_or_default());
    }

    /// Reads a message: usually a string, but sometimes a list or an object.
    fn read_message(&mut self, message: &Value, depth: usize) {
        match message {
            Value::String(text) => self.read_text(text, depth),
            Value::Array(items) => {
                let lines: Vec<String> = items.iter().filter_map(line).collect();
                let sentences: Vec<&str> = lines.iter().map(|line| line.trim_end_matches('.')).collect();
                self.add_message(&sentences.join("; "));
            }
            Value::Object(members) if depth > 0 => self.read_object(members, depth - 1),
            _ => {}
        }
    }

    /// Reads a code, type or status, as text or number. Three digits are a status.
    fn read_code(&mut self, value: Option<&Value>) {
        let code = match value {
            Some(Value::String(text)) => text.clone(),
            Some(Value::Number(number)) => number.to_string(),
            _ => return,
        };
        match status(&code) {
            Some(status) => self.status = self.status.or(Some(status)),
            None => self.codes.push(code),
        }
    }

    fn read_details(&mut self, members: &Map<String, Value>) {
        let number = |name| non_blank(members, name).and_then(Value::as_u64);
        self.window = self.window.or(number("n_ctx"));
        self.prompt_tokens = self.prompt_tokens.or(number("n_prompt_tokens"));
        if let Some(id) = text(members, "request_id") {
            self.request_id.get_or_insert_with(|| id.to_owned());
        }
        self.retry_delay = self.retry_delay.or_else(|| wait(members));
    }

    /// Reads the values next to the message: lists of details, inner errors, metadata of a router.
    fn read_extra(&mut self, value: Option<&Value>, depth: usize) {
        match value {
            Some(Value::String(text)) => self.read_text(text, depth),
            Some(Value::Array(items)) => {
                items.iter().for_each(|item| self.read_extra(Some(item), depth));
            }
            Some(Value::Object(members)) => {
                for name in ["code", "error_code", "reason", "quotaId"] {
                    self.read_detail(name, non_blank(members, name));
                }
                self.is_flagged |= non_blank(members, "flagged_input").is_some();
                self.retry_delay = self.retry_delay.or_else(|| wait(members));
                self.read_extra(non_blank(members, "violations"), depth);
                for name in ["raw", "message"] {
                    if let Some(inner) = non_blank(members, name).filter(|_| depth > 0) {
                        self.read_value(inner, depth - 1);
                    }
                }
            }
            _ => {}
        }
    }

    fn read_detail(&mut self, name: &str, value: Option<&Value>) {
        match value {
            Some(Value::String(id)) if name == "quotaId" => self.quota_ids.push(id.clone()),
            Some(Value::String(code)) => self.codes.push(code.clone()),
            // Numbers in other members are specific to the vendor (Cloudflare).
            Some(Value::Number(code)) if name == "code" => self.status = self.status.or(status(&code.to_string())),
            _ => {}
        }
    }
}

/// Parses a code that is a status of a failure or redirect.
fn status(code: &str) -> Option<u16> {
    code.parse().ok().filter(|status| matches!(status, 300..=599))
}

/// Returns the wait that an object asks for: in milliseconds, in seconds, or as `retryDelay` (google.rpc.RetryInfo).
fn wait(members: &Map<String, Value>) -> Option<Duration> {
    let millis = || match non_blank(members, "retry_after_ms")? {
        Value::Number(number) => duration::seconds(number.as_f64()? / 1000.0),
        Value::String(text) => duration::plain_millis(text.trim()),
        _ => None,
    };
    let seconds = || match non_blank(members, "retry_after")? {
        Value::Number(number) => duration::seconds(number.as_f64()?),
        Value::String(text) => duration::parse(text.trim()),
        _ => None,
    };
    millis()
        .or_else(seconds)
        .or_else(|| duration::parse(text(members, "retry_delay")?))
}

/// Formats an item of a list of messages: a string, or FastAPI's `{loc, msg}`.
fn line(item: &Value) -> Option<String> {
    let Value::Object(members) = item else {
        return item.as_str().map(str::to_owned);
    };
    let text = text(members, "msg").or_else(|| text(members, "message"))?;
    let place: Vec<String> = members
        .get("loc")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .map(|step| step.as_str().map_or_else(|| step.to_string(), str::to_owned))
        .collect();
    Some(if place.is_empty() {
        text.to_owned()
    } else {
        format!("{}: {text}", place.join("."))
    })
}

/// Returns the JSON of an error that a gateway put behind its own words. Other JSON in a message is the application's.
fn embedded_error(text: &str) -> Option<Map<String, Value>> {
    let json = &text[text.find('{')?..];
    let first = serde_json::Deserializer::from_str(json).into_iter::<Value>().next()?;
    let Ok(Value::Object(members)) = first else { return None };
    non_blank(&members, "error")?.is_object().then_some(members)
}

fn json(bytes: &[u8]) -> Option<Value> {
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    serde_json::from_slice(bytes).ok()
}

/// Returns the first JSON in a body that is an event stream.
fn first_event(bytes: &[u8]) -> Option<Value> {
    let mut found = None;
    let mut decoder = SseDecoder::new();
    let mut on_event = |event: crate::sse::SseEvent<'_>| {
        found = found.take().or_else(|| json(event.data));
        Ok::<_, SseTooLong>(())
    };
    decoder
        .feed(bytes, &mut on_event)
        .and_then(|()| decoder.finish(&mut on_event))
        .ok()?;
    found
}
