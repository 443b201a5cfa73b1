//! Input that no model should get: empty, or too long.

use agcore_agent::{AgentConfig, AgentErrorKind, AgentSession, agent};
use agcore_chat::{ContentPart, Message};
use agcore_llm::ProviderInfo;
use agcore_testkit::scripted::{ScriptStep, ScriptedProvider};

fn session(provider: &ScriptedProvider, config: AgentConfig) -> AgentSession {
    agent(provider.clone()).with_config(config).session().unwrap()
}

async fn refused(session: &AgentSession, input: Message) -> String {
    let error = session.turn(input).await.unwrap_err();
    assert_eq!(error.kind(), AgentErrorKind::InvalidInput, "{error}");
    error.to_string()
}

#[tokio::test]
async fn an_empty_message_is_refused() {
    let provider = ScriptedProvider::new([ScriptStep::text("A cat.")]);
    let session = session(&provider, AgentConfig::new());
    for input in [
        Message::user(""),
        Message::user(" \n\t"),
        Message::user(vec![ContentPart::text("")]),
    ] {
        assert!(refused(&session, input).await.starts_with("the message is empty"));
    }
    let image = Message::user(vec![
        ContentPart::text(""),
        ContentPart::image_url("https://example.com/a.png"),
    ]);
    assert_eq!(session.turn(image).await.unwrap().text(), "A cat.");
}

#[tokio::test]
async fn a_message_that_is_too_long_is_refused_before_anything_is_compacted() {
    let answers = (0..6).map(|_| ScriptStep::text("word ".repeat(2_000)));
    let mut info = ProviderInfo::new("p", "m");
    info.capabilities.context_window = Some(20_000);
    let provider = ScriptedProvider::new(answers).with_info(info);
    let session = session(&provider, AgentConfig::new());
    for _ in 0..3 {
        session.turn("Tell me more.").await.unwrap();
    }
    let before = session.messages().await;
    let huge = refused(&session, Message::user("x".repeat(50_000_000))).await;
    assert!(
        huge.contains("50000000 bytes") && huge.contains("max_input_bytes"),
        "{huge}"
    );
    let long = refused(&session, Message::user("word ".repeat(50_000))).await;
    assert!(long.contains("the context window of the model (20000)"), "{long}");
    assert_eq!(session.messages().await, before);
    assert_eq!(provider.requests().len(), 3);
    // Long in bytes, but not in tokens.
    session.turn("a ".repeat(10_001)).await.unwrap();
}

#[tokio::test]
async fn media_that_are_too_large_are_refused_before_they_are_sent() {
    let provider = ScriptedProvider::new([ScriptStep::text("Seen."), ScriptStep::text("Seen.")]);
    let session = session(&provider, AgentConfig::new().with_max_media_bytes(100));
    let data = "A".repeat(60);
    let parts = [
        ContentPart::image_url(format!("data:image/png;base64,{data}")),
        ContentPart::input_audio(&data, "wav"),
        ContentPart::file_data("a.pdf", &data),
        ContentPart::Other(serde_json::json!({"type": "video", "data": data})),
    ];
    for first in &parts {
        for second in &parts {
            let message = Message::user(vec![ContentPart::text("Look:"), first.clone(), second.clone()]);
            let error = refused(&session, message).await;
            assert!(error.contains("more than the 100 of `max_media_bytes`"), "{error}");
        }
    }
    assert_eq!(provider.requests().len(), 0);
    let file = Message::user(vec![
        ContentPart::text("x".repeat(1_000)),
        ContentPart::file_id("file-1"),
    ]);
    session.turn(file).await.unwrap();
    session.turn(Message::user(vec![parts[1].clone()])).await.unwrap();
}
