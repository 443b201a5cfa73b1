//! Connections are kept and used again.

use super::{
    raw_server::{CHUNKED, LAST_CHUNK, RawServer, chunk, whole},
    *,
};

async fn three_calls(provider: &WireProvider, stream: bool) {
    for _ in 0..3 {
        let (text, end) = read(provider.open(hello().with_stream(stream))).await;
        end.unwrap();
        assert_eq!(text, "one END");
    }
}

#[tokio::test]
async fn after_whole_replies() {
    let server = RawServer::answering(whole("200 OK", "one END")).await;
    three_calls(&unlimited(&server.url()), false).await;
    assert_eq!(server.connections(), 1);
}

#[tokio::test]
async fn after_streams_whose_end_comes_with_the_marker() {
    let server = RawServer::answering([CHUNKED, &chunk("one END"), LAST_CHUNK].concat()).await;
    three_calls(&unlimited(&server.url()), true).await;
    assert_eq!(server.connections(), 1);
}

#[tokio::test]
async fn after_streams_whose_end_comes_a_little_later() {
    let server = RawServer::start(|mut connection| async move {
        while connection.request().await.is_some() {
            connection.send([CHUNKED, &chunk("one END")].concat()).await;
            tokio::task::yield_now().await;
            connection.send(LAST_CHUNK).await;
        }
    })
    .await;
    three_calls(&unlimited(&server.url()), true).await;
    assert_eq!(server.connections(), 1);
}

/// The marker ends the reply, whatever the connection does; it cannot be used again then.
#[tokio::test]
async fn a_body_that_never_ends_keeps_nobody_waiting() {
    let server = RawServer::start(|mut connection| async move {
        connection.request().await;
        connection.send([CHUNKED, &chunk("one END")].concat()).await;
        connection.closed().await;
    })
    .await;
    three_calls(&unlimited(&server.url()), true).await;
    assert_eq!(server.connections(), 3);
}

#[tokio::test]
async fn after_errors() {
    let server = RawServer::answering(whole("401 Unauthorized", "no")).await;
    let provider = unlimited(&server.url());
    for _ in 0..3 {
        let error = fails(&provider, hello()).await;
        assert_eq!((error.status(), error.request_id()), (Some(401), Some("req-7")));
    }
    assert_eq!(server.connections(), 1);
}
