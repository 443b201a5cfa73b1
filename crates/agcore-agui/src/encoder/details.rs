//! Events without an AG-UI type of their own, which are sent as `CUSTOM`.

use std::time::Duration;

use agcore_chat::{AgentEvent, ContextEvent, EventKind, Fault, ModelEvent, PersonEvent, ToolEvent, TurnEvent};
use serde_json::{Value, json};

use crate::input::Interrupt;

/// Returns the name and the value of the `CUSTOM` event, if the event is sent as one.
///
/// `id` returns the id of a call on the wire.
pub(super) fn custom(kind: &EventKind, has_model: bool, id: impl Fn(&str) -> String) -> Option<(String, Value)> {
    let (name, value) = match kind {
        EventKind::Tool(ToolEvent::Started { call_id, name }) => {
            ("tool_started", json!({"toolCallId": id(call_id), "toolCallName": name}))
        }
        EventKind::Tool(ToolEvent::Progress { call_id, progress }) => (
            "tool_progress",
            json!({"toolCallId": id(call_id), "progress": progress}),
        ),
        EventKind::Tool(ToolEvent::Repeated { call_id, name }) => (
            "tool_repeated",
            json!({"toolCallId": id(call_id), "toolCallName": name}),
        ),
        EventKind::Model(event) => model(event, has_model)?,
        EventKind::Context(ContextEvent::Compacted {
            method,
            tokens_before,
            tokens_after,
        }) => {
            let value = json!({"method": method, "tokensBefore": tokens_before, "tokensAfter": tokens_after});
            ("compacted", value)
        }
        EventKind::Context(ContextEvent::CompactionFailed { fault }) => {
            ("compaction_failed", json!({"error": error(fault)}))
        }
        EventKind::Person(PersonEvent::Asked(question)) => ("question_asked", Interrupt::from(&**question).to_value()),
        EventKind::Person(PersonEvent::Answered { question, .. }) => ("question_answered", json!({"id": question})),
        EventKind::Agent(AgentEvent::Handoff { from, to }) => ("handoff", json!({"from": from, "to": to})),
        EventKind::Turn(TurnEvent::BudgetReached { limit }) => ("budget_reached", json!({"limit": limit})),
        EventKind::Turn(TurnEvent::Error(fault)) => ("turn_failed", json!({"error": error(fault)})),
        EventKind::Extension(extension) => return Some((extension.name.to_string(), extension.data.clone())),
        _ => return None,
    };
    Some((format!("agcore.{name}"), value))
}

fn model(event: &ModelEvent, has_model: bool) -> Option<(&'static str, Value)> {
    Some(match event {
        ModelEvent::RetryScheduled { attempt, delay, fault } => {
            let value = json!({"attempt": attempt, "delayMs": millis(*delay), "error": error(fault)});
            ("retry_scheduled", value)
        }
        ModelEvent::StreamRestarted { fault } => ("stream_restarted", json!({"error": error(fault)})),
        ModelEvent::WaitingForLimit { delay, limit } => {
            ("waiting_for_limit", json!({"delayMs": millis(*delay), "limit": limit}))
        }
        ModelEvent::AnsweredBy(who) if has_model => {
            ("answered_by", json!({"provider": who.provider, "model": who.model}))
        }
        _ => return None,
    })
}

fn error(fault: &Fault) -> Value {
    json!({"code": fault.kind.as_str(), "message": fault.message})
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
