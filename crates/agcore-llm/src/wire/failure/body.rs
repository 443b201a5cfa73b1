//! [`ErrorBody`]: what a body says, whatever its shape: nested, flat, bare string, list of details, array, page, event.

use std::time::Duration;

use serde_json::{Map, Value};

use super::{
    binary, codes, duration,
    members::{FAINT_WORDS, WORDS, refusal, said, text},
    page,
};
use crate::sse::{SseDecoder, SseTooLong};

/// How deep errors are unwrapped: gateways put the body of the server behind them into their own.
const DEEPEST: usize = 4;

/// What a body tells of a failure.
#[derive(Debug, Default)]
pub(super) struct ErrorBody {
    /// What it says to people.
    pub(super) message: Option<String>,
    /// More words, of a server further behind; they help to classify only.
    more_words: Vec<String>,
    /// What it says where there is no message.
    faint_words: Option<String>,
    /// Codes, types and reasons, in the order found.
    pub(super) codes: Vec<String>,
    /// A status that the body names.
    pub(super) status: Option<u16>,
    /// Ids of the quotas that are used up (google.rpc.QuotaFailure).
    pub(super) quota_ids: Vec<String>,
    /// The wait that the body asks for (google.rpc.RetryInfo).
    pub(super) retry_delay: Option<Duration>,
    /// The model's window, as llama.cpp tells it.
    pub(super) window: Option<u64>,
    /// The prompt's length, as llama.cpp tells it.
    pub(super) prompt_tokens: Option<u64>,
    /// Whether a moderation says that it flagged the input (OpenRouter).
    pub(super) is_flagged: bool,
    /// The server's id of the request.
    pub(super) request_id: Option<String>,
    /// Whether there is no body at all.
    pub(super) is_blank: bool,
    /// How it is packed, where it is no text.
    pub(super) packing: Option<&'static str>,
}

impl ErrorBody {
    /// Reads a body of any shape.
    pub(super) fn read(bytes: &[u8]) -> Self {
        let mut body = Self {
            is_blank: bytes.trim_ascii().is_empty(),
            packing: binary::packing(bytes),
            ..Self::default()
        };
        if body.packing.is_some() {
            return body;
        }
        if let Some(value) = json(bytes).or_else(|| framed(bytes)) {
            body.value(&value, DEEPEST);
            body.message = body.message.take().or(body.faint_words.take());
        } else {
            body.message = page::words(&String::from_utf8_lossy(bytes));
        }
        body
    }

    /// All words, for the wording tables.
    pub(super) fn all_words(&self) -> String {
        let words = self.message.iter().chain(&self.more_words);
        words.map(String::as_str).collect::<Vec<_>>().join("\n")
    }

    fn value(&mut self, value: &Value, depth: usize) {
        match value {
            Value::String(text) => self.text(text, depth),
            Value::Array(items) => {
                if let Some(item) = items.iter().find(|item| !item.is_null()) {
                    self.value(item, depth);
                }
            }
            Value::Object(members) => self.object(members, depth),
            _ => {}
        }
    }

    /// A text that may itself be the JSON of an error.
    fn text(&mut self, text: &str, depth: usize) {
        let inner = if text.trim_start().starts_with(['{', '[']) {
            json(text.as_bytes())
        } else {
            None
        };
        match inner {
            Some(value) if depth > 0 => self.value(&value, depth - 1),
            _ => self.say(text.trim()),
        }
    }

    fn say(&mut self, words: &str) {
        if words.is_empty() {
        } else if self.message.is_none() {
            self.message = Some(words.to_owned());
        } else {
            self.more_words.push(words.to_owned());
        }
    }

    fn object(&mut self, members: &Map<String, Value>, depth: usize) {
        for name in [
            "code",
            "type",
            "status",
            "error_code",
            "reason",
            "status_code",
            "http_code",
        ] {
            self.code(said(members, name));
        }
        self.numbers(members);
        let error = said(members, "error");
        if let Some(inner @ (Value::Object(_) | Value::Array(_))) = error.filter(|_| depth > 0) {
            self.value(inner, depth - 1);
        }
        if let Some(verdict) = refusal(members) {
            self.refusal(verdict);
        }
        for words in WORDS.iter().filter_map(|name| said(members, name)) {
            self.words(words, depth);
        }
        // Beside a message it is only the status in words (NestJS); alone it is what there is.
        if let Some(Value::String(text)) = error {
            self.text(text, depth);
        }
        for name in ["errors", "innererror", "details", "metadata"] {
            self.aside(said(members, name), depth);
        }
        let faint = FAINT_WORDS.iter().find_map(|name| text(members, name));
        self.faint_words = self.faint_words.take().or(faint.map(str::to_owned));
    }

    /// MiniMax's verdict.
    fn refusal(&mut self, verdict: &Map<String, Value>) {
        let code = said(verdict, "status_code").map(ToString::to_string);
        let meaning = code.and_then(|code| codes::of_minimax(code.trim_matches('"')));
        self.codes.extend(meaning.map(str::to_owned));
        self.say(text(verdict, "status_msg").unwrap_or_default());
    }

    /// A message: mostly a string, but also a list or an object.
    fn words(&mut self, message: &Value, depth: usize) {
        match message {
            Value::String(text) => self.text(text, depth),
            Value::Array(items) => {
                let lines: Vec<String> = items.iter().filter_map(line).collect();
                self.say(&lines.join("; "));
            }
            Value::Object(members) if depth > 0 => self.object(members, depth - 1),
            _ => {}
        }
    }

    /// A code, type or status, as text or number. Three digits are a status.
    fn code(&mut self, value: Option<&Value>) {
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

    fn numbers(&mut self, members: &Map<String, Value>) {
        let number = |name| said(members, name).and_then(Value::as_u64);
        self.window = self.window.or(number("n_ctx"));
        self.prompt_tokens = self.prompt_tokens.or(number("n_prompt_tokens"));
        if let Some(id) = text(members, "request_id") {
            self.request_id.get_or_insert_with(|| id.to_owned());
        }
        self.retry_delay = self.retry_delay.or_else(|| wait(members));
    }

    /// What stands beside the message: lists of details, inner errors, metadata of a router.
    fn aside(&mut self, value: Option<&Value>, depth: usize) {
        match value {
            Some(Value::String(text)) => self.text(text, depth),
            Some(Value::Array(items)) => {
                items.iter().for_each(|item| self.aside(Some(item), depth));
            }
            Some(Value::Object(members)) => {
                for name in ["code", "error_code", "reason", "quotaId"] {
                    self.detail(name, said(members, name));
                }
                self.is_flagged |= said(members, "flagged_input").is_some();
                self.retry_delay = self.retry_delay.or_else(|| wait(members));
                self.aside(said(members, "violations"), depth);
                for name in ["raw", "message"] {
                    if let Some(text) = text(members, name).filter(|_| depth > 0) {
                        self.text(text, depth - 1);
                    }
                }
            }
            _ => {}
        }
    }

    fn detail(&mut self, name: &str, value: Option<&Value>) {
        match value {
            Some(Value::String(id)) if name == "quotaId" => self.quota_ids.push(id.clone()),
            Some(Value::String(code)) => self.codes.push(code.clone()),
            // Other numbers are the vendor's own (Cloudflare).
            Some(Value::Number(code)) if name == "code" => self.status = self.status.or(status(&code.to_string())),
            _ => {}
        }
    }
}

/// The status that a code is; one of success is none of a failure.
fn status(code: &str) -> Option<u16> {
    code.parse().ok().filter(|status| matches!(status, 300..=599))
}

/// The wait that an object asks for: in milliseconds, in seconds, or as `retryDelay` (google.rpc.RetryInfo).
fn wait(members: &Map<String, Value>) -> Option<Duration> {
    let millis = || match said(members, "retry_after_ms")? {
        Value::Number(number) => duration::seconds(number.as_f64()? / 1000.0),
        Value::String(text) => duration::millis(text.trim()),
        _ => None,
    };
    let seconds = || match said(members, "retry_after")? {
        Value::Number(number) => duration::seconds(number.as_f64()?),
        Value::String(text) => duration::whole(text.trim()),
        _ => None,
    };
    millis()
        .or_else(seconds)
        .or_else(|| duration::whole(text(members, "retry_delay")?))
}

/// One item of a list of messages: a string, or `{loc, msg}` as FastAPI writes it.
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

fn json(bytes: &[u8]) -> Option<Value> {
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    serde_json::from_slice(bytes).ok()
}

/// The first JSON of a body that is framed as an event stream.
fn framed(bytes: &[u8]) -> Option<Value> {
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
