//! Typed output in a session: with tools, streamed, and after failures.

use agcore_agent::{AgentBuilder, AgentErrorKind, AgentSession, AgentSpec};
use agcore_chat::{EventKind, Message, TextEvent, ToolCall};
use agcore_cycle::{Output, TurnInput, TypedOptions, machine::Begin};
use agcore_testkit::scripted::{ScriptStep, ScriptedProvider};
use agcore_tools::{ToolRegistry, typed};
use schemars::JsonSchema;
use serde::Deserialize;
use tokio_util::sync::CancellationToken;

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
struct City {
    name: String,
}

#[derive(Deserialize, JsonSchema)]
struct Nothing {}

const OSLO: &str = r#"{"name": "Oslo"}"#;

fn session(model: &ScriptedProvider) -> AgentSession {
    let tools = ToolRegistry::new();
    tools
        .register(typed("capital", "The capital.", |_: Nothing| async {
            Ok("Oslo".to_owned())
        }))
        .unwrap();
    let bundle = AgentBuilder::new()
        .with_provider(model.clone())
        .with_tools(tools)
        .build()
        .unwrap();
    bundle.session("s", AgentSpec::new("guide", "You know capitals."))
}

#[tokio::test]
async fn returns_values() {
    let model = ScriptedProvider::new([
        ScriptStep::calls([ToolCall::function("1", "capital", "{}")]),
        ScriptStep::text(OSLO),
    ]);
    let session = session(&model);
    let outcome = session.turn("The capital of Norway?").typed::<City>().await.unwrap();
    assert_eq!(outcome.value(), Some(&City { name: "Oslo".into() }));
    assert_eq!(session.messages().await[2].text(), "Oslo", "the tool ran");
    assert_eq!(session.usage().await.calls, 2);
}

#[tokio::test]
async fn streams_values() {
    let model = ScriptedProvider::new([ScriptStep::text(OSLO)]);
    let begin: TurnInput = Begin::new([Message::user("And?")]).into();
    let output = Output::<City>::new(TypedOptions::new());
    let mut turn = session(&model)
        .turn(begin)
        .with_token(CancellationToken::new())
        .typed_as(output)
        .stream();
    let mut parts = 0;
    while let Some(event) = turn.next().await {
        parts += u32::from(matches!(event.kind, EventKind::Text(TextEvent::PartialObject(_))));
    }
    assert!(parts > 0);
    assert!(turn.finish().await.unwrap().value().is_some());
}

#[tokio::test]
async fn stays_usable_after_values_that_never_fit() {
    let model = ScriptedProvider::new((0..3).map(|_| ScriptStep::text("{}")));
    let session = session(&model);
    let error = session.turn("And?").typed::<City>().await.unwrap_err();
    assert_eq!(error.kind(), AgentErrorKind::InvalidOutput);
    model.push(ScriptStep::text("Oslo."));
    assert_eq!(session.turn("In words?").await.unwrap().text(), "Oslo.");
}
