//! Cancelling and dropping calls at any point closes the connection.

use agcore_llm::LlmErrorKind;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::{
    raw_server::{CHUNKED, RawServer, chunk},
    *,
};

/// An event of a connection, observed by the server.
#[derive(Debug, PartialEq)]
enum ServerEvent {
    Request,
    Closed,
}

/// Starts a server that replies to a request with these bytes and reports what it observes.
async fn observed_server(reply: String) -> (RawServer, mpsc::UnboundedReceiver<ServerEvent>) {
    let (sender, events) = mpsc::unbounded_channel();
    let server = RawServer::start(move |mut connection| {
        let (sender, reply) = (sender.clone(), reply.clone());
        async move {
            connection.request().await;
            connection.send(reply).await;
            sender.send(ServerEvent::Request).unwrap();
            connection.closed().await;
            sender.send(ServerEvent::Closed).unwrap();
        }
    })
    .await;
    (server, events)
}

fn first_chunk() -> String {
    [CHUNKED, &chunk("one two ")].concat()
}

#[tokio::test]
async fn sends_nothing_if_cancelled_before_the_first_poll() {
    let (server, _events) = observed_server(first_chunk()).await;
    let token = CancellationToken::new();
    token.cancel();
    let error = call_error(&unlimited(&server.url()), hello().with_token(token)).await;
    assert_eq!(error.kind(), LlmErrorKind::Cancelled);
    assert!(!error.is_retryable());
    assert_eq!(server.connections(), 0);
}

#[tokio::test]
async fn closes_the_connection_if_cancelled_before_the_head() {
    let (server, mut events) = observed_server(String::new()).await;
    let token = CancellationToken::new();
    let provider = unlimited(&server.url());
    let (error, ()) = tokio::join!(call_error(&provider, hello().with_token(token.clone())), async {
        assert_eq!(events.recv().await, Some(ServerEvent::Request));
        token.cancel();
    });
    assert_eq!(error.kind(), LlmErrorKind::Cancelled);
    assert_eq!(events.recv().await, Some(ServerEvent::Closed));
}

#[tokio::test]
async fn emits_received_deltas_before_the_cancellation() {
    let (server, mut events) = observed_server(first_chunk()).await;
    let token = CancellationToken::new();
    let mut items = unlimited(&server.url()).open(hello().with_stream(true).with_token(token.clone()));
    let start = items.next().await;
    assert!(matches!(start, Some(ReplyItem::Delta(ReplyDelta::Start(_)))));
    assert!(matches!(
        items.next().await,
        Some(ReplyItem::Delta(ReplyDelta::Text { .. }))
    ));
    token.cancel();
    let (text, end) = read(items).await;
    assert_eq!(text, "two ", "a delta that was decoded before");
    let error = end.unwrap_err();
    assert_eq!(error.kind(), LlmErrorKind::Cancelled);
    assert_eq!((error.provider(), error.request_id()), (Some("lines"), Some("req-7")));
    assert_eq!(events.recv().await, Some(ServerEvent::Request));
    assert_eq!(events.recv().await, Some(ServerEvent::Closed));
}

#[tokio::test]
async fn dropping_the_stream_closes_the_connection() {
    let (server, mut events) = observed_server(first_chunk()).await;
    let mut items = unlimited(&server.url()).open(hello().with_stream(true));
    let start = items.next().await;
    assert!(matches!(start, Some(ReplyItem::Delta(ReplyDelta::Start(_)))));
    assert!(matches!(
        items.next().await,
        Some(ReplyItem::Delta(ReplyDelta::Text { .. }))
    ));
    drop(items);
    assert_eq!(events.recv().await, Some(ServerEvent::Request));
    assert_eq!(events.recv().await, Some(ServerEvent::Closed));
}

#[tokio::test]
async fn a_stream_that_is_never_polled_sends_nothing() {
    let (server, _events) = observed_server(first_chunk()).await;
    drop(unlimited(&server.url()).open(hello()));
    assert_eq!(server.connections(), 0);
}
