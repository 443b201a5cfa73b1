//! Credentials are sent to the server, and appear nowhere else.

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicU32, Ordering},
};

use agcore_llm::{
    LlmErrorKind, LlmProviderExt, ProviderConfig, ProviderType,
    credential::{Credential, KeyHeader, RequestSigner, token_fn},
};
use async_trait::async_trait;
use bytes::Bytes;

use super::{
    raw_server::{RawServer, whole},
    *,
};

const KEY: &str = "key-of-a-quarter-1234";

/// Starts a server that accepts one key, quotes any other key in its error, and records the keys that it received.
async fn server_with_key(header: &'static str, accepted: &'static str) -> (RawServer, Arc<Mutex<Vec<String>>>) {
    let keys = Arc::new(Mutex::new(Vec::new()));
    let received = Arc::clone(&keys);
    let server = RawServer::start(move |mut connection| {
        let received = Arc::clone(&received);
        async move {
            while let Some(request) = connection.request().await {
                let key = request.header(header).unwrap_or("nothing").to_owned();
                let reply = if key == accepted {
                    whole("200 OK", "welcome END")
                } else {
                    whole("401 Unauthorized", &format!("wrong key {key}"))
                };
                received.lock().unwrap().push(key);
                connection.send(reply).await;
            }
        }
    })
    .await;
    (server, keys)
}

fn with_credential(server: &RawServer, credential: Credential) -> WireProvider {
    provider(HttpOptions::new(server.url()).with_credential(credential))
}

async fn text(provider: &WireProvider) -> Result<String, LlmError> {
    let (text, end) = read(provider.open(hello())).await;
    end.map(|()| text)
}

#[tokio::test]
async fn sends_the_key_in_the_configured_header() {
    let (server, _) = server_with_key("authorization", "bearer key-of-a-quarter-1234").await;
    let provider = with_credential(&server, Credential::key(KEY));
    assert_eq!(text(&provider).await.unwrap(), "welcome END");

    let (server, _) = server_with_key("api-key", KEY).await;
    let header = KeyHeader::Named(http::HeaderName::from_static("api-key"));
    let options = HttpOptions::new(server.url())
        .with_credential(Credential::key(KEY))
        .with_key_header(header);
    assert_eq!(text(&super::provider(options)).await.unwrap(), "welcome END");
}

#[tokio::test]
async fn redacts_a_key_that_the_server_quotes() {
    let (server, keys) = server_with_key("authorization", "").await;
    let provider = with_credential(&server, Credential::key(KEY));
    let error = text(&provider).await.unwrap_err();
    assert_eq!(
        (error.kind(), error.status()),
        (LlmErrorKind::Authentication, Some(401))
    );
    assert_eq!(
        error.to_string(),
        "lines: refused: wrong key bearer [redacted] (HTTP 401)"
    );
    let all = format!(
        "{error:#?} {} {:?} {:?} {provider:#?}",
        error.chain(),
        error.body_excerpt(),
        error.fault()
    );
    assert!(!all.contains(KEY), "{all}");
    assert_eq!(
        *keys.lock().unwrap(),
        [format!("bearer {KEY}")],
        "a fixed key is sent once"
    );
}

#[tokio::test]
async fn refreshes_a_refused_token() {
    let (server, keys) = server_with_key("authorization", "bearer token-number-1").await;
    let count = AtomicU32::new(0);
    let source = token_fn(move || {
        let number = count.fetch_add(1, Ordering::SeqCst);
        async move { Ok(format!("token-number-{number}").into()) }
    });
    let provider = with_credential(&server, Credential::token(source));
    for _ in 0..2 {
        assert_eq!(text(&provider).await.unwrap(), "welcome END");
    }
    let expected = [
        "bearer token-number-0",
        "bearer token-number-1",
        "bearer token-number-1",
    ];
    assert_eq!(*keys.lock().unwrap(), expected);
}

/// Every type of provider, also those whose keys have a header of their own.
#[tokio::test]
async fn a_token_is_a_bearer_token_for_every_api() {
    for provider_type in ProviderType::all() {
        let (server, keys) = server_with_key("authorization", "bearer token-number-1").await;
        let count = AtomicU32::new(0);
        let source = token_fn(move || {
            let number = count.fetch_add(1, Ordering::SeqCst);
            async move { Ok(format!("token-number-{number}").into()) }
        });
        let config = ProviderConfig::new(provider_type.clone(), "small")
            .with_base_url(server.url())
            .with_http_client(crate::http_client())
            .with_credential(Credential::token(source));
        // The server sends text that this API does not know; what matters is that the token is accepted.
        let error = config.build().unwrap().chat_call(hello()).await.unwrap_err();
        assert_eq!(error.kind(), LlmErrorKind::Malformed, "{provider_type}: {error:?}");
        assert_eq!(
            *keys.lock().unwrap(),
            ["bearer token-number-0", "bearer token-number-1"],
            "{provider_type}"
        );
    }
}

#[tokio::test]
async fn a_token_can_be_sent_in_another_header() {
    let (server, _) = server_with_key("x-gateway-token", "token-of-the-gateway").await;
    let header = KeyHeader::Named(http::HeaderName::from_static("x-gateway-token"));
    let source = token_fn(|| async { Ok("token-of-the-gateway".into()) });
    let provider = with_credential(&server, Credential::token_in(header, source));
    assert_eq!(text(&provider).await.unwrap(), "welcome END");
}

#[tokio::test]
async fn refreshes_a_refused_token_only_once() {
    let (server, keys) = server_with_key("authorization", "bearer another-token").await;
    let source = token_fn(|| async { Ok("token-always-the-same".into()) });
    let provider = with_credential(&server, Credential::token(source));
    let error = text(&provider).await.unwrap_err();
    assert_eq!(error.kind(), LlmErrorKind::Authentication);
    assert!(!format!("{error:?}").contains("token-always-the-same"), "{error:?}");
    assert_eq!(keys.lock().unwrap().len(), 2);
}

#[tokio::test]
async fn sends_nothing_without_a_token() {
    let (server, keys) = server_with_key("authorization", "").await;
    let source = token_fn(|| async { Err(LlmError::new(LlmErrorKind::Authentication, "log in again")) });
    let error = text(&with_credential(&server, Credential::token(source)))
        .await
        .unwrap_err();
    assert_eq!(error.to_string(), "lines: log in again");
    assert!(keys.lock().unwrap().is_empty());
}

/// Signs with the path and the length of the body.
#[derive(Debug)]
struct LengthSigner;

#[async_trait]
impl RequestSigner for LengthSigner {
    async fn sign(&self, request: &mut http::Request<Bytes>) -> Result<(), LlmError> {
        assert!(
            request.headers().contains_key("content-type"),
            "the request is complete"
        );
        let signature = format!("{}:{}", request.uri().path(), request.body().len());
        request.headers_mut().insert("x-signature", signature.parse().unwrap());
        Ok(())
    }
}

#[tokio::test]
async fn signs_the_complete_request() {
    let (server, _) = server_with_key("x-signature", "/v1/lines:12").await;
    let provider = with_credential(&server, Credential::signer(LengthSigner));
    assert_eq!(text(&provider).await.unwrap(), "welcome END");
}

#[tokio::test]
async fn redacts_keys_in_headers_of_the_settings() {
    let (server, keys) = server_with_key("x-gateway-token", "").await;
    let options = HttpOptions::new(server.url()).with_header("X-Gateway-Token", KEY);
    let error = text(&provider(options)).await.unwrap_err();
    assert_eq!(*keys.lock().unwrap(), [KEY]);
    assert!(!format!("{error:?} {:?}", error.body_excerpt()).contains(KEY));
}

#[test]
fn rejects_a_key_that_cannot_be_sent() {
    let options = HttpOptions::new("http://localhost").with_credential(Credential::key("a\r\nx-admin: 1"));
    let error = transport(options).unwrap_err();
    assert_eq!(error.kind(), LlmErrorKind::Authentication);
}
