//! The JSON of events by topic, as observers in other processes read it.

use std::{sync::Arc, time::Duration};

use agcore_chat::{
    AgentEvent, Answer, AnsweredBy, AssistantMessage, CompactionMethod, ContextEvent, EventKind, Extension, Fault,
    FaultKind, Message, ModelEvent, PersonEvent, Progress, Question, QuestionKind, StreamEvent, TextEvent, ToolCall,
    ToolEvent, TurnEvent, Usage, UsageTracker,
};
use serde_json::{Value, json};

/// Serializes events, and checks that each of them round-trips.
fn serialized(events: impl IntoIterator<Item = EventKind>) -> Value {
    let event = |(seq, kind): (usize, EventKind)| {
        let event = StreamEvent::new(seq as u64, Arc::from("helper"), 1, 2, kind);
        let text = serde_json::to_string(&event).unwrap();
        assert_eq!(serde_json::from_str::<StreamEvent>(&text).unwrap(), event);
        serde_json::from_str::<Value>(&text).unwrap()
    };
    events.into_iter().enumerate().map(event).collect()
}

fn fault() -> Fault {
    Fault::new(FaultKind::Overloaded, "the server is overloaded; wait").with_retryable(true)
}

#[test]
fn text_events() {
    let message = AssistantMessage::new("Hi").with_call(ToolCall::function("a", "look", "{}"));
    let events = [
        TextEvent::Text("Hi".into()),
        TextEvent::Reasoning("Hm".into()),
        TextEvent::Refusal("No".into()),
        TextEvent::ToolArguments {
            index: 0,
            call_id: "a".into(),
            name: "look".into(),
            arguments: "{\"ci".into(),
        },
        TextEvent::PartialObject(json!({"city": "Pa"})),
        TextEvent::MessageComplete(Arc::new(message)),
    ];
    insta::assert_json_snapshot!(serialized(events.map(EventKind::from)));
}

#[test]
fn tool_events() {
    let events = [
        ToolEvent::Requested {
            call_id: "a".into(),
            name: "look".into(),
            input: "{}".into(),
        },
        ToolEvent::Started {
            call_id: "a".into(),
            name: "look".into(),
        },
        ToolEvent::Progress {
            call_id: "a".into(),
            progress: Box::new(Progress::message("half way")),
        },
        ToolEvent::Progress {
            call_id: "a".into(),
            progress: Box::new(Progress::amount(1.0, Some(2.0))),
        },
        ToolEvent::Progress {
            call_id: "a".into(),
            progress: Box::new(Progress::part(json!(["row"]))),
        },
        ToolEvent::Completed {
            call_id: "a".into(),
            name: "look".into(),
            input: "{}".into(),
            output: "sun".into(),
            is_error: false,
            duration: Duration::from_micros(1500),
            display: Some(Box::new(json!({"chart": 1}))),
        },
    ];
    insta::assert_json_snapshot!(serialized(events.map(EventKind::from)));
}

#[test]
fn model_events() {
    let events = [
        ModelEvent::Usage(Box::new(Usage::new(3, 4))),
        ModelEvent::RetryScheduled {
            attempt: 2,
            delay: Duration::from_millis(1),
            fault: fault(),
        },
        ModelEvent::StreamRestarted { fault: fault() },
        ModelEvent::AnsweredBy(AnsweredBy::new("openai", "gpt-5")),
        ModelEvent::WaitingForLimit {
            delay: Duration::from_secs(2),
            limit: "tokens per minute".into(),
        },
    ];
    insta::assert_json_snapshot!(serialized(events.map(EventKind::from)));
}

#[test]
fn context_events() {
    let compacted = |method| ContextEvent::Compacted {
        method,
        tokens_before: 9,
        tokens_after: 4,
    };
    let events = [
        compacted(CompactionMethod::Prune),
        compacted(CompactionMethod::Summary),
        ContextEvent::CompactionFailed { fault: fault() },
    ];
    insta::assert_json_snapshot!(serialized(events.map(EventKind::from)));
}

#[test]
fn person_events() {
    let question = Question::new("a", 1, QuestionKind::Approval, "May I?");
    let events = [
        PersonEvent::Asked(Box::new(question.clone())),
        PersonEvent::Answered {
            question: question.id.clone(),
            answer: Box::new(Answer::approve()),
        },
        PersonEvent::Suspended(vec![question]),
    ];
    insta::assert_json_snapshot!(serialized(events.map(EventKind::from)));
}

#[test]
fn agent_events() {
    let events = [
        AgentEvent::PlanStep {
            plan: "p".into(),
            index: 1,
            status: "completed".into(),
            description: "Look".into(),
        },
        AgentEvent::Handoff {
            from: "helper".into(),
            to: "billing".into(),
        },
    ];
    insta::assert_json_snapshot!(serialized(events.map(EventKind::from)));
}

#[test]
fn turn_events() {
    let mut usage = UsageTracker::default();
    usage.record(Some(&Usage::new(1, 2)));
    let events = [
        TurnEvent::Started(vec![Arc::new(Message::user("Hi"))]),
        TurnEvent::BudgetReached {
            limit: "max_tool_turns".into(),
        },
        TurnEvent::Error(fault()),
        TurnEvent::Complete { usage: Box::new(usage) },
    ];
    insta::assert_json_snapshot!(serialized(events.map(EventKind::from)));
}

#[test]
fn extension_events() {
    insta::assert_json_snapshot!(serialized([
        Extension::new("flow.node_started", json!({"node": "a"})).into()
    ]));
}

/// Each event is moved several times, and most have little content.
#[test]
fn events_are_small() {
    assert!(size_of::<EventKind>() <= 136, "{}", size_of::<EventKind>());
}

#[test]
fn an_event_links_to_its_message_and_to_the_call_of_its_agent() {
    let event = StreamEvent::new(3, Arc::from("tester"), 0, 1, TextEvent::Text("Hi".into()))
        .with_message(Arc::from("12.0"))
        .with_parent(Arc::from("call_1"));
    let json = json!({
        "seq": 3, "agent": "tester", "turn": 0, "round": 1, "message": "12.0", "parent": "call_1",
        "kind": {"text": {"text": "Hi"}},
    });
    assert_eq!(serde_json::to_value(&event).unwrap(), json);
    assert_eq!(serde_json::from_value::<StreamEvent>(json).unwrap(), event);
    // Events that were written before these members existed.
    let old = r#"{"seq":0,"agent":"a","turn":0,"round":0,"kind":{"text":{"text":"Hi"}}}"#;
    let event: StreamEvent = serde_json::from_str(old).unwrap();
    assert_eq!((event.message, event.parent), (None, None));
}
