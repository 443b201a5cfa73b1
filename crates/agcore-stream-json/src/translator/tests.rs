//! Events of turns and the lines they become.

use std::sync::Arc;

use agcore_chat::{AnsweredBy, CompactionMethod, ContextEvent, Fault, FaultKind, Progress, ToolCall, UsageTracker};
use serde_json::json;

use super::*;

fn translator() -> Translator {
    let mut translator = Translator::new(false);
    translator.answered_by("openai", "small");
    translator
}

/// Translates events and returns the lines as JSON.
fn lines(translator: &mut Translator, kinds: impl IntoIterator<Item = EventKind>) -> Vec<Value> {
    let events = kinds.into_iter().flat_map(|kind| translator.event("helper", &kind));
    events.map(|event| serde_json::to_value(event).unwrap()).collect()
}

fn types(lines: &[Value]) -> Vec<&str> {
    lines.iter().map(|line| line["type"].as_str().unwrap()).collect()
}

fn delta(text: &str) -> EventKind {
    TextEvent::Text(text.into()).into()
}

fn message(message: AssistantMessage) -> EventKind {
    TextEvent::MessageComplete(Arc::new(message)).into()
}

fn usage(input: u64, output: u64) -> EventKind {
    ModelEvent::Usage(Box::new(Usage::new(input, output))).into()
}

fn complete() -> EventKind {
    TurnEvent::Complete {
        usage: Box::new(UsageTracker::default()),
    }
    .into()
}

fn requested(id: &str) -> EventKind {
    ToolEvent::Requested {
        call_id: id.into(),
        name: "add".into(),
        input: "{\"a\":1}".into(),
    }
    .into()
}

fn started(id: &str) -> EventKind {
    ToolEvent::Started {
        call_id: id.into(),
        name: "add".into(),
    }
    .into()
}

fn completed(id: &str, is_error: bool) -> EventKind {
    ToolEvent::Completed {
        call_id: id.into(),
        name: "add".into(),
        input: "{\"a\":1}".into(),
        output: "2".into(),
        is_error,
        duration: Duration::from_millis(3),
        display: None,
    }
    .into()
}

#[test]
fn only_the_last_message_is_final() {
    let mut translator = translator();
    let calling = AssistantMessage::new("Let me see.").with_call(ToolCall::function("c1", "add", "{\"a\":1}"));
    let found = lines(
        &mut translator,
        [
            TurnEvent::Started(vec![Arc::new(ChatMessage::user("1 + 1?"))]).into(),
            delta("Let me see."),
            message(calling),
            usage(10, 5),
            requested("c1"),
            started("c1"),
            completed("c1", false),
            delta("It is 2."),
            message(AssistantMessage::new("It is 2.")),
            usage(20, 4),
            complete(),
        ],
    );
    let expected = [
        "turn_start",
        "message",
        "message",
        "usage",
        "tool_use",
        "tool_start",
        "tool_result",
        "message",
        "usage",
        "turn_end",
    ];
    assert_eq!(types(&found), expected);
    let messages: Vec<_> = found.iter().filter(|line| line["type"] == "message").collect();
    assert_eq!(messages[0]["role"], "user");
    assert_eq!(
        (&messages[1]["text"], &messages[1]["final"]),
        (&json!("Let me see."), &json!(false))
    );
    assert_eq!(
        (&messages[2]["text"], &messages[2]["final"]),
        (&json!("It is 2."), &json!(true))
    );
    assert_eq!(found[4]["input"], json!({"a": 1}));
    assert_eq!((&found[5]["id"], &found[6]["status"]), (&json!("c1"), &json!("ok")));
    assert_eq!(translator.summary.text.as_deref(), Some("It is 2."));
}

#[test]
fn a_message_that_the_turn_goes_on_after_is_not_final() {
    let found = lines(
        &mut translator(),
        [
            message(AssistantMessage::new("first")),
            usage(1, 1),
            delta("second"),
            message(AssistantMessage::new("second")),
            complete(),
        ],
    );
    assert_eq!(types(&found), ["message", "usage", "message", "usage", "turn_end"]);
    assert_eq!((&found[0]["final"], &found[2]["final"]), (&json!(false), &json!(true)));
    // The server did not report the second usage.
    assert_eq!((&found[1]["input"], &found[3]["input"]), (&json!(1), &Value::Null));
}

#[test]
fn deltas_are_included_on_request_and_followed_by_the_whole() {
    let kinds = || {
        [
            EventKind::from(TextEvent::Reasoning("Hm.".into())),
            delta("Hel"),
            delta("lo"),
            message(AssistantMessage::new("Hello").with_reasoning(agcore_chat::Reasoning::new("Hm."))),
            usage(1, 1),
            requested("c"),
            started("c"),
            ToolEvent::Progress {
                call_id: "c".into(),
                progress: Box::new(Progress::message("half")),
            }
            .into(),
        ]
    };
    let mut partial = Translator::new(true);
    assert_eq!(
        types(&lines(&mut partial, kinds())),
        [
            "reasoning_delta",
            "message_delta",
            "message_delta",
            "reasoning",
            "message",
            "usage",
            "tool_use",
            "tool_start",
            "tool_output_delta"
        ]
    );
    assert_eq!(
        types(&lines(&mut translator(), kinds())),
        ["reasoning", "message", "usage", "tool_use", "tool_start"]
    );
}

#[test]
fn a_broken_reply_keeps_its_part() {
    let mut translator = translator();
    let found = lines(
        &mut translator,
        [
            delta("word1 word2"),
            TurnEvent::Error(Fault::new(FaultKind::Truncated, "cut")).into(),
            complete(),
        ],
    );
    assert_eq!(types(&found), ["message", "turn_end"]);
    assert_eq!(
        (&found[0]["partial"], &found[0]["final"]),
        (&json!(true), &json!(false))
    );
    assert_eq!(translator.summary.text.as_deref(), Some("word1 word2"));
}

#[test]
fn a_restarted_reply_discards_its_part() {
    let fault = Fault::new(FaultKind::Truncated, "cut");
    let found = lines(
        &mut translator(),
        [
            delta("wrong"),
            ModelEvent::StreamRestarted { fault: fault.clone() }.into(),
            ModelEvent::RetryScheduled {
                attempt: 1,
                delay: Duration::from_millis(500),
                fault,
            }
            .into(),
            delta("right"),
            message(AssistantMessage::new("right")),
            complete(),
        ],
    );
    assert_eq!(types(&found), ["retry", "retry", "message", "usage", "turn_end"]);
    assert_eq!(
        (&found[0]["restarted"], &found[0]["attempt"]),
        (&json!(true), &Value::Null)
    );
    assert_eq!((&found[1]["attempt"], &found[1]["delay_ms"]), (&json!(2), &json!(500)));
    assert_eq!(found[2]["text"], "right");
}

#[test]
fn calls_end_as_they_were_decided() {
    let mut translator = translator();
    translator.fate("denied", Fate::Denied("a rule".into()));
    translator.fate("cancelled", Fate::Interrupted);
    let calls = ["denied", "cancelled", "failed", "open"];
    let mut kinds: Vec<EventKind> = calls.into_iter().map(requested).collect();
    kinds.extend(calls[..3].iter().map(|id| completed(id, true)));
    kinds.push(complete());
    let found = lines(&mut translator, kinds);
    let status: Vec<&Value> = found[4..8].iter().map(|line| &line["status"]).collect();
    assert_eq!(status, ["denied", "interrupted", "error", "interrupted"]);
    assert_eq!(found[7]["output"], Value::Null);
    translator.cancel();
    let found = lines(&mut translator, [requested("dropped"), completed("dropped", true)]);
    assert_eq!(found[1]["status"], "interrupted");
    let denial = &translator.summary.denials[0];
    assert_eq!((denial.id.as_str(), denial.reason.as_str()), ("denied", "a rule"));
}

#[test]
fn an_approval_follows_its_call() {
    let mut translator = translator();
    let asked = Event::ApprovalRequest(crate::ApprovalRequest {
        id: "c1".into(),
        name: "add".into(),
        input: json!({}),
        reason: "a rule".into(),
    });
    assert!(translator.approval("c1", asked.clone()).is_empty());
    assert_eq!(
        types(&lines(&mut translator, [requested("c1")])),
        ["tool_use", "approval_request"]
    );
    assert_eq!(translator.approval("c1", asked).len(), 1);
}

#[test]
fn usage_names_the_model_that_answered() {
    let mut translator = translator();
    let found = lines(
        &mut translator,
        [
            ModelEvent::AnsweredBy(AnsweredBy::new("anthropic", "large")).into(),
            message(AssistantMessage::new("hi")),
            usage(7, 2),
            ContextEvent::Compacted {
                method: CompactionMethod::Summary,
                tokens_before: 900,
                tokens_after: 300,
            }
            .into(),
            TurnEvent::BudgetReached {
                limit: "max_tool_turns".into(),
            }
            .into(),
        ],
    );
    assert_eq!(types(&found), ["message", "usage", "compaction"]);
    assert_eq!(
        (&found[1]["provider"], &found[1]["model"]),
        (&json!("anthropic"), &json!("large"))
    );
    assert_eq!(found[2]["method"], "summary");
    assert_eq!(translator.summary.limit.as_deref(), Some("max_tool_turns"));
}

#[test]
fn sub_agents_show_their_calls_within_the_call_that_asked_them() {
    let mut translator = translator();
    lines(&mut translator, [requested("ask"), started("ask")]);
    let nested = [
        requested("inner"),
        started("inner"),
        delta("hidden"),
        completed("inner", false),
        usage(5, 2),
    ];
    let events = nested.iter().flat_map(|kind| translator.sub_agent_event("ask", kind));
    let nested: Vec<_> = events.map(|event| serde_json::to_value(event).unwrap()).collect();
    assert_eq!(types(&nested), ["tool_use", "tool_start", "tool_result", "usage"]);
    assert_eq!(nested[0]["parent_id"], "ask");
    let rest = lines(
        &mut translator,
        [
            completed("ask", false),
            message(AssistantMessage::new("done")),
            complete(),
        ],
    );
    assert_eq!(rest[1]["text"], "done");
}
