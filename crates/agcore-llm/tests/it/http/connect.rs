//! Servers that cannot be reached.

use agcore_llm::LlmErrorKind;
use tokio::net::TcpListener;

use super::{raw_server::RawServer, *};

#[tokio::test]
async fn reports_a_refused_connection() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let origin = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let error = call_error(&unlimited(&format!("{origin}/v1?key=hunter2")), hello()).await;
    assert_eq!(error.kind(), &LlmErrorKind::Connect);
    assert_eq!(
        error.to_string(),
        format!("lines: connection refused; is the server running at {origin}?")
    );
    assert!(error.is_retryable());
    let all = format!("{error:?} {}", error.chain());
    assert!(
        all.contains("onnection refused (os error") && !all.contains("hunter2"),
        "{all}"
    );
}

#[tokio::test]
async fn reports_an_unknown_host() {
    let error = call_error(&unlimited("http://no-such-host.invalid/v1"), hello()).await;
    assert_eq!(error.kind(), &LlmErrorKind::Connect);
    assert!(
        error
            .to_string()
            .contains("cannot resolve the host of http://no-such-host.invalid"),
        "{error}"
    );
    assert!(error.is_retryable());
}

#[tokio::test]
async fn a_connection_closed_without_a_reply_is_retryable() {
    let server = RawServer::start(|mut connection| async move {
        connection.request().await;
    })
    .await;
    let error = call_error(&unlimited(&server.url()), hello()).await;
    assert_eq!(error.kind(), &LlmErrorKind::Connect);
    assert!(error.is_retryable());
    assert!(error.to_string().contains("before the reply started"), "{error}");
}

#[tokio::test]
async fn recognizes_a_server_without_tls() {
    let server = RawServer::start(|mut connection| async move {
        connection
            .send("HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n")
            .await;
        connection.closed().await;
    })
    .await;
    let error = call_error(&unlimited(&server.url().replace("http:", "https:")), hello()).await;
    assert_eq!(error.kind(), &LlmErrorKind::Connect);
    assert!(
        error.to_string().contains("does not support TLS"),
        "{error}: {}",
        error.chain()
    );
    assert!(!error.is_retryable());
}
