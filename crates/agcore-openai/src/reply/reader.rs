//! [`RunReader`]: reads the events of a run.

use std::collections::HashSet;

use agcore_agui::{AguiEvent, EventType};
use agcore_chat::Usage;
use serde_json::Value;

use super::event::{Call, OpenQuestion, Outcome, ReplyEnd, ReplyEvent};

/// Reads the events of a run, and of those that continue it in the same answer. Live events and a replay of the log give the same
/// parts.
///
/// ```
/// use agcore_agui::{Encoder, Run, TextMessage};
/// use agcore_openai::{ReplyEvent, RunReader};
///
/// let mut encoder = Encoder::new("thread_1", "run_1");
/// let mut log = encoder.push(Run::started().into())?;
/// log.extend(encoder.push(TextMessage::new("m", "Good day").into())?);
/// log.extend(encoder.push(Run::finished().into())?);
///
/// let mut reader = RunReader::new();
/// let parts: Vec<ReplyEvent> = log.iter().flat_map(|event| reader.push(event)).collect();
/// assert!(matches!(&parts[2], ReplyEvent::Text { delta, .. } if delta == "Good day"));
/// # Ok::<(), agcore_agui::EncodeError>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct RunReader {
    shows_work: bool,
    client_tools: HashSet<String>,
    has_started: bool,
    /// The calls without a result.
    calls: Vec<Call>,
    usage: Usage,
    cost: Vec<String>,
}

impl RunReader {
    /// Creates a reader.
    pub fn new() -> Self {
        Self::default()
    }

    /// Reports calls of the agent's own tools and their ends as reasoning. `client_tools` are the names of those of the client,
    /// which are not reported in this way.
    #[must_use]
    pub fn showing_work(mut self, client_tools: impl IntoIterator<Item = String>) -> Self {
        self.shows_work = true;
        self.client_tools = client_tools.into_iter().collect();
        self
    }

    /// Returns the parts of the answer that an event is, in order.
    pub fn push(&mut self, event: &AguiEvent) -> Vec<ReplyEvent> {
        // What sub-agents write is the work of the agent, not its answer.
        if event.subagent().is_some() {
            return Vec::new();
        }
        let id = || text(event, "messageId");
        match event.event_type() {
            EventType::RunStarted if !self.has_started => {
                self.has_started = true;
                vec![ReplyEvent::Started(event.timestamp().unwrap_or_default() / 1000)]
            }
            EventType::ReasoningMessageContent => vec![ReplyEvent::Reasoning {
                id: id(),
                delta: text(event, "delta"),
            }],
            EventType::ReasoningMessageEnd => vec![ReplyEvent::ReasoningEnd { id: id() }],
            EventType::TextMessageStart => vec![ReplyEvent::TextStart {
                id: id(),
                is_refusal: event.kept_member("refusal").is_some(),
            }],
            EventType::TextMessageContent => vec![ReplyEvent::Text {
                id: id(),
                delta: text(event, "delta"),
            }],
            EventType::TextMessageEnd => vec![ReplyEvent::TextEnd {
                id: id(),
                is_discarded: event.own_member("discarded").is_some(),
            }],
            EventType::ToolCallStart => {
                let call = Call::new(text(event, "toolCallId"), text(event, "toolCallName"), "");
                let shown = self.work(&call.id, &call.name, "calls");
                self.calls.push(call);
                shown
            }
            EventType::ToolCallArgs => {
                let id = text(event, "toolCallId");
                if let Some(call) = self.calls.iter_mut().rev().find(|call| call.id == id) {
                    call.arguments.push_str(&text(event, "delta"));
                }
                Vec::new()
            }
            EventType::ToolCallResult => self.result(event),
            EventType::RunFinished | EventType::RunError => vec![ReplyEvent::End(Box::new(self.end(event)))],
            _ => Vec::new(),
        }
    }

    fn result(&mut self, event: &AguiEvent) -> Vec<ReplyEvent> {
        let id = text(event, "toolCallId");
        let Some(index) = self.calls.iter().rposition(|call| call.id == id) else {
            return Vec::new();
        };
        let call = self.calls.remove(index);
        let is_error = event.own_member("error").is_some();
        self.work(
            &format!("{id}:result"),
            &call.name,
            if is_error { "failed:" } else { "finished:" },
        )
    }

    /// Reports work as a span of reasoning.
    fn work(&self, id: &str, name: &str, verb: &str) -> Vec<ReplyEvent> {
        if !self.shows_work || self.client_tools.contains(name) {
            return Vec::new();
        }
        let id = format!("work:{id}");
        let delta = format!("[{verb} {name}]\n");
        vec![
            ReplyEvent::Reasoning { id: id.clone(), delta },
            ReplyEvent::ReasoningEnd { id },
        ]
    }

    fn end(&mut self, event: &AguiEvent) -> ReplyEnd {
        if let Some(usage) = event.kept_member("usage") {
            let usage: Usage = serde_json::from_value(usage.clone()).unwrap_or_default();
            self.usage.add(&usage);
        }
        if let Some(cost) = event.own_member("cost").and_then(Value::as_str) {
            self.cost.push(cost.to_owned());
        }
        let outcome = event.member("outcome");
        let ended = match (event.event_type(), outcome.and_then(|outcome| outcome["type"].as_str())) {
            (EventType::RunError, _) => Outcome::Failed {
                code: match text(event, "code") {
                    code if code.is_empty() => "run_failed".to_owned(),
                    code => code,
                },
                message: text(event, "message"),
            },
            (_, Some("cancelled")) => Outcome::Cancelled,
            (_, Some("interrupt")) => Outcome::Waiting(questions(outcome)),
            _ => Outcome::Completed,
        };
        let pending = outcome.and_then(|outcome| outcome["pendingToolCallIds"].as_array());
        let pending = pending.into_iter().flatten().filter_map(Value::as_str);
        let calls = pending.filter_map(|id| self.calls.iter().find(|call| call.id == id).cloned());
        ReplyEnd {
            outcome: ended,
            calls: calls.collect(),
            usage: self.usage.clone(),
            cost: self.cost.clone(),
            cut_off: event
                .own_member("finishReason")
                .and_then(Value::as_str)
                .map(str::to_owned),
        }
    }
}

fn questions(outcome: Option<&Value>) -> Vec<OpenQuestion> {
    let all = outcome.and_then(|outcome| outcome["interrupts"].as_array());
    let all = all.into_iter().flatten().map(|interrupt| OpenQuestion {
        id: interrupt["id"].as_str().unwrap_or_default().to_owned(),
        reason: interrupt["reason"].as_str().unwrap_or_default().to_owned(),
    });
    all.collect()
}

fn text(event: &AguiEvent, name: &str) -> String {
    event
        .member(name)
        .and_then(Value::as_str)
        .unwrap_or_default()
        .to_owned()
}
