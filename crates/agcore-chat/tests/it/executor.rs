//! The JSON of questions, answers, outcomes and faults.

use std::time::Duration;

use agcore_chat::{
    Answer, ApprovalScope, Content, Fault, FaultKind, Question, QuestionKind, ToolCall, ToolOutcome, ToolResult,
    ToolWork,
};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};

#[track_caller]
fn check_json<T: Serialize + DeserializeOwned + PartialEq + std::fmt::Debug>(value: &T, expected: Value) {
    assert_eq!(serde_json::to_value(value).unwrap(), expected);
    assert_eq!(&serde_json::from_str::<T>(&expected.to_string()).unwrap(), value);
}

#[test]
fn questions_and_answers_round_trip() {
    let question = Question::new("a", 2, QuestionKind::Approval, "May I?");
    check_json(
        &question,
        json!({"id": "a?2", "call_id": "a", "kind": "approval", "prompt": "May I?"}),
    );
    let question = question
        .with_schema(json!({"type": "string"}))
        .with_state(json!({"deep": [0.1]}));
    let full = json!({"id": "a?2", "call_id": "a", "kind": "approval", "prompt": "May I?", "schema": {"type": "string"}, "state": {"deep": [0.1]}});
    check_json(&question, full.clone());
    check_json(&Answer::approve(), json!({"approve": {"scope": "once"}}));
    assert_eq!(
        serde_json::from_value::<Answer>(json!({"approve": {}})).unwrap(),
        Answer::approve()
    );
    let arguments = serde_json::Map::from_iter([("b".to_owned(), json!(1))]);
    let edited = Answer::edited(arguments).with_scope(ApprovalScope::Always);
    check_json(&edited, json!({"approve": {"arguments": {"b": 1}, "scope": "always"}}));
    check_json(&Answer::deny("no"), json!({"deny": {"message": "no"}}));
    check_json(&Answer::Value(Value::Null), json!({"value": null}));
    let call = ToolCall::function("a", "f", "{}");
    let call_json = serde_json::to_value(&call).unwrap();
    check_json(&ToolWork::new(call.clone()), json!({"call": call_json}));
    check_json(
        &ToolWork::resumed(call, question, Answer::deny("no")),
        json!({"call": call_json, "resumed": [full, {"deny": {"message": "no"}}]}),
    );
}

#[test]
fn outcomes_round_trip() {
    check_json(&ToolOutcome::done("ok"), json!({"done": {"content": "ok"}}));
    check_json(
        &ToolOutcome::error("bad"),
        json!({"done": {"content": "bad", "is_error": true}}),
    );
    let shown = ToolResult::new(Content::Parts(vec!["a".into()])).with_display(json!({"chart": 1}));
    check_json(
        &ToolOutcome::Done(shown),
        json!({"done": {"content": [{"type": "text", "text": "a"}], "display": {"chart": 1}}}),
    );
    check_json(
        &ToolOutcome::Divert {
            content: "over".into(),
            data: json!({"to": "b"}),
        },
        json!({"divert": {"content": "over", "data": {"to": "b"}}}),
    );
    let fault = Fault::new(FaultKind::Tool, "gone");
    check_json(
        &ToolOutcome::Fatal(fault),
        json!({"fatal": {"kind": "tool", "message": "gone", "retryable": false}}),
    );
}

#[test]
fn retry_delays_are_rounded_up_to_milliseconds() {
    let check = |wait: Duration, millis: u64| {
        let fault = Fault::new(FaultKind::RateLimit, "slow down; wait")
            .with_retryable(true)
            .with_retry_after(Some(wait))
            .with_status(Some(429))
            .with_request_id(Some("req_1".into()));
        let expected = json!({"kind": "rate_limit", "message": "slow down; wait", "retryable": true, "retry_after_ms": millis, "status": 429, "request_id": "req_1"});
        check_json(&fault, expected);
    };
    check(Duration::from_millis(1500), 1500);
    check(Duration::from_micros(1), 1);
    check(Duration::from_nanos(1_234_567), 2);
    check(Duration::ZERO, 0);
    let longest = Fault::new(FaultKind::RateLimit, "x").with_retry_after(Some(Duration::MAX));
    assert_eq!(longest.retry_after, Some(Duration::from_millis(u64::MAX)));
}

#[test]
fn kinds_have_the_same_name_everywhere() {
    use FaultKind as K;
    for kind in [
        K::Auth,
        K::Permission,
        K::NotFound,
        K::InvalidRequest,
        K::InvalidToolCall,
        K::ContextLength,
        K::ContentFilter,
        K::RateLimit,
        K::Quota,
        K::Overloaded,
        K::Server,
        K::Timeout,
        K::Connection,
        K::Truncated,
        K::Malformed,
        K::Unknown,
        K::Cancelled,
        K::HookBlocked,
        K::Tool,
        K::Limit,
        K::Storage,
    ] {
        check_json(&kind, json!(kind.as_str()));
        assert_eq!(kind.to_string(), kind.as_str());
    }
}
