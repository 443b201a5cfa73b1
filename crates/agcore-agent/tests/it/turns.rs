//! Turns as text streams, tokens that cancel them, and the short way to a session.

use agcore_agent::{AgentErrorKind, agent};
use agcore_llm::{LlmError, LlmErrorKind};
use agcore_testkit::scripted::{ScriptStep, ScriptedProvider};
use agcore_tools::{NoArguments, typed};
use tokio_util::sync::CancellationToken;

#[tokio::test]
async fn a_text_stream_ends_with_its_outcome() {
    let session = agent(ScriptedProvider::new([ScriptStep::text("Good day.")]))
        .session()
        .unwrap();
    let mut text = session.turn("Hello").text_stream();
    let mut answer = String::new();
    assert!(text.outcome().is_none());
    while let Some(piece) = text.next().await {
        answer.push_str(&piece.unwrap());
    }
    assert_eq!(text.outcome().unwrap().text(), answer);
}

#[tokio::test]
async fn a_text_stream_reports_a_failure_once_and_ends() {
    let broken = ScriptStep::text("Good").then_error(LlmError::new(LlmErrorKind::Server, "no"));
    let session = agent(ScriptedProvider::new([broken])).session().unwrap();
    let mut text = session.turn("Hello").text_stream();
    let mut answer = String::new();
    let error = loop {
        match text.next().await.unwrap() {
            Ok(piece) => answer.push_str(&piece),
            Err(error) => break error,
        }
    };
    assert_eq!((answer.as_str(), error.kind()), ("Good", AgentErrorKind::Model));
    assert!(text.next().await.is_none());
    assert!(text.outcome().is_none());
}

#[tokio::test]
async fn a_token_cancels_its_turn_only() {
    let session = agent(ScriptedProvider::new([ScriptStep::text("Good day.")]))
        .session()
        .unwrap();
    let token = CancellationToken::new();
    token.cancel();
    let error = session.turn("Hello").with_token(token).await.unwrap_err();
    assert!(error.is_cancelled(), "{error:?}");
    assert_eq!(session.turn("Hello").await.unwrap().text(), "Good day.");
}

#[tokio::test]
async fn the_builder_reports_a_tool_that_cannot_be_registered() {
    let dice = || typed("dice", "Rolls a die.", |_: NoArguments| async { Ok(4) });
    let error = agent(ScriptedProvider::new([]))
        .with_tool(dice())
        .with_tool(dice())
        .build()
        .unwrap_err();
    assert_eq!(error.kind(), AgentErrorKind::InvalidConfig);
    assert!(error.message().contains("dice"), "{error}");
    assert!(error.tool_error().is_some());
}

#[tokio::test]
async fn new_sessions_have_ids_of_their_own_and_share_the_default_agent() {
    let provider = ScriptedProvider::new([ScriptStep::text("Hi.")]);
    let bundle = agent(provider.clone()).with_instructions("Be brief.").build().unwrap();
    let (one, other) = (bundle.new_session(), bundle.new_session());
    assert_ne!(one.id(), other.id());
    assert_eq!((one.id().len(), one.id().as_bytes()[14]), (36, b'7'));
    one.turn("Hello").await.unwrap();
    assert_eq!(provider.requests()[0].messages[0].text(), "Be brief.");
}
