//! `deny_network()`. It affects the entire process, so this is a separate program with a single test.
#![allow(clippy::unwrap_used, reason = "a panic fails the test")]

use std::sync::Arc;

use agcore_chat::{ChatRequest, ChatResponse, Message};
use agcore_llm::{LlmError, LlmErrorKind, LlmProvider, LlmProviderExt, ProviderConfig, transport::http::Proxy};
use agcore_testkit::{
    mock_server::{MockServer, Reply, Script},
    network::deny_network,
};

fn provider(url: &str, proxy: Proxy) -> Arc<dyn LlmProvider> {
    let config = ProviderConfig::parse("openai:m")
        .unwrap()
        .with_base_url(url)
        .with_proxy(proxy);
    config.build().unwrap()
}

async fn ask(provider: &dyn LlmProvider) -> Result<ChatResponse, LlmError> {
    provider.chat(ChatRequest::new([Message::user("Hello")])).await
}

#[track_caller]
fn assert_denied(result: Result<ChatResponse, LlmError>, parts: &[&str]) {
    let error = result.unwrap_err();
    assert_eq!(error.kind(), LlmErrorKind::Connect);
    assert!(!error.is_retryable(), "a retry cannot succeed");
    let message = error.message();
    assert!(message.contains("blocked: `deny_network()` at"), "{message}");
    parts
        .iter()
        .for_each(|part| assert!(message.contains(part), "{part} in {message}"));
}

#[tokio::test]
async fn denies_network_access_while_a_guard_exists() {
    let server = MockServer::start(Script::new([Reply::text("hello")]).repeating())
        .await
        .unwrap();
    let local = provider(&server.base_url(), Proxy::None);
    // An address that is never routed (RFC 5737): without the denial, this would fail differently.
    let remote = provider("http://192.0.2.1/v1", Proxy::None);
    let by_proxy = provider(&server.base_url(), Proxy::parse("http://192.0.2.1:3128").unwrap());

    let guard = deny_network();
    let line = format!("{}:{}", file!(), line!() - 1);
    assert_denied(
        ask(&*remote).await,
        &["http://192.0.2.1", &line, "replay a cassette, use a mock server"],
    );
    assert_denied(ask(&*by_proxy).await, &[&line]);
    assert_eq!(ask(&*local).await.unwrap().text(), "hello", "loopback is allowed");
    let before = server.requests().len();

    // An existing connection is denied as well.
    let strict = deny_network().with_loopback_denied();
    let strict_line = format!("{}:{}", file!(), line!() - 1);
    assert_denied(ask(&*local).await, &[&server.root_url(), &strict_line]);
    assert_eq!(server.requests().len(), before, "nothing was sent");

    drop(strict);
    assert_eq!(ask(&*local).await.unwrap().text(), "hello", "the other guard allows it");
    assert_denied(ask(&*remote).await, &[&line]);

    drop(guard);
    let strict = deny_network().with_loopback_denied();
    assert_denied(ask(&*local).await, &[]);
    drop(strict);
    assert_eq!(ask(&*local).await.unwrap().text(), "hello", "no guard is left");
}
