//! `deny_network()`. It is process-wide, so this is a program of its own with one test that goes step by step.
#![allow(clippy::unwrap_used, reason = "tests may fail loudly")]

use std::sync::Arc;

use agcore_chat::{ChatRequest, ChatResponse, Message};
use agcore_llm::{LlmError, LlmErrorKind, LlmProvider, LlmProviderExt, ProviderConfig, transport::http::Proxy};
use agcore_testkit::{
    mock_server::{MockServer, Reply, Script},
    network::deny_network,
};

fn provider(url: &str, proxy: Proxy) -> Arc<dyn LlmProvider> {
    let config = ProviderConfig::of("openai:m")
        .unwrap()
        .with_base_url(url)
        .with_proxy(proxy);
    config.build().unwrap()
}

async fn ask(provider: &dyn LlmProvider) -> Result<ChatResponse, LlmError> {
    provider.chat(ChatRequest::new([Message::user("Hello")])).await
}

#[track_caller]
fn denied(answer: Result<ChatResponse, LlmError>, parts: &[&str]) {
    let error = answer.unwrap_err();
    assert_eq!(error.kind(), &LlmErrorKind::Connect);
    assert!(!error.is_retryable(), "a retry does not help");
    let message = error.message();
    assert!(message.contains("is denied by `deny_network()` at"), "{message}");
    parts
        .iter()
        .for_each(|part| assert!(message.contains(part), "{part} in {message}"));
}

#[tokio::test]
async fn the_network_is_denied_while_a_guard_lives() {
    let server = MockServer::start(Script::new([Reply::text("hello")]).repeating())
        .await
        .unwrap();
    let here = provider(&server.base_url(), Proxy::None);
    // An address that is never routed (RFC 5737): without the denial this would fail in another way.
    let away = provider("http://192.0.2.1/v1", Proxy::None);
    let by_proxy = provider(&server.base_url(), Proxy::parse("http://192.0.2.1:3128").unwrap());
    let by_environment = provider(&server.base_url(), Proxy::Environment);

    let guard = deny_network();
    let line = format!("{}:{}", file!(), line!() - 1);
    denied(
        ask(&*away).await,
        &["http://192.0.2.1", &line, "a cassette or a mock server"],
    );
    denied(ask(&*by_proxy).await, &[&line]);
    denied(ask(&*by_environment).await, &[&line]);
    assert_eq!(ask(&*here).await.unwrap().text(), "hello", "loopback is allowed");
    let before = server.requests().len();

    // A connection that is open already is no way out.
    let strict = deny_network().with_loopback_denied();
    let strict_line = format!("{}:{}", file!(), line!() - 1);
    denied(ask(&*here).await, &[&server.root_url(), &strict_line]);
    assert_eq!(server.requests().len(), before, "nothing was sent");

    drop(strict);
    assert_eq!(ask(&*here).await.unwrap().text(), "hello", "the other guard allows it");
    denied(ask(&*away).await, &[&line]);

    drop(guard);
    assert_eq!(
        ask(&*by_environment).await.unwrap().text(),
        "hello",
        "nobody denies anything"
    );
}
