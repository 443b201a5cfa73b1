//! The events of calls that registered tools refuse, run, or wait with: only what runs is started.

use agcore_agent::{AgentBuilder, AgentTurn, StoredSessions};
use agcore_chat::{Answer, EventKind, PersonEvent, ToolCall, ToolEvent};
use agcore_testkit::{
    clock::ManualClock,
    scripted::{ScriptStep, ScriptedProvider},
};
use agcore_tools::{NoArguments, PermissionRules, Rule, RuleState, typed};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::stored::{ada, sessions, store};

#[derive(Deserialize, JsonSchema)]
struct Amount {
    #[allow(dead_code, reason = "only its type matters")]
    cents: u32,
}

/// Runs a turn, and returns its events about calls and people.
async fn events(turn: AgentTurn) -> Vec<String> {
    let (mut stream, mut lines) = (turn.stream(), Vec::new());
    while let Some(event) = stream.next().await {
        lines.extend(match event.kind {
            EventKind::Tool(ToolEvent::Requested { call_id, .. }) => Some(format!("requested {call_id}")),
            EventKind::Tool(ToolEvent::Started { call_id, .. }) => Some(format!("started {call_id}")),
            EventKind::Tool(ToolEvent::Completed { call_id, is_error, .. }) => {
                Some(format!("{} {call_id}", if is_error { "failed" } else { "completed" }))
            }
            EventKind::Person(PersonEvent::Asked(question)) => Some(format!("asked {}", question.call_id)),
            EventKind::Person(PersonEvent::Answered { .. }) => Some("answered".to_owned()),
            EventKind::Person(PersonEvent::Suspended(_)) => Some("suspended".to_owned()),
            _ => None,
        });
    }
    lines
}

#[tokio::test]
async fn calls_that_are_refused_never_start() {
    let calls = [
        ToolCall::function("unknown", "fly", "{}"),
        ToolCall::function("invalid", "refund", r#"{"cents": "all"}"#),
        ToolCall::function("forbidden", "erase", "{}"),
        ToolCall::function("allowed", "refund", r#"{"cents": 5}"#),
    ];
    let provider = ScriptedProvider::new([ScriptStep::calls(calls), ScriptStep::text("Done.")]);
    let refund = |_: Amount| async { Ok("refunded") };
    let erase = |_: NoArguments| async { Ok("erased") };
    let session = AgentBuilder::new()
        .with_provider(provider)
        .with_clock(ManualClock::jumping())
        .with_tool(typed("refund", "Refunds.", refund))
        .with_tool(typed("erase", "Erases.", erase))
        .with_permissions(PermissionRules::default().with_rule(Rule::tool(RuleState::Deny, "erase")))
        .build()
        .unwrap()
        .new_session();
    let mut found = events(session.turn("Go.")).await;
    let expected = [
        "requested unknown",
        "requested invalid",
        "requested forbidden",
        "requested allowed",
    ];
    assert_eq!(found.drain(..4).collect::<Vec<_>>(), expected);
    // Calls are checked side by side.
    found.sort();
    let expected = [
        "completed allowed",
        "failed forbidden",
        "failed invalid",
        "failed unknown",
        "started allowed",
        // The tool reads its arguments into a type, and finds that they do not fit.
        "started invalid",
    ];
    assert_eq!(found, expected);
}

fn paying() -> ScriptedProvider {
    let call = ToolCall::function("call_1", "pay", "{}");
    ScriptedProvider::new([ScriptStep::calls([call]), ScriptStep::text("Done.")])
}

/// Runs a turn until it waits for an approval, and continues it with an answer in another process.
async fn answered(sessions: &StoredSessions, answer: Answer) -> Vec<String> {
    let session = sessions.create("s", ada()).await.unwrap();
    assert_eq!(
        events(session.turn("Pay.")).await,
        ["requested call_1", "asked call_1", "suspended"]
    );
    drop(session);
    let session = sessions.open("s", ada()).await.unwrap();
    let question = session.questions().await[0].id.clone();
    events(session.resume([(question, answer)])).await
}

#[tokio::test]
async fn a_call_starts_when_a_person_approves_it_and_is_not_requested_again() {
    let found = answered(&sessions(&paying(), store()), Answer::approve()).await;
    assert_eq!(found, ["answered", "started call_1", "completed call_1"]);
}

#[tokio::test]
async fn a_call_that_a_person_denies_never_starts() {
    let found = answered(&sessions(&paying(), store()), Answer::deny("no")).await;
    assert_eq!(found, ["answered", "failed call_1"]);
}
