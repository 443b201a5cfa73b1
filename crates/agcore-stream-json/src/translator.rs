//! [`Translator`]: turns the events of a turn into the contents of lines.

mod counts;
mod changes;
#[cfg(feature = "flow")]
mod flow_events;
mod summary;

use std::{
    collections::{HashMap, HashSet},
    time::Duration,
};

use agcore_chat::{
    AssistantMessage, EventKind, Message as ChatMessage, ModelEvent, TextEvent, ToolEvent, TurnEvent, Usage,
};
use serde_json::Value;

use self::{
    changes::{agent_change, compaction},
    summary::Summary,
};
use crate::{
    call::{ToolOutputDelta, ToolResult, ToolStart, ToolStatus, ToolUse},
    failure::{ErrorInfo, Retry},
    line::Event,
    result::Denial,
    tokens::Tokens,
    turn::{CallUsage, Message, Role, Text, TurnEnd, TurnStart, Warning},
};

#[cfg(feature = "flow")]
pub(crate) use self::flow_events::{flow_end, flow_event};
pub(crate) use self::summary::Estimates;
pub use self::summary::RunEnd;

/// The end of a call, if its event does not contain it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It ran, or was refused because it was invalid.
    Ended,
    /// It was not allowed, for this reason.
    Denied(String),
    /// It was cancelled.
    Interrupted,
}

/// Translates events. Only complete messages, calls and results become lines, unless partial ones are wanted.
#[derive(Debug)]
pub(crate) struct Translator {
    is_partial: bool,
    /// The provider and the model that answer.
    answers: (String, String),
    /// The deltas of the incomplete reply.
    text: String,
    reasoning: String,
    /// A complete reply without calls, and what follows it: it is the answer unless the turn continues.
    held: Vec<Event>,
    /// Whether a complete reply still lacks its usage.
    lacks_usage: bool,
    /// The calls that were requested and have not ended.
    open_calls: Vec<ToolUse>,
    /// The ids of all calls that were requested.
    known_calls: HashSet<String>,
    /// Approvals of calls that no line has named yet, by id.
    early_approvals: Vec<(String, Event)>,
    fates: HashMap<String, Fate>,
    is_cancelled: bool,
    /// The contents of the result.
    pub(crate) summary: Summary,
}

impl Translator {
    /// Creates a translator. Pieces of incomplete messages become lines on request.
    pub(crate) fn new(is_partial: bool) -> Self {
        Self {
            is_partial,
            answers: (String::new(), String::new()),
            text: String::new(),
            reasoning: String::new(),
            held: Vec::new(),
            lacks_usage: false,
            open_calls: Vec::new(),
            known_calls: HashSet::new(),
            early_approvals: Vec::new(),
            fates: HashMap::new(),
            is_cancelled: false,
            summary: Summary::default(),
        }
    }

    /// Notes which provider and model answer, until an event names others.
    pub(crate) fn answered_by(&mut self, provider: &str, model: &str) {
        self.answers = (provider.to_owned(), model.to_owned());
    }

    /// Translates an event.
    pub(crate) fn event(&mut self, agent: &str, kind: &EventKind) -> Vec<Event> {
        let mut out = Vec::new();
        match kind {
            EventKind::Model(ModelEvent::Usage(usage)) => self.usage(Some(usage), &mut out),
            EventKind::Turn(TurnEvent::BudgetReached { limit }) => {
                self.settle_usage(&mut out);
                self.summary.limit = Some(limit.to_string());
            }
            EventKind::Turn(TurnEvent::Complete { usage }) => {
                self.settle_usage(&mut out);
                self.release(true, &mut out);
                self.interrupt_open_calls(&mut out);
                self.summary.turn = Some((**usage).clone());
                let num_model_calls = usage.calls;
                out.push(Event::TurnEnd(TurnEnd { num_model_calls }));
            }
            kind => {
                self.settle_usage(&mut out);
                self.release(false, &mut out);
                self.inner_event(agent, kind, &mut out);
            }
        }
        out
    }

    /// Translates an event of a sub-agent, which the call `parent` has asked: its calls, what they return, and what its model
    /// calls use. Its answer is the result of that call.
    pub(crate) fn sub_agent_event(&mut self, parent: &str, kind: &EventKind) -> Vec<Event> {
        let mut out = Vec::new();
        match kind {
            EventKind::Tool(ToolEvent::Requested { call_id, name, input }) => {
                self.requested(call_id, name, input, Some(parent), &mut out);
            }
            EventKind::Tool(event) => self.tool(event, &mut out),
            EventKind::Model(ModelEvent::Usage(usage)) => self.usage(Some(usage), &mut out),
            EventKind::Model(event @ (ModelEvent::RetryScheduled { .. } | ModelEvent::WaitingForLimit { .. })) => {
                self.model(event, &mut out);
            }
            _ => {}
        }
        out
    }

    /// Notes how a call ended.
    pub(crate) fn fate(&mut self, id: &str, fate: Fate) {
        self.fates.insert(id.to_owned(), fate);
    }

    /// Notes that the turn was cancelled: calls that fail from now on, for no reason of their own, were interrupted.
    pub(crate) fn cancel(&mut self) {
        self.is_cancelled = true;
    }

    /// Translates a question about a call or its answer. It waits until a line has named the call.
    pub(crate) fn approval(&mut self, id: &str, event: Event) -> Vec<Event> {
        if self.known_calls.contains(id) {
            return vec![event];
        }
        self.early_approvals.push((id.to_owned(), event));
        Vec::new()
    }

    fn inner_event(&mut self, agent: &str, kind: &EventKind, out: &mut Vec<Event>) {
        match kind {
            EventKind::Turn(TurnEvent::Started(messages)) => {
                let agent = agent.to_owned();
                out.push(Event::TurnStart(TurnStart { agent }));
                out.extend(messages.iter().filter_map(|message| input(message)));
            }
            EventKind::Turn(TurnEvent::Error(_)) => self.broken_off(out),
            EventKind::Text(event) => self.text(event, out),
            EventKind::Tool(event) => self.tool(event, out),
            EventKind::Model(event) => self.model(event, out),
            EventKind::Context(event) => out.extend(compaction(event)),
            EventKind::Agent(event) => out.extend(agent_change(event)),
            _ => {}
        }
    }

    fn text(&mut self, event: &TextEvent, out: &mut Vec<Event>) {
        match event {
            TextEvent::Text(text) | TextEvent::Refusal(text) => {
                self.text.push_str(text);
                self.delta(Event::MessageDelta, text, out);
            }
            TextEvent::Reasoning(text) => {
                self.reasoning.push_str(text);
                self.delta(Event::ReasoningDelta, text, out);
            }
            TextEvent::MessageComplete(message) => self.complete(message, out),
            _ => {}
        }
    }

    fn delta(&self, event: fn(Text) -> Event, text: &str, out: &mut Vec<Event>) {
        if self.is_partial && !text.is_empty() {
            let text = text.to_owned();
            out.push(event(Text { text }));
        }
    }

    fn complete(&mut self, message: &AssistantMessage, out: &mut Vec<Event>) {
        self.text.clear();
        self.reasoning.clear();
        self.lacks_usage = true;
        out.extend(reasoning(&message.reasoning()));
        let text = match message.refusal_text() {
            Some(refusal) if message.text().is_empty() => refusal.to_owned(),
            _ => message.text().into_owned(),
        };
        self.summary.text = Some(text.clone()).filter(|text| !text.is_empty());
        if !message.has_tool_calls() {
            self.held.push(assistant(text, false));
        } else if !text.is_empty() {
            out.push(assistant(text, false));
        }
    }

    /// Writes what arrived of a reply that broke off.
    fn broken_off(&mut self, out: &mut Vec<Event>) {
        out.extend(reasoning(&std::mem::take(&mut self.reasoning)));
        let text = std::mem::take(&mut self.text);
        if !text.is_empty() {
            self.summary.text = Some(text.clone());
            out.push(assistant(text, true));
        }
    }

    /// Reports the usage of a reply as unknown if the server did not report it.
    fn settle_usage(&mut self, out: &mut Vec<Event>) {
        if self.lacks_usage {
            self.usage(None, out);
        }
    }

    fn usage(&mut self, usage: Option<&Usage>, out: &mut Vec<Event>) {
        self.lacks_usage = false;
        let (provider, model) = self.answers.clone();
        self.summary.count(&provider, &model, usage);
        let tokens = usage.map(Tokens::from).unwrap_or_default();
        let event = Event::Usage(CallUsage {
            provider,
            model,
            tokens,
        });
        // The message comes first.
        match self.held.is_empty() {
            true => out.push(event),
            false => self.held.push(event),
        }
    }

    /// Writes the held message, which is the answer if the turn ends with it.
    fn release(&mut self, is_final: bool, out: &mut Vec<Event>) {
        out.extend(self.held.drain(..).map(|event| match event {
            Event::Message(message) => Event::Message(Message {
                r#final: is_final,
                ..message
            }),
            event => event,
        }));
    }

    fn tool(&mut self, event: &ToolEvent, out: &mut Vec<Event>) {
        match event {
            ToolEvent::Requested { call_id, name, input } => self.requested(call_id, name, input, None, out),
            ToolEvent::Started { call_id, .. } => out.push(Event::ToolStart(ToolStart {
                id: call_id.to_string(),
            })),
            ToolEvent::Progress { call_id, progress } if self.is_partial => {
                let delta = |text| {
                    Event::ToolOutputDelta(ToolOutputDelta {
                        id: call_id.to_string(),
                        text,
                    })
                };
                out.extend(progress.message.as_ref().map(|text| delta(text.to_string())));
            }
            ToolEvent::Completed {
                call_id,
                output,
                is_error,
                duration,
                ..
            } => {
                let status = self.status(call_id, *is_error);
                self.ended(call_id, status, Some((output, *duration)), out);
            }
            _ => {}
        }
    }

    fn requested(&mut self, id: &str, name: &str, input: &str, parent: Option<&str>, out: &mut Vec<Event>) {
        let call = ToolUse {
            id: id.to_owned(),
            name: name.to_owned(),
            input: serde_json::from_str(input).unwrap_or_else(|_| Value::from(input)),
            parent_id: parent.map(str::to_owned),
        };
        self.known_calls.insert(id.to_owned());
        self.open_calls.push(call.clone());
        out.push(Event::ToolUse(call));
        let (early, later) = self.early_approvals.drain(..).partition(|(call, _)| call == id);
        self.early_approvals = later;
        out.extend(Vec::into_iter(early).map(|(_, event)| event));
    }

    fn status(&self, id: &str, is_error: bool) -> ToolStatus {
        match self.fates.get(id) {
            Some(Fate::Denied(_)) => ToolStatus::Denied,
            Some(Fate::Interrupted) => ToolStatus::Interrupted,
            None if is_error && self.is_cancelled => ToolStatus::Interrupted,
            Some(Fate::Ended) | None if is_error => ToolStatus::Error,
            Some(Fate::Ended) | None => ToolStatus::Ok,
        }
    }

    fn ended(&mut self, id: &str, status: ToolStatus, output: Option<(&str, Duration)>, out: &mut Vec<Event>) {
        let position = self.open_calls.iter().position(|call| call.id == id);
        let call = position.map(|position| self.open_calls.remove(position));
        if let (Some(Fate::Denied(reason)), Some(call)) = (self.fates.get(id), call) {
            self.summary.denials.push(Denial {
                id: call.id,
                name: call.name,
                input: call.input,
                reason: reason.clone(),
            });
        }
        out.push(Event::ToolResult(ToolResult {
            id: id.to_owned(),
            status,
            output: output.map(|(text, _)| text.to_owned()),
            duration_ms: output.map(|(_, duration)| millis(duration)),
        }));
    }

    /// Ends the calls that have no result when the turn ends.
    fn interrupt_open_calls(&mut self, out: &mut Vec<Event>) {
        for id in self.open_calls.iter().map(|call| call.id.clone()).collect::<Vec<_>>() {
            self.ended(&id, ToolStatus::Interrupted, None, out);
        }
    }

    fn model(&mut self, event: &ModelEvent, out: &mut Vec<Event>) {
        match event {
            ModelEvent::AnsweredBy(who) => self.answers = (who.provider.to_string(), who.model.to_string()),
            ModelEvent::RetryScheduled { attempt, delay, fault } => out.push(Event::Retry(Retry {
                attempt: Some(attempt.saturating_add(1)),
                delay_ms: Some(millis(*delay)),
                restarted: false,
                error: ErrorInfo::from(fault),
            })),
            ModelEvent::StreamRestarted { fault } => {
                self.text.clear();
                self.reasoning.clear();
                out.push(Event::Retry(Retry {
                    attempt: None,
                    delay_ms: None,
                    restarted: true,
                    error: ErrorInfo::from(fault),
                }));
            }
            ModelEvent::WaitingForLimit { delay, limit } => out.push(Event::Warning(Warning {
                message: format!("waiting {} ms for {limit}", millis(*delay)),
            })),
            _ => {}
        }
    }
}

/// Translates a message with which a turn starts.
fn input(message: &ChatMessage) -> Option<Event> {
    let role = match message {
        ChatMessage::User(_) => Role::User,
        ChatMessage::System(_) | ChatMessage::Developer(_) => Role::System,
        _ => return None,
    };
    Some(Event::Message(Message {
        role,
        text: message.text().into_owned(),
        r#final: false,
        partial: false,
    }))
}

fn assistant(text: String, partial: bool) -> Event {
    Event::Message(Message {
        role: Role::Assistant,
        text,
        r#final: false,
        partial,
    })
}

fn reasoning(text: &str) -> Option<Event> {
    let text = text.to_owned();
    (!text.is_empty()).then_some(Event::Reasoning(Text { text }))
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests;
