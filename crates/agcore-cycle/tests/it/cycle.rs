//! The agent loop: whole and streamed turns, errors, limits, cancellation.

use std::sync::Arc;

use agcore_chat::{AssistantMessage, FaultKind, FinishReason, Message, ToolOutcome, Usage, validate_messages};
use agcore_cycle::{CycleErrorKind, LlmCycle, TurnOptions, TurnOutcome, machine::Begin};
use agcore_llm::{Call, LlmError, LlmErrorKind, LlmProvider, ReplyStream};
use agcore_testkit::{
    clock::ManualClock,
    scripted::{ScriptStep, ScriptedProvider},
};
use futures_util::{FutureExt, stream};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::support::{FnExecutor, NeverExecutor, assistant, call, cycle, event_name, lines};

fn server_error() -> LlmError {
    LlmError::new(LlmErrorKind::Server, "the server failed")
}

#[tokio::test]
async fn remembers_earlier_turns() {
    let provider = ScriptedProvider::new([ScriptStep::text("Hi Ada."), ScriptStep::text("Ada.")]);
    let mut cycle = cycle(&provider);
    cycle.turn("I am Ada.").await.unwrap();
    let outcome = cycle.turn("Who am I?").await.unwrap();
    assert_eq!(outcome.text(), "Ada.");
    let sent: Vec<String> = provider.requests()[1]
        .messages
        .iter()
        .map(|message| message.text().into_owned())
        .collect();
    assert_eq!(sent, ["I am Ada.", "Hi Ada.", "Who am I?"]);
    assert_eq!(cycle.usage().usage.total(), Some(30));
    assert_eq!(cycle.usage().calls, 2);
}

#[tokio::test]
async fn runs_tool_rounds_until_the_model_answers() {
    let provider = ScriptedProvider::new([
        ScriptStep::calls([call("a", "add", r#"{"x":1}"#), call("b", "add", "")]),
        // The calls matter, not the finish reason.
        ScriptStep::message(assistant([call("c", "add", "{}")]), FinishReason::Stop),
        ScriptStep::text("Done."),
    ]);
    let mut cycle = cycle(&provider);
    let outcome = cycle.turn("Go").with_tools(FnExecutor::echo(&["add"])).await.unwrap();
    let report = outcome.report().unwrap();
    assert_eq!(
        (outcome.text().as_ref(), report.rounds, report.usage.calls),
        ("Done.", 2, 3)
    );
    let expected = [
        "user: Go",
        "assistant: ",
        r#"tool: {"x":1}"#,
        "tool: ",
        "assistant: ",
        "tool: {}",
        "assistant: Done.",
    ];
    assert_eq!(lines(&cycle), expected);
    let Message::Tool(result) = &*cycle.messages()[2] else {
        panic!("not a tool result")
    };
    assert_eq!(result.tool_call_id, "a", "a result refers to its call");
    provider.assert_done();
}

#[tokio::test]
async fn whole_and_streamed_turns_end_in_the_same_state() {
    let steps = || {
        [
            ScriptStep::calls([call("a", "add", "{}")]),
            ScriptStep::text("One two three."),
        ]
    };
    let mut whole = cycle(&ScriptedProvider::new(steps()));
    whole.turn("Go").with_tools(FnExecutor::echo(&["add"])).await.unwrap();
    let provider = ScriptedProvider::new(steps());
    let mut streamed = cycle(&provider);
    let outcome = streamed
        .turn("Go")
        .with_tools(FnExecutor::echo(&["add"]))
        .stream()
        .finish()
        .await
        .unwrap();
    assert_eq!(outcome.text(), "One two three.");
    assert_eq!(streamed.machine(), whole.machine());
}

#[tokio::test]
async fn emits_events_in_order() {
    let provider = ScriptedProvider::new([
        ScriptStep::calls([call("a", "add", "{}")]),
        ScriptStep::text("One two."),
    ]);
    let mut cycle = cycle(&provider);
    let mut turn = cycle.turn("Go").with_tools(FnExecutor::echo(&["add"])).stream();
    let mut events = Vec::new();
    while let Some(event) = turn.next().await {
        assert_eq!(event.seq, events.len() as u64);
        events.push(format!("{} {}", event.round, event_name(&event)));
    }
    let expected = [
        "0 turn.started",
        "0 text.tool_arguments",
        "0 text.message_complete",
        "0 model.usage",
        "0 tool.requested",
        "0 tool.started",
        "0 tool.completed",
        "1 text.text",
        "1 text.text",
        "1 text.message_complete",
        "1 model.usage",
        "1 turn.complete",
    ];
    assert_eq!(events, expected);
    turn.finish().await.unwrap();
}

#[tokio::test]
async fn a_failed_turn_keeps_the_history_and_the_full_error() {
    let provider = ScriptedProvider::new([
        ScriptStep::text("Hi."),
        ScriptStep::text("half of it").then_error(server_error()),
        ScriptStep::text("Fine."),
    ]);
    let mut cycle = cycle(&provider);
    cycle.turn("Hello").await.unwrap();
    let error = cycle.turn("Again").await.unwrap_err();
    assert_eq!(error.llm_error().unwrap().kind(), LlmErrorKind::Server);
    assert_eq!(error.partial().unwrap().text(), "half of it");
    assert_eq!(lines(&cycle), ["user: Hello", "assistant: Hi."]);
    assert_eq!(
        (cycle.usage().calls, cycle.usage().calls_with_usage),
        (2, 1),
        "a partial answer counts as a call"
    );
    cycle.turn("Again").await.unwrap();
    assert_eq!(lines(&cycle).len(), 4);
}

#[tokio::test]
async fn a_stream_without_an_end_is_an_error() {
    let mut cycle = cycle(&ScriptedProvider::new([ScriptStep::text("half").then_cut()]));
    let error = cycle.turn("Hello").await.unwrap_err();
    assert_eq!(error.llm_error().unwrap().kind(), LlmErrorKind::Truncated);
    assert!(cycle.messages().is_empty());
}

#[tokio::test]
async fn a_list_of_messages_replaces_the_history() {
    let provider = ScriptedProvider::new([
        ScriptStep::text("One."),
        ScriptStep::text("Two."),
        ScriptStep::error(server_error()),
    ]);
    let mut cycle = cycle(&provider);
    cycle.turn("Old").await.unwrap();
    let messages = vec![Arc::new(Message::system("S")), Arc::new(Message::user("New"))];
    cycle.turn(messages.clone()).await.unwrap();
    assert_eq!(provider.requests()[1].messages, messages);
    assert_eq!(lines(&cycle), ["system: S", "user: New", "assistant: Two."]);
    let error = cycle.turn(Vec::<Message>::new()).await.unwrap_err();
    assert_eq!(error.kind(), CycleErrorKind::InvalidInput);
    cycle.turn(messages).await.unwrap_err();
    assert_eq!(
        lines(&cycle),
        ["system: S", "user: New", "assistant: Two."],
        "a failed turn keeps the history"
    );
}

#[tokio::test]
async fn the_round_limit_keeps_the_history() {
    let rounds = (0..3).map(|n| ScriptStep::calls([call(&format!("c{n}"), "add", "{}")]));
    let provider = ScriptedProvider::new(rounds);
    let mut cycle = cycle(&provider);
    let limits = agcore_cycle::machine::Limits::new().with_max_tool_turns(2);
    cycle = cycle.with_settings(agcore_cycle::CycleSettings::new().with_limits(limits));
    let error = cycle
        .turn("Go")
        .with_tools(FnExecutor::echo(&["add"]))
        .await
        .unwrap_err();
    assert_eq!(error.kind(), CycleErrorKind::LimitReached);
    assert!(error.to_string().contains("max_tool_turns"), "{error}");
    assert_eq!(cycle.messages().len(), 7);
    validate_messages(cycle.messages()).unwrap();
    provider.assert_done();
}

/// A provider whose replies never end, and that does not watch its token.
#[derive(Debug)]
struct Deaf;

impl LlmProvider for Deaf {
    fn open(&self, _: Call) -> ReplyStream {
        ReplyStream::new(stream::pending())
    }
}

#[tokio::test]
async fn a_token_cancels_a_provider_that_ignores_it() {
    let token = CancellationToken::new();
    let mut cycle = LlmCycle::new(Deaf, ManualClock::new());
    let mut turn = Box::pin(cycle.turn("Hello").with_token(token.clone()).run());
    assert!((&mut turn).now_or_never().is_none());
    token.cancel();
    assert_eq!(turn.await.unwrap_err().kind(), CycleErrorKind::Cancelled);
}

#[tokio::test]
async fn a_token_cancels_the_model_and_the_tools() {
    let token = CancellationToken::new();
    let provider = ScriptedProvider::new([
        ScriptStep::text("half").then_hang(),
        ScriptStep::calls([call("a", "wait", "{}")]),
        ScriptStep::text("Fine."),
    ]);
    let mut cycle = cycle(&provider);
    let options = TurnOptions::new().with_token(token.clone());
    let mut turn = cycle
        .turn(Begin::new([Message::user("Hello")]))
        .with_options(options)
        .stream();
    while let Some(event) = turn.next().await {
        if event_name(&event) == "text.text" {
            token.cancel();
        }
    }
    assert_eq!(turn.finish().await.unwrap_err().kind(), CycleErrorKind::Cancelled);
    assert!(cycle.messages().is_empty());

    let token = CancellationToken::new();
    let options = TurnOptions::new()
        .with_token(token.clone())
        .with_tools(Arc::new(NeverExecutor));
    let mut turn = cycle
        .turn(Begin::new([Message::user("Hello")]))
        .with_options(options)
        .stream();
    while let Some(event) = turn.next().await {
        if event_name(&event) == "tool.started" {
            token.cancel();
        }
    }
    assert_eq!(turn.finish().await.unwrap_err().kind(), CycleErrorKind::Cancelled);
    validate_messages(cycle.messages()).unwrap();
    assert!(
        lines(&cycle)[2].contains("outcome of this call is unknown"),
        "{:?}",
        lines(&cycle)
    );
    cycle.turn("Go on").await.unwrap();
}

#[tokio::test]
async fn the_next_turn_closes_a_dropped_one() {
    let provider = ScriptedProvider::new([ScriptStep::calls([call("a", "wait", "{}")]), ScriptStep::text("Fine.")]);
    let mut cycle = cycle(&provider);
    {
        let mut turn = cycle.turn("Hello").with_tools(Arc::new(NeverExecutor)).stream();
        while let Some(event) = turn.next().await {
            if event_name(&event) == "tool.started" {
                break;
            }
        }
    }
    assert!(cycle.machine().is_open());
    cycle.turn("Go on").await.unwrap();
    validate_messages(cycle.messages()).unwrap();
    assert_eq!(lines(&cycle).last().unwrap(), "assistant: Fine.");
}

#[tokio::test]
async fn a_handoff_ends_the_turn_without_an_error() {
    let provider = ScriptedProvider::new([ScriptStep::calls([call("a", "add", "{}")])]);
    let divert = |_: &agcore_chat::ToolWork| ToolOutcome::Divert {
        content: "over to Bo".into(),
        data: Value::from("bo"),
    };
    let mut cycle = cycle(&provider);
    let outcome = cycle
        .turn("Go")
        .with_tools(FnExecutor::new(&["add"], divert))
        .await
        .unwrap();
    let TurnOutcome::Diverted { call, data } = outcome else {
        panic!("not diverted")
    };
    assert_eq!((call.as_str(), data), ("a", Value::from("bo")));
    validate_messages(cycle.messages()).unwrap();
}

#[tokio::test]
async fn a_fatal_tool_ends_the_turn_with_its_fault() {
    let provider = ScriptedProvider::new([ScriptStep::calls([call("a", "add", "{}")])]);
    let fatal =
        |_: &agcore_chat::ToolWork| ToolOutcome::Fatal(agcore_chat::Fault::new(FaultKind::Tool, "the server is gone"));
    let mut cycle = cycle(&provider);
    let error = cycle
        .turn("Go")
        .with_tools(FnExecutor::new(&["add"], fatal))
        .await
        .unwrap_err();
    assert_eq!(
        (error.kind(), error.message()),
        (CycleErrorKind::ToolFailure, "the server is gone")
    );
    validate_messages(cycle.messages()).unwrap();
}

#[tokio::test]
async fn usage_counts_every_round_with_its_details() {
    let mut usage = Usage::new(100, 20);
    usage.prompt_tokens_details.cached_tokens = Some(60);
    usage.completion_tokens_details.reasoning_tokens = Some(5);
    let step = |message: AssistantMessage| {
        let choice = agcore_chat::Choice {
            message,
            finish_reason: Some(FinishReason::Stop),
            ..Default::default()
        };
        let usage = Some(usage.clone());
        ScriptStep::response(agcore_chat::ChatResponse {
            choices: vec![choice],
            usage,
            ..Default::default()
        })
    };
    let provider = ScriptedProvider::new([
        step(assistant([call("a", "add", "{}")])),
        step(AssistantMessage::new("Done.")),
    ]);
    let mut cycle = cycle(&provider);
    let outcome = cycle.turn("Go").with_tools(FnExecutor::echo(&["add"])).await.unwrap();
    let total = &outcome.report().unwrap().usage.usage;
    assert_eq!(
        (total.prompt_tokens, total.cached(), total.reasoning()),
        (Some(200), Some(120), Some(10))
    );
}
