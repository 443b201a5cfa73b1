//! What the server is shown, and that nobody else sees it.

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicU32, Ordering},
};

use agcore_llm::{
    LlmErrorKind,
    credential::{Credential, KeyHeader, RequestSigner, token_fn},
};
use async_trait::async_trait;
use bytes::Bytes;

use super::{
    raw_server::{RawServer, whole},
    *,
};

const KEY: &str = "key-of-a-quarter-1234";

/// A server that accepts one key, quotes any other, and remembers what it was shown.
async fn guarded(header: &'static str, accepted: &'static str) -> (RawServer, Arc<Mutex<Vec<String>>>) {
    let shown = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&shown);
    let server = RawServer::start(move |mut connection| {
        let seen = Arc::clone(&seen);
        async move {
            while let Some(request) = connection.request().await {
                let key = request.header(header).unwrap_or("nothing").to_owned();
                let reply = if key == accepted {
                    whole("200 OK", "welcome END")
                } else {
                    whole("401 Unauthorized", &format!("wrong key {key}"))
                };
                seen.lock().unwrap().push(key);
                connection.send(reply).await;
            }
        }
    })
    .await;
    (server, shown)
}

fn with_credential(server: &RawServer, credential: Credential) -> WireProvider {
    provider(HttpOptions::new(server.url()).with_credential(credential))
}

async fn text(provider: &WireProvider) -> Result<String, LlmError> {
    let (text, end) = read(provider.open(hello())).await;
    end.map(|()| text)
}

#[tokio::test]
async fn a_key_stands_where_the_vendor_wants_it() {
    let (server, _) = guarded("authorization", "bearer key-of-a-quarter-1234").await;
    let provider = with_credential(&server, Credential::key(KEY));
    assert_eq!(text(&provider).await.unwrap(), "welcome END");

    let (server, _) = guarded("api-key", KEY).await;
    let header = KeyHeader::Named(http::HeaderName::from_static("api-key"));
    let options = HttpOptions::new(server.url())
        .with_credential(Credential::key(KEY))
        .with_key_header(header);
    assert_eq!(text(&super::provider(options)).await.unwrap(), "welcome END");
}

#[tokio::test]
async fn a_key_that_the_server_quotes_is_in_no_part_of_the_error() {
    let (server, shown) = guarded("authorization", "").await;
    let provider = with_credential(&server, Credential::key(KEY));
    let error = text(&provider).await.unwrap_err();
    assert_eq!(
        (error.kind(), error.status()),
        (&LlmErrorKind::Authentication, Some(401))
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
        *shown.lock().unwrap(),
        [format!("bearer {KEY}")],
        "a fixed key is shown once"
    );
}

#[tokio::test]
async fn a_refused_token_is_refreshed_once() {
    let (server, shown) = guarded("authorization", "bearer token-number-1").await;
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
    assert_eq!(*shown.lock().unwrap(), expected);
}

#[tokio::test]
async fn a_new_token_that_is_refused_too_is_the_end() {
    let (server, shown) = guarded("authorization", "bearer nobody").await;
    let source = token_fn(|| async { Ok("token-always-the-same".into()) });
    let provider = with_credential(&server, Credential::token(source));
    let error = text(&provider).await.unwrap_err();
    assert_eq!(error.kind(), &LlmErrorKind::Authentication);
    assert!(!format!("{error:?}").contains("token-always-the-same"), "{error:?}");
    assert_eq!(shown.lock().unwrap().len(), 2);
}

#[tokio::test]
async fn without_a_token_nothing_is_sent() {
    let (server, shown) = guarded("authorization", "").await;
    let source = token_fn(|| async { Err(LlmError::new(LlmErrorKind::Authentication, "log in again")) });
    let error = text(&with_credential(&server, Credential::token(source)))
        .await
        .unwrap_err();
    assert_eq!(error.to_string(), "lines: log in again");
    assert!(shown.lock().unwrap().is_empty());
}

/// Signs by the body's length and path, last of all.
#[derive(Debug)]
struct LengthSigner;

#[async_trait]
impl RequestSigner for LengthSigner {
    async fn sign(&self, request: &mut http::Request<Bytes>) -> Result<(), LlmError> {
        assert!(request.headers().contains_key("content-type"), "signed last");
        let signature = format!("{}:{}", request.uri().path(), request.body().len());
        request.headers_mut().insert("x-signature", signature.parse().unwrap());
        Ok(())
    }
}

#[tokio::test]
async fn a_signer_signs_the_finished_request() {
    let (server, _) = guarded("x-signature", "/v1/lines:12").await;
    let provider = with_credential(&server, Credential::signer(LengthSigner));
    assert_eq!(text(&provider).await.unwrap(), "welcome END");
}

#[tokio::test]
async fn headers_of_the_settings_are_sent_and_kept_out_of_errors() {
    let (server, shown) = guarded("x-gateway-token", "").await;
    let options = HttpOptions::new(server.url()).with_header("X-Gateway-Token", KEY);
    let error = text(&provider(options)).await.unwrap_err();
    assert_eq!(*shown.lock().unwrap(), [KEY]);
    assert!(!format!("{error:?} {:?}", error.body_excerpt()).contains(KEY));
}

#[test]
fn a_key_that_cannot_be_sent_is_refused_at_once() {
    let options = HttpOptions::new("http://localhost").with_credential(Credential::key("a\r\nx-admin: 1"));
    let error = HttpTransport::new(options).unwrap_err();
    assert_eq!(error.kind(), &LlmErrorKind::Authentication);
}
