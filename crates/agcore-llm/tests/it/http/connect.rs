//! Servers that cannot be reached.

use agcore_llm::{LlmErrorKind, transport::Transport, wire::WireRequest};
use tokio::net::TcpListener;

use super::{raw_server::RawServer, *};

#[tokio::test]
async fn reports_a_refused_connection() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let origin = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let error = call_error(&unlimited(&format!("{origin}/v1?key=hunter2")), hello()).await;
    assert_eq!(error.kind(), LlmErrorKind::Connect);
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
    assert_eq!(error.kind(), LlmErrorKind::Connect);
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
    assert_eq!(error.kind(), LlmErrorKind::Connect);
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
    assert_eq!(error.kind(), LlmErrorKind::Connect);
    assert!(
        error.to_string().contains("does not support TLS"),
        "{error}: {}",
        error.chain()
    );
    assert!(!error.is_retryable());
}

#[tokio::test]
async fn recognizes_a_server_that_closes_the_connection_during_the_handshake() {
    let server = RawServer::start(|mut connection| async move {
        connection.receive().await;
    })
    .await;
    let error = call_error(&unlimited(&server.url().replace("http:", "https:")), hello()).await;
    assert!(
        error.message().contains("during the TLS handshake"),
        "{error}: {}",
        error.chain()
    );
    assert!(!error.is_retryable());
}

#[tokio::test]
async fn recognizes_a_server_that_does_not_speak_http() {
    let tls_alert = &b"\x15\x03\x03\x00\x02\x02\x32"[..];
    for reply in [tls_alert, b"SSH-2.0-OpenSSH_9.6\r\n", b"220 mail.example ESMTP\r\n"] {
        let server = RawServer::start(move |mut connection| async move {
            connection.request().await;
            connection.send(reply).await;
            connection.closed().await;
        })
        .await;
        let error = call_error(&unlimited(&server.url()), hello()).await;
        assert_eq!(error.kind(), LlmErrorKind::Connect);
        let expected = format!(
            "{} did not answer with valid HTTP; \
             is it a model server, or should its base URL start with https:// instead of http://?",
            server.origin()
        );
        assert_eq!(error.message(), expected);
        assert!(!error.is_retryable());
    }
}

#[tokio::test]
async fn recognizes_a_server_that_speaks_first() {
    let server = RawServer::start(|mut connection| async move {
        connection.send("220 mail.example ESMTP\r\n").await;
        connection.closed().await;
    })
    .await;
    let error = call_error(&unlimited(&server.url()), hello()).await;
    assert!(error.message().contains("did not answer with valid HTTP"), "{error}");
}

#[tokio::test]
async fn reports_headers_that_are_too_large() {
    let head = format!("HTTP/1.1 200 OK\r\nx: {}\r\n\r\n", "x".repeat(1 << 20));
    let server = RawServer::answering(head).await;
    let error = call_error(&unlimited(&server.url()), hello()).await;
    assert_eq!(error.kind(), LlmErrorKind::Malformed);
    assert!(
        error.message().starts_with("the headers of the reply of http://"),
        "{error}"
    );
}

#[tokio::test]
async fn connects_to_the_address_in_place_of_the_name() {
    let server = RawServer::answering("HTTP/1.1 204 No Content\r\n\r\n").await;
    let url = server.url().replace("127.0.0.1", "no-such-host.invalid");
    let options = HttpOptions::new(url).with_address(std::net::Ipv4Addr::LOCALHOST.into());
    let transport = transport(options).unwrap();
    let reply = transport.send(WireRequest::get("/page"), false).await.unwrap();
    assert_eq!(reply.head.status, 204);
}
