//! [`ChatAnswer`]: an answer as a whole.

use serde_json::{Value, json};

use super::{Head, PAUSE, finish_reason};
use crate::reply::{ReplyEnd, ReplyEvent, chat_usage};

/// Collects the answer of `POST /v1/chat/completions`.
///
/// ```
/// use agcore_openai::{ChatAnswer, ReplyEvent};
///
/// let mut answer = ChatAnswer::new("chatcmpl-1", "ada", "thread_1");
/// answer.push(&ReplyEvent::TextStart { id: "m".into(), is_refusal: false });
/// answer.push(&ReplyEvent::Text { id: "m".into(), delta: "Good day".into() });
/// assert_eq!(answer.to_value()["choices"][0]["message"]["content"], "Good day");
/// ```
#[derive(Debug, Clone)]
pub struct ChatAnswer {
    head: Head,
    /// The texts that were not replaced: the id, whether it is a refusal, and the text.
    texts: Vec<(String, bool, String)>,
    reasoning: String,
    end: Option<ReplyEnd>,
}

impl ChatAnswer {
    /// Creates an answer of an agent with an id. The thread is part of the ids of calls.
    pub fn new(id: impl Into<String>, model: impl Into<String>, thread: impl Into<String>) -> Self {
        Self {
            head: Head {
                id: id.into(),
                model: model.into(),
                thread: thread.into(),
                created: 0,
            },
            texts: Vec::new(),
            reasoning: String::new(),
            end: None,
        }
    }

    /// Adds a part.
    pub fn push(&mut self, event: &ReplyEvent) {
        match event {
            ReplyEvent::Started(created) => self.head.created = *created,
            ReplyEvent::Reasoning { delta, .. } => self.reasoning.push_str(delta),
            ReplyEvent::ReasoningEnd { .. } => {}
            ReplyEvent::TextStart { id, is_refusal } => self.texts.push((id.clone(), *is_refusal, String::new())),
            ReplyEvent::Text { id, delta } => {
                if let Some((_, _, text)) = self.texts.iter_mut().rev().find(|(known, ..)| known == id) {
                    text.push_str(delta);
                }
            }
            ReplyEvent::TextEnd { id, is_discarded } => {
                if *is_discarded {
                    self.texts.retain(|(known, ..)| known != id);
                }
            }
            ReplyEvent::End(end) => self.end = Some(ReplyEnd::clone(end)),
        }
    }

    /// Returns the body of the answer.
    pub fn to_value(&self) -> Value {
        let joined = |wanted: bool| {
            let texts = self.texts.iter().filter(|(_, is_refusal, _)| *is_refusal == wanted);
            let texts: Vec<&str> = texts.map(|(_, _, text)| text.as_str()).collect();
            (!texts.is_empty()).then(|| texts.join(PAUSE))
        };
        let mut message = json!({"role": "assistant", "content": joined(false), "refusal": joined(true)});
        if !self.reasoning.is_empty() {
            message["reasoning_content"] = self.reasoning.as_str().into();
        }
        let finish = self.end.as_ref().map_or("stop", finish_reason);
        if let Some(end) = self.end.as_ref().filter(|end| !end.calls.is_empty()) {
            message["tool_calls"] = self.head.calls(end, false).into();
        }
        let choices = json!([{"index": 0, "message": message, "logprobs": null, "finish_reason": finish}]);
        let mut body = self.head.to_value("chat.completion", &choices);
        if let Some(end) = &self.end {
            body["usage"] = chat_usage(end);
        }
        body
    }
}
