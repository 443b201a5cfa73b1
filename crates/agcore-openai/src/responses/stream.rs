//! [`ResponseStream`]: a response as events, and the object that they build.

use serde_json::{Value, json};

use super::object::ResponseFacts;
use crate::{
    error::ApiError,
    ids::CallId,
    reply::{Call, Outcome, ReplyEnd, ReplyEvent},
};

/// Writes the events of a streamed response of `POST /v1/responses`, and the response as an object.
///
/// ```
/// use agcore_openai::{ReplyEvent, ResponseFacts, ResponseId, ResponseStream};
///
/// let facts = ResponseFacts::new(ResponseId::new("thread_1", "run_1"), "ada");
/// let mut stream = ResponseStream::new(facts);
/// assert!(stream.push(&ReplyEvent::Started(0)).starts_with("event: response.created\n"));
/// stream.push(&ReplyEvent::TextStart { id: "m".into(), is_refusal: false });
/// stream.push(&ReplyEvent::Text { id: "m".into(), delta: "Good day".into() });
/// stream.push(&ReplyEvent::TextEnd { id: "m".into(), is_discarded: false });
/// assert_eq!(stream.response()["output"][0]["content"][0]["text"], "Good day");
/// ```
#[derive(Debug, Clone)]
pub struct ResponseStream {
    facts: ResponseFacts,
    created: u64,
    sequence: u64,
    output: Vec<Value>,
    open: Option<Open>,
    end: Option<ReplyEnd>,
}

/// The item that is being written.
#[derive(Debug, Clone)]
struct Open {
    id: String,
    item: String,
    text: String,
    kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Reasoning,
    Text,
    Refusal,
}

impl Kind {
    /// Returns the names of the events that add a part, add text, end the text and end the part.
    const fn events(self) -> [&'static str; 4] {
        match self {
            Self::Reasoning => [
                "response.reasoning_summary_part.added",
                "response.reasoning_summary_text.delta",
                "response.reasoning_summary_text.done",
                "response.reasoning_summary_part.done",
            ],
            Self::Text => [
                "response.content_part.added",
                "response.output_text.delta",
                "response.output_text.done",
                "response.content_part.done",
            ],
            Self::Refusal => [
                "response.content_part.added",
                "response.refusal.delta",
                "response.refusal.done",
                "response.content_part.done",
            ],
        }
    }

    fn part(self, text: &str) -> Value {
        match self {
            Self::Reasoning => json!({"type": "summary_text", "text": text}),
            Self::Text => json!({"type": "output_text", "text": text, "annotations": [], "logprobs": []}),
            Self::Refusal => json!({"type": "refusal", "refusal": text}),
        }
    }

    fn item(self, id: &str, status: &str, parts: Vec<Value>) -> Value {
        match self {
            Self::Reasoning => json!({"id": id, "type": "reasoning", "summary": parts}),
            _ => json!({"id": id, "type": "message", "status": status, "role": "assistant", "content": parts}),
        }
    }

    const fn index_name(self) -> &'static str {
        match self {
            Self::Reasoning => "summary_index",
            _ => "content_index",
        }
    }
}

impl ResponseStream {
    /// Creates a response without output.
    pub fn new(facts: ResponseFacts) -> Self {
        Self {
            facts,
            created: 0,
            sequence: 0,
            output: Vec::new(),
            open: None,
            end: None,
        }
    }

    /// Returns the response as it is now.
    pub fn response(&self) -> Value {
        self.facts.to_value(self.created, &self.output, self.end.as_ref())
    }

    /// Returns the frames of a part, as server-sent events.
    pub fn push(&mut self, event: &ReplyEvent) -> String {
        let mut out = String::new();
        match event {
            ReplyEvent::Started(created) => {
                self.created = *created;
                for kind in ["response.created", "response.in_progress"] {
                    let response = self.response();
                    self.event(kind, json!({"response": response}), &mut out);
                }
            }
            ReplyEvent::Reasoning { id, delta } => self.delta(id, Kind::Reasoning, delta, &mut out),
            ReplyEvent::TextStart { id, is_refusal } => {
                let kind = if *is_refusal { Kind::Refusal } else { Kind::Text };
                self.delta(id, kind, "", &mut out);
            }
            ReplyEvent::Text { id, delta } => {
                let kind = self.open.as_ref().map_or(Kind::Text, |open| open.kind);
                self.delta(id, kind, delta, &mut out);
            }
            ReplyEvent::ReasoningEnd { .. } => self.close(false, &mut out),
            ReplyEvent::TextEnd { is_discarded, .. } => self.close(*is_discarded, &mut out),
            ReplyEvent::End(end) => self.finish(end, &mut out),
        }
        out
    }

    /// Returns the frame of an error, after which the stream ends.
    pub fn error(&mut self, error: &ApiError) -> String {
        let mut out = String::new();
        let members = json!({"code": error.code(), "message": error.to_string(), "param": error.param()});
        self.event("error", members, &mut out);
        out
    }

    /// Adds text to the item with this id, which is opened if it is not.
    fn delta(&mut self, id: &str, kind: Kind, delta: &str, out: &mut String) {
        let is_open = self
            .open
            .as_ref()
            .is_some_and(|open| open.id == id && open.kind == kind);
        if !is_open {
            self.close(false, out);
            let prefix = if kind == Kind::Reasoning { "rs" } else { "msg" };
            let open = Open {
                id: id.to_owned(),
                item: self.item_id(prefix),
                text: String::new(),
                kind,
            };
            let index = self.output.len();
            let item = kind.item(&open.item, "in_progress", Vec::new());
            self.event(
                "response.output_item.added",
                json!({"output_index": index, "item": item}),
                out,
            );
            let part = json!({
                "item_id": open.item, "output_index": index, kind.index_name(): 0, "part": kind.part(""),
            });
            self.event(kind.events()[0], part, out);
            self.open = Some(open);
        }
        if delta.is_empty() {
            return;
        }
        let Some(mut open) = self.open.take() else { return };
        open.text.push_str(delta);
        let mut members = json!({
            "item_id": open.item, "output_index": self.output.len(), kind.index_name(): 0, "delta": delta,
        });
        if kind == Kind::Text {
            members["logprobs"] = json!([]);
        }
        self.open = Some(open);
        self.event(kind.events()[1], members, out);
    }

    /// Ends the item that is open. The text of one that is discarded is left out of the response.
    fn close(&mut self, is_discarded: bool, out: &mut String) {
        let Some(open) = self.open.take() else { return };
        let (kind, index) = (open.kind, self.output.len());
        let place = || json!({"item_id": open.item, "output_index": index, kind.index_name(): 0});
        let mut done = place();
        done[if kind == Kind::Refusal { "refusal" } else { "text" }] = open.text.as_str().into();
        if kind == Kind::Text {
            done["logprobs"] = json!([]);
        }
        self.event(kind.events()[2], done, out);
        let part = kind.part(&open.text);
        let mut done = place();
        done["part"] = part.clone();
        self.event(kind.events()[3], done, out);
        let item = match is_discarded {
            true => kind.item(&open.item, "incomplete", Vec::new()),
            false => kind.item(&open.item, "completed", vec![part]),
        };
        self.add(item, out);
    }

    fn call(&mut self, call: &Call, out: &mut String) {
        let (index, id) = (self.output.len(), self.item_id("fc"));
        let item = |status: &str, arguments: &str| {
            json!({
                "id": id,
                "type": "function_call",
                "status": status,
                "call_id": CallId::new(&*self.facts.id.thread, &*call.id).encode(),
                "name": call.name,
                "arguments": arguments,
            })
        };
        let (added, done) = (item("in_progress", ""), item("completed", &call.arguments));
        self.event(
            "response.output_item.added",
            json!({"output_index": index, "item": added}),
            out,
        );
        let delta = json!({"item_id": id, "output_index": index, "delta": call.arguments});
        self.event("response.function_call_arguments.delta", delta, out);
        let arguments = json!({"item_id": id, "output_index": index, "name": call.name, "arguments": call.arguments});
        self.event("response.function_call_arguments.done", arguments, out);
        self.add(done, out);
    }

    fn add(&mut self, item: Value, out: &mut String) {
        let index = self.output.len();
        self.event(
            "response.output_item.done",
            json!({"output_index": index, "item": item}),
            out,
        );
        self.output.push(item);
    }

    fn finish(&mut self, end: &ReplyEnd, out: &mut String) {
        self.close(false, out);
        for call in &end.calls {
            self.call(call, out);
        }
        self.end = Some(end.clone());
        let response = self.response();
        let kind = match (&end.outcome, response["status"].as_str()) {
            (Outcome::Waiting(_), _) => return,
            (_, Some("completed")) => "response.completed",
            (_, Some("incomplete")) => "response.incomplete",
            _ => "response.failed",
        };
        self.event(kind, json!({"response": response}), out);
    }

    /// Returns the id of the next item. Its end is that of the id of the response.
    fn item_id(&self, prefix: &str) -> String {
        let id = self.facts.id.encode();
        let tail = &id[id.len().saturating_sub(24)..];
        format!("{prefix}_{}_{tail}", self.output.len())
    }

    fn event(&mut self, kind: &str, members: Value, out: &mut String) {
        let mut event = json!({"type": kind, "sequence_number": self.sequence});
        self.sequence += 1;
        if let (Value::Object(event), Value::Object(members)) = (&mut event, members) {
            event.extend(members);
        }
        agcore_agui::push_sse_frame(out, None, Some(kind), &event.to_string());
    }
}
