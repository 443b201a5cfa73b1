//! Runs that the tests share.

use std::{sync::Arc, time::Duration};

use agcore_agui::{AguiEvent, Dialect, Encoder, Format, Input, Protocol, Run, Step, check_order};
use agcore_chat::{
    AssistantMessage, EventKind, ModelEvent, StreamEvent, TextEvent, ToolCall, ToolEvent, TurnEvent, Usage,
    UsageTracker,
};
use serde_json::{Value, json};

pub(crate) const ALL_FORMATS: [Format; 4] = [
    Format::new(Dialect::Standard, Protocol::V1),
    Format::new(Dialect::Superset, Protocol::V1),
    Format::new(Dialect::Standard, Protocol::V0),
    Format::new(Dialect::Superset, Protocol::V0),
];

/// An encoder whose run has started, with the log so far.
pub(crate) struct Recorder {
    pub(crate) encoder: Encoder,
    pub(crate) log: Vec<AguiEvent>,
}

impl Recorder {
    pub(crate) fn new() -> Self {
        Self::with(Encoder::new("thread_1", "run_1"))
    }

    pub(crate) fn with(encoder: Encoder) -> Self {
        let mut recorder = Self {
            encoder,
            log: Vec::new(),
        };
        recorder.push(Run::started());
        recorder
    }

    #[track_caller]
    pub(crate) fn push(&mut self, input: impl Into<Input>) -> &mut Self {
        self.log.extend(self.encoder.push(input.into()).unwrap());
        self
    }

    /// Pushes an event of the agent that answers the user.
    #[track_caller]
    pub(crate) fn event(&mut self, message: &str, kind: impl Into<EventKind>) -> &mut Self {
        self.push(event(message, kind))
    }

    /// Checks the log in all formats, and returns it in the standard one, one event per line.
    #[track_caller]
    pub(crate) fn standard(&self) -> String {
        for format in ALL_FORMATS {
            check_order(self.values(format)).unwrap();
        }
        self.lines(Format::default())
    }

    pub(crate) fn lines(&self, format: Format) -> String {
        self.log.iter().map(|event| event.to_json(format) + "\n").collect()
    }

    pub(crate) fn values(&self, format: Format) -> Vec<Value> {
        self.log.iter().map(|event| event.to_value(format)).collect()
    }

    /// Returns the last event with this type in the standard dialect.
    #[track_caller]
    pub(crate) fn last(&self, kind: &str) -> Value {
        let mut events = self.values(Format::default()).into_iter().rev();
        events.find(|event| event["type"] == kind).unwrap()
    }
}

pub(crate) fn event(message: &str, kind: impl Into<EventKind>) -> StreamEvent {
    StreamEvent::new(0, Arc::from("helper"), 0, 0, kind).with_message(Some(Arc::from(message)))
}

/// An event of a sub-agent that the call `parent` asked.
pub(crate) fn below(parent: &str, agent: &str, message: &str, kind: impl Into<EventKind>) -> StreamEvent {
    let event = StreamEvent::new(0, Arc::from(agent), 0, 0, kind);
    event
        .with_message(Some(Arc::from(message)))
        .with_parent(Some(Arc::from(parent)))
}

pub(crate) fn text(delta: &str) -> TextEvent {
    TextEvent::Text(delta.into())
}

pub(crate) fn complete(text: &str) -> TextEvent {
    TextEvent::MessageComplete(Arc::new(AssistantMessage::new(text)))
}

pub(crate) fn complete_calls(calls: &[ToolCall]) -> TextEvent {
    let message = calls
        .iter()
        .cloned()
        .fold(AssistantMessage::default(), AssistantMessage::with_call);
    TextEvent::MessageComplete(Arc::new(message))
}

pub(crate) fn usage() -> Usage {
    let mut usage = Usage::new(120, 30);
    usage.prompt_tokens_details.cached_tokens = Some(100);
    usage.completion_tokens_details.reasoning_tokens = Some(12);
    usage
}

pub(crate) fn used() -> ModelEvent {
    ModelEvent::Usage(Box::new(usage()))
}

pub(crate) fn started(call: &str, name: &str) -> ToolEvent {
    ToolEvent::Started {
        call_id: call.into(),
        name: name.into(),
    }
}

pub(crate) fn requested(call: &str, name: &str, input: &str) -> ToolEvent {
    ToolEvent::Requested {
        call_id: call.into(),
        name: name.into(),
        input: Arc::from(input),
    }
}

pub(crate) fn ended(call: &str, name: &str, input: &str, output: &str) -> ToolEvent {
    ToolEvent::Completed {
        call_id: call.into(),
        name: name.into(),
        input: Arc::from(input),
        output: Arc::from(output),
        is_error: false,
        duration: Duration::from_millis(40),
        display: None,
    }
}

pub(crate) fn failed(call: &str, name: &str, input: &str, output: &str) -> ToolEvent {
    match ended(call, name, input, output) {
        ToolEvent::Completed {
            call_id,
            name,
            input,
            output,
            duration,
            display,
            ..
        } => ToolEvent::Completed {
            call_id,
            name,
            input,
            output,
            is_error: true,
            duration,
            display,
        },
        other => other,
    }
}

pub(crate) fn turn_ended() -> TurnEvent {
    let mut tracker = UsageTracker::default();
    tracker.record(Some(&usage()));
    TurnEvent::Complete {
        usage: Box::new(tracker),
    }
}

/// A run of the sample application: a router, a worker with two tools, and a memory stage.
pub(crate) fn sample_run() -> Recorder {
    let input = r#"{"module":"calendar","method":"create","input":{"title":"Review","room":"A1"}}"#;
    let output = r#"{"title":"Review","event_id":"e7","status":"created","attendee_count":2}"#;
    let mut run = Recorder::new();
    run.push(Step::Started("router".into()))
        .event("m1", TextEvent::Reasoning("A calendar task. ".into()))
        .event("m1", TextEvent::Reasoning("I ask the worker.".into()))
        .event("m1", text("I will "))
        .event("m1", text("see to it."))
        .event("m1", complete("I will see to it."))
        .event("m1", used())
        .push(Step::Finished("router".into()))
        .push(Step::Started("worker".into()))
        .event(
            "m2",
            complete_calls(&[ToolCall::function("call_1", "calendar.create", input)]),
        )
        .event("m2", used())
        .event("m2", requested("call_1", "calendar.create", input))
        .event("m2", started("call_1", "calendar.create"));
    let mut created = ended("call_1", "calendar.create", input, output);
    if let ToolEvent::Completed { display, .. } = &mut created {
        let hints = json!({"title": "/title", "fields": {"Guests": "/attendee_count"}, "actions": ["Undo"]});
        *display = Some(Box::new(json!({"ui_hints": hints})));
    }
    run.event("m2", created)
        .event("m3", text("The review is in room A1."))
        .event("m3", complete("The review is in room A1."))
        .event("m3", used())
        .event("m3", turn_ended())
        .push(Step::Finished("worker".into()))
        .push(Step::Started("memory".into()))
        .event("m4", requested("call_2", "memory.update", ""))
        .event("m4", failed("call_2", "memory.update", "", "the memory is read-only"))
        .push(Step::Finished("memory".into()))
        .push(Run::finished());
    run
}
