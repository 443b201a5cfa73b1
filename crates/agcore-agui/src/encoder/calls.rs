//! [`Calls`]: the tool calls of a run.

use std::{sync::Arc, time::Duration};

use agcore_chat::Text;
use serde_json::{Value, json};

use super::{ids::Ids, scope::Scope};
use crate::{
    event::{AguiEvent, EventType},
    tool_result::{ToolFacts, parsed_input},
};

/// A tool call.
#[derive(Debug, Clone)]
pub(super) struct Call {
    /// The sub-agent that calls.
    pub(super) owner: Option<Text>,
    /// The id that the agent knows.
    raw: Text,
    /// The id on the wire.
    pub(super) id: Text,
    /// The id of the message that contains the call.
    pub(super) message: Option<Text>,
    name: Text,
    input: String,
    stage: Option<Text>,
    announced: Announced,
    has_result: bool,
}

/// The part of a call that was announced. A log may end in the middle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Announced {
    Start,
    Arguments,
    Whole,
}

/// The call that an event is about.
#[derive(Debug)]
pub(super) struct CallEvent<'a> {
    pub(super) owner: Option<&'a Text>,
    pub(super) id: &'a str,
    pub(super) name: &'a str,
    pub(super) input: &'a str,
    pub(super) stage: Option<&'a Text>,
}

/// The error of a call that has not ended itself.
#[derive(Debug, Clone, Copy)]
pub(super) struct CallError<'a> {
    pub(super) code: &'a str,
    pub(super) message: &'a str,
}

/// The end of a call.
#[derive(Debug)]
pub(super) struct CallEnd<'a> {
    pub(super) output: &'a str,
    pub(super) is_error: bool,
    pub(super) display: Option<&'a Value>,
    /// How long the call ran, if that is sent.
    pub(super) duration: Option<Duration>,
}

#[derive(Debug, Clone, Default)]
pub(super) struct Calls {
    list: Vec<Call>,
    ids: Ids,
}

impl Calls {
    /// Returns the last call with this id that has no result, of whichever agent.
    pub(super) fn last_open(&self, id: &str) -> Option<&Call> {
        self.list.iter().rev().find(|call| call.raw == *id && !call.has_result)
    }

    /// Returns the id on the wire of the last call with this id.
    pub(super) fn wire_id(&self, owner: Option<&Text>, id: &str) -> Option<&Text> {
        self.find(owner, id).map(|call| &call.id)
    }

    /// Returns the id by which an agent knows the call with this id on the wire.
    pub(super) fn known_as(&self, id: &str) -> Arc<str> {
        let call = self.list.iter().rev().find(|call| call.id == *id);
        Arc::from(call.map_or(id, |call| call.raw.as_str()))
    }

    /// Announces a call. A call that is announced and has no result is not announced again.
    pub(super) fn start(&mut self, event: &CallEvent<'_>, message: &Text, scope: &Scope, out: &mut Vec<AguiEvent>) {
        let known = self.position(event);
        let index = known.unwrap_or_else(|| {
            let index = self.add(event, Some(message));
            let call = &self.list[index];
            let start = call
                .event(EventType::ToolCallStart)
                .with("toolCallName", call.name.as_str())
                .with("parentMessageId", message.as_str());
            let start = scope.mark(start).with_own("messageId", message.as_str());
            out.push(start.with_own("stage", call.stage.as_deref()));
            index
        });
        let call = &mut self.list[index];
        if call.announced != Announced::Whole {
            event.input.clone_into(&mut call.input);
            call.announce_rest(scope, out);
        }
    }

    /// Ends the announcements that a log left open.
    pub(super) fn announce_all(&mut self, scope: &Scope, out: &mut Vec<AguiEvent>) {
        for call in &mut self.list {
            call.announce_rest(scope, out);
        }
    }

    /// Sends the result of a call.
    pub(super) fn end(
        &mut self,
        event: &CallEvent<'_>,
        end: &CallEnd<'_>,
        ids: &mut Ids,
        scope: &Scope,
        out: &mut Vec<AguiEvent>,
    ) {
        let index = self.position(event).unwrap_or_else(|| {
            // The call was announced by an earlier run, which waited for a person.
            let index = self.add(event, None);
            self.list[index].announced = Announced::Whole;
            index
        });
        let call = &mut self.list[index];
        event.input.clone_into(&mut call.input);
        call.announce_rest(scope, out);
        call.has_result = true;
        let facts = ToolFacts::new(event.input, end.output, end.is_error, end.display);
        let result = call.result(&facts, ids, scope);
        let millis = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        out.push(result.with_own("durationMs", end.duration.map(millis)));
    }

    /// Ends the calls without a result with an error if their owner is one of those that are meant.
    pub(super) fn fail_open(
        &mut self,
        is_meant: impl Fn(Option<&Text>) -> bool,
        error: CallError<'_>,
        ids: &mut Ids,
        scope: &Scope,
        out: &mut Vec<AguiEvent>,
    ) {
        let open = self
            .list
            .iter_mut()
            .filter(|call| !call.has_result && is_meant(call.owner.as_ref()));
        for call in open {
            call.announce_rest(scope, out);
            call.has_result = true;
            let mut facts = ToolFacts::new(&call.input, error.message, true, None);
            facts.error = Some(json!({"code": error.code, "message": error.message}));
            out.push(call.result(&facts, ids, scope));
        }
    }

    /// Repeats an event of the log.
    pub(super) fn replay(&mut self, event: &AguiEvent) {
        let text = |value: Option<&Value>| value.and_then(Value::as_str).map(Text::from);
        let Some(id) = text(event.member("toolCallId")) else {
            return;
        };
        self.ids.insert(&id);
        let owner = event.subagent().map(Text::from);
        match event.event_type() {
            EventType::ToolCallStart => {
                let raw = owner.as_ref().and_then(|owner| id.strip_prefix(&format!("{owner}/")));
                self.list.push(Call {
                    raw: Text::from(raw.unwrap_or(&id)),
                    owner,
                    message: text(event.member("parentMessageId")),
                    name: text(event.member("toolCallName")).unwrap_or_default(),
                    input: String::new(),
                    stage: text(event.own_member("stage")),
                    announced: Announced::Start,
                    has_result: false,
                    id,
                });
            }
            kind => {
                let Some(call) = self.list.iter_mut().rev().find(|call| call.id == id) else {
                    return;
                };
                match kind {
                    EventType::ToolCallArgs => {
                        call.announced = Announced::Arguments;
                        let delta = event.member("delta").and_then(Value::as_str);
                        call.input.push_str(delta.unwrap_or_default());
                    }
                    EventType::ToolCallEnd => call.announced = Announced::Whole,
                    _ => call.has_result = true,
                }
            }
        }
    }

    fn find(&self, owner: Option<&Text>, id: &str) -> Option<&Call> {
        self.list.iter().rev().find(|call| call.is(owner, id))
    }

    /// Returns the call that an event is about, unless it has a result.
    fn position(&self, event: &CallEvent<'_>) -> Option<usize> {
        let mut calls = self.list.iter();
        calls.rposition(|call| call.is(event.owner, event.id) && !call.has_result)
    }

    fn add(&mut self, event: &CallEvent<'_>, message: Option<&Text>) -> usize {
        // The ids of different agents may be equal.
        let base = match event.owner {
            Some(owner) => format!("{owner}/{}", event.id),
            None => event.id.to_owned(),
        };
        self.list.push(Call {
            owner: event.owner.cloned(),
            raw: Text::from(event.id),
            id: self.ids.unique(&base),
            message: message.cloned(),
            name: Text::from(event.name),
            input: String::new(),
            stage: event.stage.cloned(),
            announced: Announced::Start,
            has_result: false,
        });
        self.list.len() - 1
    }
}

impl Call {
    fn is(&self, owner: Option<&Text>, id: &str) -> bool {
        self.raw == *id && self.owner.as_ref() == owner
    }

    fn event(&self, kind: EventType) -> AguiEvent {
        let event = AguiEvent::new(kind).in_subagent(self.owner.as_ref());
        event.with("toolCallId", self.id.as_str())
    }

    /// Sends the arguments and the end of the announcement if they were not sent.
    fn announce_rest(&mut self, scope: &Scope, out: &mut Vec<AguiEvent>) {
        let named = |event: AguiEvent| {
            let event = scope.mark(event).with_own("messageId", self.message.as_deref());
            event
                .with_own("toolCallName", self.name.as_str())
                .with_own("stage", self.stage.as_deref())
        };
        if self.announced == Announced::Start {
            let (arguments, delta) = parsed_input(&self.input);
            let event = self.event(EventType::ToolCallArgs).with("delta", delta);
            out.push(named(event).with_own("args", arguments));
        }
        if self.announced != Announced::Whole {
            out.push(named(self.event(EventType::ToolCallEnd)));
        }
        self.announced = Announced::Whole;
    }

    fn result(&self, facts: &ToolFacts, ids: &mut Ids, scope: &Scope) -> AguiEvent {
        let message = ids.unique(&format!("{}:result", self.id));
        let event = self
            .event(EventType::ToolCallResult)
            .with("messageId", message.as_str())
            .with("content", facts.content.as_str())
            .with("role", "tool");
        let event = scope
            .mark(event)
            .with_own("stage", self.stage.as_deref())
            .with_own("tool_name", self.name.as_str())
            .with_own("tool_call_id", self.id.as_str())
            .with_own("tool_call_args", parsed_input(&self.input).0)
            .with_own("status", facts.status.as_str())
            .with_own("result", facts.result.clone());
        event
            .with_own("error", facts.error.clone())
            .with_own("ui_schema", facts.ui_schema.clone())
    }
}
