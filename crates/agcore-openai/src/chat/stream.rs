//! [`ChatStream`]: an answer as chunks.

use serde_json::{Value, json};

use super::{Head, PAUSE, finish_reason};
use crate::{
    error::ApiError,
    reply::{ReplyEnd, ReplyEvent, chat_usage},
};

/// Writes the chunks of a streamed answer of `POST /v1/chat/completions`.
///
/// Chunks cannot take anything back: a text that is replaced because a stream of the model broke off stays, and the new one follows
/// after an empty line, without what both begin with if the first one is the beginning of the second.
///
/// A run that fails or is cancelled ends the stream with an error, and not with `[DONE]`.
///
/// ```
/// use agcore_openai::{ChatStream, ReplyEvent};
///
/// let mut stream = ChatStream::new("chatcmpl-1", "ada", "thread_1");
/// stream.push(&ReplyEvent::Started(0));
/// stream.push(&ReplyEvent::TextStart { id: "m".into(), is_refusal: false });
/// let frames = stream.push(&ReplyEvent::Text { id: "m".into(), delta: "Good day".into() });
/// assert!(frames.starts_with("data: {") && frames.contains(r#""content":"Good day""#));
/// ```
#[derive(Debug, Clone)]
pub struct ChatStream {
    head: Head,
    include_usage: bool,
    /// The text that is being written.
    text: Option<Written>,
    /// The text that is replaced by the next one.
    discarded: Option<String>,
    has_text: bool,
}

/// A text that is being written.
#[derive(Debug, Clone, Default)]
struct Written {
    is_refusal: bool,
    /// The text so far.
    all: String,
    /// The replaced text, as long as this one repeats it.
    repeats: Option<String>,
    /// Whether a pause comes before the next part.
    is_new: bool,
}

impl ChatStream {
    /// Creates an answer of an agent with an id. The thread is part of the ids of calls.
    pub fn new(id: impl Into<String>, model: impl Into<String>, thread: impl Into<String>) -> Self {
        Self {
            head: Head {
                id: id.into(),
                model: model.into(),
                thread: thread.into(),
                created: 0,
            },
            include_usage: false,
            text: None,
            discarded: None,
            has_text: false,
        }
    }

    /// Sets whether a last chunk has the usage.
    #[must_use]
    pub fn with_usage(mut self, included: bool) -> Self {
        self.include_usage = included;
        self
    }

    /// Returns the frames of a part, as server-sent events.
    pub fn push(&mut self, event: &ReplyEvent) -> String {
        let mut out = String::new();
        match event {
            ReplyEvent::Started(created) => {
                self.head.created = *created;
                self.delta(&json!({"role": "assistant", "content": ""}), &mut out);
            }
            ReplyEvent::Reasoning { delta, .. } => self.delta(&json!({"reasoning_content": delta}), &mut out),
            ReplyEvent::ReasoningEnd { .. } => {}
            ReplyEvent::TextStart { is_refusal, .. } => {
                let repeats = self.discarded.take();
                self.text = Some(Written {
                    is_refusal: *is_refusal,
                    all: String::new(),
                    is_new: self.has_text && repeats.is_none(),
                    repeats,
                });
            }
            ReplyEvent::Text { delta, .. } => self.text(delta, &mut out),
            ReplyEvent::TextEnd { is_discarded, .. } => {
                let text = self.text.take().unwrap_or_default();
                // While a text repeats the one before it, the client has seen all of that one.
                let seen = text.repeats.unwrap_or(text.all);
                self.discarded = is_discarded.then_some(seen).filter(|text| !text.is_empty());
                self.has_text |= !*is_discarded;
            }
            ReplyEvent::End(end) => self.end(end, &mut out),
        }
        out
    }

    /// Returns the frame of an error, after which the stream ends.
    pub fn error(error: &ApiError) -> String {
        let mut out = String::new();
        frame(&error.to_value(), &mut out);
        out
    }

    fn text(&mut self, delta: &str, out: &mut String) {
        let Some(mut text) = self.text.take() else { return };
        text.all.push_str(delta);
        let mut content = delta.to_owned();
        if let Some(replaced) = text.repeats.take() {
            if replaced.starts_with(&text.all) {
                text.repeats = Some(replaced);
                content.clear();
            } else if let Some(rest) = text.all.strip_prefix(&replaced) {
                rest.clone_into(&mut content);
            } else {
                content = format!("{PAUSE}{}", text.all);
            }
        }
        if std::mem::take(&mut text.is_new) {
            content.insert_str(0, PAUSE);
        }
        let name = if text.is_refusal { "refusal" } else { "content" };
        self.text = Some(text);
        if !content.is_empty() {
            self.delta(&json!({name: content}), out);
        }
    }

    fn end(&self, end: &ReplyEnd, out: &mut String) {
        if let Some(error) = end.outcome.error() {
            frame(&error.to_value(), out);
            return;
        }
        if !end.calls.is_empty() {
            self.delta(&json!({"tool_calls": self.head.calls(end, true)}), out);
        }
        let finish = finish_reason(end);
        let choices = json!([{"index": 0, "delta": {}, "logprobs": null, "finish_reason": finish}]);
        self.chunk(&choices, out);
        if self.include_usage {
            let mut last = self.head.to_value("chat.completion.chunk", &json!([]));
            last["usage"] = chat_usage(end);
            frame(&last, out);
        }
        out.push_str("data: [DONE]\n\n");
    }

    fn delta(&self, delta: &Value, out: &mut String) {
        let choices = json!([{"index": 0, "delta": delta, "logprobs": null, "finish_reason": null}]);
        self.chunk(&choices, out);
    }

    fn chunk(&self, choices: &Value, out: &mut String) {
        let mut chunk = self.head.to_value("chat.completion.chunk", choices);
        if self.include_usage {
            chunk["usage"] = Value::Null;
        }
        frame(&chunk, out);
    }
}

fn frame(value: &Value, out: &mut String) {
    agcore_agui::push_sse_frame(out, None, None, &value.to_string());
}
