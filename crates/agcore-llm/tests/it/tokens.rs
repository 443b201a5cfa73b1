//! Access tokens for vendors whose keys have a header of their own, with the mock server.

use agcore_chat::{ChatRequest, Message};
use agcore_llm::{
    LlmErrorKind, LlmProviderExt, ProviderConfig,
    credential::{Credential, token_fn},
};
use agcore_testkit::mock_server::{MockOptions, MockServer, Reply, Script};
use std::sync::atomic::{AtomicU32, Ordering};

/// Tokens `token-number-0`, `token-number-1` …
fn tokens() -> Credential {
    let count = AtomicU32::new(0);
    Credential::token(token_fn(move || {
        let number = count.fetch_add(1, Ordering::SeqCst);
        async move { Ok(format!("token-number-{number}").into()) }
    }))
}

async fn chat(accepted: &str, provider_type: &str, key_header: &str) -> Result<String, agcore_llm::LlmError> {
    let server = MockServer::start_with(
        MockOptions::new().with_key(accepted),
        Script::new([Reply::text("Welcome.")]),
    );
    let server = server.await.unwrap();
    let config = ProviderConfig::new(provider_type.parse().unwrap(), "small")
        .with_base_url(server.base_url())
        .with_credential(tokens());
    let response = config
        .build()
        .unwrap()
        .chat(ChatRequest::new([Message::user("Hello")]))
        .await;
    let requests = server.requests();
    for (number, request) in requests.iter().enumerate() {
        let expected = format!("Bearer token-number-{number}");
        assert_eq!(request.header("authorization"), Some(&*expected), "{provider_type}");
        assert_eq!(request.header(key_header), None, "{provider_type}");
    }
    assert_eq!(requests.len(), if accepted.ends_with('0') { 1 } else { 2 });
    response.map(|response| response.text().into_owned())
}

#[tokio::test]
async fn azure_takes_access_tokens_as_bearer_tokens() {
    assert_eq!(chat("token-number-0", "azure", "api-key").await.unwrap(), "Welcome.");
    assert_eq!(
        chat("token-number-1", "azure", "api-key").await.unwrap(),
        "Welcome.",
        "refreshed once after a 401"
    );
    let error = chat("another-token", "azure", "api-key").await.unwrap_err();
    assert_eq!(error.kind(), LlmErrorKind::Authentication);
}

#[cfg(feature = "anthropic")]
#[tokio::test]
async fn anthropic_takes_access_tokens_as_bearer_tokens() {
    assert_eq!(
        chat("token-number-0", "anthropic", "x-api-key").await.unwrap(),
        "Welcome."
    );
    assert_eq!(
        chat("token-number-1", "anthropic", "x-api-key").await.unwrap(),
        "Welcome."
    );
}
