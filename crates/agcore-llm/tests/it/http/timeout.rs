//! The four timeouts and the deadline of a call, with a server that stalls.

use std::net::TcpStream;

use agcore_llm::{
    LlmErrorKind, TimeoutStage,
    credential::{Credential, RequestSigner, token_fn},
};
use async_trait::async_trait;
use bytes::Bytes;
use tokio::net::TcpSocket;

use super::{
    raw_server::{CHUNKED, Connection, RawServer, chunk},
    *,
};

fn check(error: &LlmError, stage: TimeoutStage, setting: &str) {
    assert_eq!(error.kind(), LlmErrorKind::Timeout(stage), "{error:?}");
    let text = error.to_string();
    assert!(text.contains("0.3 s") && text.contains(setting), "{text}");
    assert!(error.is_retryable());
    assert_eq!((error.provider(), error.model()), (Some("lines"), Some("line-1")));
}

async fn silent(mut connection: Connection) {
    connection.request().await;
    connection.closed().await;
}

async fn silent_after_a_chunk(mut connection: Connection) {
    connection.request().await;
    connection.send([CHUNKED, &chunk("one two ")].concat()).await;
    connection.closed().await;
}

/// The backlog of the listener is full, so the kernel delays further connections.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn connect_limits_the_wait_for_a_connection() {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let listener = socket.listen(1).unwrap();
    let address = listener.local_addr().unwrap();
    let mut waiting = Vec::new();
    while let Ok(connection) = TcpStream::connect_timeout(&address, SHORT) {
        waiting.push(connection);
    }
    let provider = limited(&format!("http://{address}"), Timeouts::unlimited().with_connect(SHORT));
    let error = call_error(&provider, hello()).await;
    check(&error, TimeoutStage::Connect, "`connect`");
    let cause = error.chain();
    assert!(!cause.contains("os error"), "the kernel timed out first: {cause}");
}

#[tokio::test]
async fn first_byte_limits_the_wait_for_the_head_of_a_stream() {
    let server = RawServer::start(silent).await;
    let provider = limited(&server.url(), Timeouts::unlimited().with_first_byte(SHORT));
    let error = call_error(&provider, hello().with_stream(true)).await;
    check(&error, TimeoutStage::FirstByte, "`first_byte`");
}

/// The head of a whole reply comes with its end, which may take much longer than the start of a stream.
#[tokio::test]
async fn only_the_total_limits_the_wait_for_a_whole_reply() {
    let server = RawServer::start(silent).await;
    let timeouts = Timeouts::unlimited().with_first_byte(Duration::ZERO).with_total(SHORT);
    let error = call_error(&limited(&server.url(), timeouts), hello()).await;
    check(&error, TimeoutStage::Total, "`total`");
}

#[tokio::test]
async fn idle_keeps_the_text_before_the_timeout() {
    let server = RawServer::start(silent_after_a_chunk).await;
    let provider = limited(&server.url(), Timeouts::unlimited().with_idle(SHORT));
    for stream in [false, true] {
        let (text, end) = read(provider.open(hello().with_stream(stream))).await;
        assert_eq!(text, "one two ");
        let error = end.unwrap_err();
        check(&error, TimeoutStage::Idle, "`idle`");
        assert_eq!(error.request_id(), Some("req-7"));
    }
}

#[tokio::test]
async fn total_ends_replies_at_any_point() {
    let timeouts = Timeouts::unlimited().with_total(SHORT);
    for server in [
        RawServer::start(silent).await,
        RawServer::start(silent_after_a_chunk).await,
    ] {
        let provider = limited(&server.url(), timeouts);
        check(&call_error(&provider, hello()).await, TimeoutStage::Total, "`total`");
    }
}

/// A signer that never completes.
#[derive(Debug)]
struct NeverSigns;

#[async_trait]
impl RequestSigner for NeverSigns {
    async fn sign(&self, _: &mut http::Request<Bytes>) -> Result<(), LlmError> {
        std::future::pending().await
    }
}

#[tokio::test]
async fn total_ends_the_wait_for_a_credential() {
    let server = RawServer::start(silent).await;
    let token = Credential::token(token_fn(std::future::pending));
    for credential in [token, Credential::signer(NeverSigns)] {
        let options = HttpOptions::new(server.url())
            .with_credential(credential)
            .with_timeouts(Timeouts::unlimited().with_total(SHORT));
        check(
            &call_error(&provider(options), hello()).await,
            TimeoutStage::Total,
            "`total`",
        );
    }
}

/// Chunks keep arriving, so only the total limit can end the reply.
#[tokio::test]
async fn total_ends_a_reply_that_never_pauses() {
    let server = RawServer::start(|mut connection| async move {
        connection.request().await;
        connection.send(CHUNKED).await;
        let data = chunk("x ");
        loop {
            tokio::select! {
                () = connection.closed() => return,
                () = tokio::time::sleep(SHORT / 10) => {}
            }
            connection.send(&data).await;
        }
    })
    .await;
    let provider = limited(
        &server.url(),
        Timeouts::unlimited().with_idle(SHORT * 100).with_total(SHORT),
    );
    check(&call_error(&provider, hello()).await, TimeoutStage::Total, "`total`");

    let endless = provider.open(hello().with_stream(true));
    let deltas = endless.take(30).count().await;
    assert_eq!(deltas, 30, "the total limit does not apply to streams");
}

/// In total, the reply takes longer than a pause may.
#[tokio::test]
async fn every_chunk_restarts_the_idle_timeout() {
    let pause = Duration::from_millis(250);
    let server = RawServer::start(move |mut connection| async move {
        connection.request().await;
        connection.send(CHUNKED).await;
        for piece in ["1 ", "2 ", "3 ", "4 ", "5 ", "END"] {
            tokio::time::sleep(pause).await;
            connection.send(chunk(piece)).await;
        }
    })
    .await;
    let provider = limited(&server.url(), Timeouts::unlimited().with_idle(pause * 4));
    let (text, end) = read(provider.open(hello().with_stream(true))).await;
    end.unwrap();
    assert_eq!(text, "1 2 3 4 5 END");
}

#[tokio::test]
async fn the_deadline_ends_a_call_at_any_point() {
    for server in [
        RawServer::start(silent).await,
        RawServer::start(silent_after_a_chunk).await,
    ] {
        let error = call_error(
            &unlimited(&server.url()),
            hello().with_stream(true).with_deadline(SHORT),
        )
        .await;
        check(&error, TimeoutStage::Total, "deadline");
    }
}

#[tokio::test]
async fn sends_nothing_after_the_deadline() {
    let server = RawServer::start(silent).await;
    let error = call_error(&unlimited(&server.url()), hello().with_deadline(Duration::ZERO)).await;
    assert_eq!(error.kind(), LlmErrorKind::Timeout(TimeoutStage::Total));
    assert_eq!(server.connections(), 0);
}
