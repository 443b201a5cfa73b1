//! Tools that misbehave: the results that the model sees, and a conversation that continues.

use std::future;

use agcore_agent::{AgentBuilder, AgentConfig, AgentSession, AgentSpec};
use agcore_chat::{ToolCall, validate_messages};
use agcore_cycle::machine::Limits;
use agcore_testkit::{
    clock::ManualClock,
    scripted::{ScriptStep, ScriptedProvider},
};
use agcore_tools::{BaseTool, NoArguments, ToolError, ToolRegistry, typed};

/// The size of a huge result: ten megabytes.
const FLOOD: usize = 10 * 1024 * 1024;

/// The limit of a result.
const LIMIT: usize = 1_000;

fn session(tool: impl BaseTool + 'static, provider: &ScriptedProvider) -> AgentSession {
    let tools = ToolRegistry::new();
    tools.register(tool).unwrap();
    let well = typed("well", "Behaves.", |_: NoArguments| async { Ok("well done") });
    tools.register(well).unwrap();
    let config = AgentConfig::new().with_limits(Limits::new().with_max_tool_result_bytes(LIMIT));
    let builder = AgentBuilder::new()
        .with_provider(provider.clone())
        .with_clock(ManualClock::jumping())
        .with_tools(tools)
        .with_config(config);
    builder.build().unwrap().session("s-1", AgentSpec::new("ada", ""))
}

/// Runs a turn in which the model calls the tool next to a well-behaved one, then another turn. Returns the result of the
/// tool.
async fn result_of(tool: impl BaseTool + 'static, arguments: &str) -> String {
    let provider = ScriptedProvider::new([
        ScriptStep::calls([
            ToolCall::function("c1", "bad", arguments),
            ToolCall::function("c2", "well", "{}"),
        ]),
        ScriptStep::text("I see."),
        ScriptStep::text("Still here."),
    ]);
    let session = session(tool, &provider);
    let outcome = session.turn("Go").await.unwrap();
    assert_eq!(outcome.text(), "I see.");
    let history = session.messages().await;
    validate_messages(&history).unwrap();
    assert_eq!(history.len(), 5, "{history:?}");
    assert_eq!(history[3].text(), "well done", "the neighbour is not harmed");

    let outcome = session.turn("Are you there?").await.unwrap();
    assert_eq!(outcome.text(), "Still here.");
    validate_messages(&session.messages().await).unwrap();
    let sent = &provider.requests()[1].messages;
    assert_eq!(
        sent[2].text(),
        history[2].text(),
        "what is kept is what the model was result"
    );
    history[2].text().into_owned()
}

#[tokio::test]
async fn survives_a_tool_that_panics() {
    let panics = typed("bad", "Panics.", |_: NoArguments| async move {
        let empty: Vec<u8> = Vec::new();
        Ok(empty[usize::from(empty.is_empty())])
    });
    let result = result_of(panics, "{}").await;
    assert_eq!(
        result,
        "bad failed because of a bug in the tool itself; continue without it"
    );
}

#[tokio::test]
async fn survives_a_tool_that_hangs() {
    let hangs = typed("bad", "Hangs.", |_: NoArguments| {
        future::pending::<Result<u8, ToolError>>()
    });
    let result = result_of(hangs, "{}").await;
    assert_eq!(
        result,
        "bad did not finish within 60s and was stopped; its effects, if any, are unknown"
    );
}

#[tokio::test]
async fn truncates_a_huge_result() {
    let floods = typed("bad", "Floods.", |_: NoArguments| async { Ok("x".repeat(FLOOD)) });
    let result = result_of(floods, "{}").await;
    let (shown, note) = result.split_once('\n').unwrap();
    assert!(result.len() <= LIMIT && shown.len() > LIMIT / 2, "{}", result.len());
    assert_eq!(
        note,
        format!(
            "[truncated: the first {} of {FLOOD} bytes; request less at a time]",
            shown.len()
        )
    );
}

#[tokio::test]
async fn rejects_arguments_that_are_not_json() {
    let fine = || typed("bad", "Is fine.", |_: NoArguments| async { Ok("it ran") });
    for (arguments, why) in [
        (
            r#"{"a": "#,
            "the arguments of bad are not valid JSON: EOF while parsing a value at line 1 column 6",
        ),
        (
            "please",
            "the arguments of bad are not valid JSON: expected value at line 1 column 1",
        ),
        ("[1]", "the arguments of bad are an array, but must be one JSON object"),
    ] {
        let result = result_of(fine(), arguments).await;
        assert!(result.contains(why), "{result}");
    }
}

#[tokio::test]
async fn keeps_arguments_verbatim_in_the_history() {
    let provider = ScriptedProvider::new([
        ScriptStep::calls([ToolCall::function("c1", "well", r#"{"a": "#)]),
        ScriptStep::text("I see."),
    ]);
    let fine = typed("bad", "Is fine.", |_: NoArguments| async { Ok(1) });
    let session = session(fine, &provider);
    session.turn("Go").await.unwrap();
    let history = session.messages().await;
    let calls: Vec<&str> = history[1]
        .as_assistant()
        .unwrap()
        .tool_calls()
        .map(ToolCall::raw_input)
        .collect();
    assert_eq!(calls, [r#"{"a": "#]);
}

#[tokio::test]
async fn a_repeated_mistake_ends_the_turn_but_not_the_session() {
    let broken = || ScriptStep::calls([ToolCall::function("c1", "gone", "{}")]);
    let provider = ScriptedProvider::new([broken(), broken(), ScriptStep::text("Sorry.")]);
    let fine = typed("bad", "Is fine.", |_: NoArguments| async { Ok(1) });
    let session = session(fine, &provider);
    let error = session.turn("Go").await.unwrap_err();
    assert!(error.to_string().contains("there is no tool named \"gone\""), "{error}");
    validate_messages(&session.messages().await).unwrap();
    let outcome = session.turn("Go on").await.unwrap();
    assert_eq!(outcome.text(), "Sorry.");
    validate_messages(&session.messages().await).unwrap();
}

#[test]
fn a_list_of_tools_is_added_and_one_that_is_there_already_is_reported() {
    let tool = |name: &str| typed(name, "Behaves.", |_: NoArguments| async { Ok("done") });
    let text = typed(
        "text",
        "Returns its argument.",
        |args: serde_json::Map<String, serde_json::Value>| async move { Ok(args) },
    );
    let builder = || {
        AgentBuilder::new()
            .with_provider(ScriptedProvider::new([]))
            .with_tool(tool("a"))
    };
    assert!(
        builder()
            .with_tools(agcore_tools::tools![tool("b"), text])
            .build()
            .is_ok()
    );
    let error = builder().with_tools(["b", "a"].map(tool)).build().unwrap_err();
    assert!(error.to_string().contains("\"a\" is already registered"), "{error}");
}
