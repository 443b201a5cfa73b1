//! Cancelling and dropping, at each point: the server must see the connection close.

use agcore_llm::LlmErrorKind;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::{
    raw_server::{CHUNKED, RawServer, chunk},
    *,
};

/// What the server saw.
#[derive(Debug, PartialEq)]
enum Seen {
    Request,
    Closed,
}

/// A server that answers a request with these bytes and tells what it sees.
async fn watched(reply: String) -> (RawServer, mpsc::UnboundedReceiver<Seen>) {
    let (seen, sights) = mpsc::unbounded_channel();
    let server = RawServer::start(move |mut connection| {
        let (seen, reply) = (seen.clone(), reply.clone());
        async move {
            connection.request().await;
            connection.send(reply).await;
            seen.send(Seen::Request).unwrap();
            connection.closed().await;
            seen.send(Seen::Closed).unwrap();
        }
    })
    .await;
    (server, sights)
}

fn piece() -> String {
    [CHUNKED, &chunk("one two ")].concat()
}

#[tokio::test]
async fn cancelled_before_the_first_poll_nothing_is_sent() {
    let (server, _sights) = watched(piece()).await;
    let token = CancellationToken::new();
    token.cancel();
    let error = fails(&unlimited(&server.url()), hello().with_token(token)).await;
    assert_eq!(error.kind(), &LlmErrorKind::Cancelled);
    assert!(!error.is_retryable());
    assert_eq!(server.connections(), 0);
}

#[tokio::test]
async fn cancelled_while_waiting_for_the_head() {
    let (server, mut sights) = watched(String::new()).await;
    let token = CancellationToken::new();
    let provider = unlimited(&server.url());
    let (error, ()) = tokio::join!(fails(&provider, hello().with_token(token.clone())), async {
        assert_eq!(sights.recv().await, Some(Seen::Request));
        token.cancel();
    });
    assert_eq!(error.kind(), &LlmErrorKind::Cancelled);
    assert_eq!(sights.recv().await, Some(Seen::Closed));
}

#[tokio::test]
async fn cancelled_in_the_middle_what_came_is_handed_out_first() {
    let (server, mut sights) = watched(piece()).await;
    let token = CancellationToken::new();
    let mut items = unlimited(&server.url()).open(hello().with_stream(true).with_token(token.clone()));
    assert!(matches!(items.next().await, Some(ReplyItem::Delta(_))));
    token.cancel();
    let (text, end) = read(items).await;
    assert_eq!(text, "two ", "a delta that was read already");
    let error = end.unwrap_err();
    assert_eq!(error.kind(), &LlmErrorKind::Cancelled);
    assert_eq!((error.provider(), error.request_id()), (Some("lines"), Some("req-7")));
    assert_eq!(sights.recv().await, Some(Seen::Request));
    assert_eq!(sights.recv().await, Some(Seen::Closed));
}

#[tokio::test]
async fn dropping_the_stream_closes_the_connection() {
    let (server, mut sights) = watched(piece()).await;
    let mut items = unlimited(&server.url()).open(hello().with_stream(true));
    assert!(matches!(items.next().await, Some(ReplyItem::Delta(_))));
    drop(items);
    assert_eq!(sights.recv().await, Some(Seen::Request));
    assert_eq!(sights.recv().await, Some(Seen::Closed));
}

#[tokio::test]
async fn a_stream_that_is_never_polled_sends_nothing() {
    let (server, _sights) = watched(piece()).await;
    drop(unlimited(&server.url()).open(hello()));
    assert_eq!(server.connections(), 0);
}
