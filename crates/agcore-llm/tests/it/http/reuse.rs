//! Connections are reused.

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
async fn reuses_connections_after_complete_replies() {
    let server = RawServer::answering(whole("200 OK", "one END")).await;
    three_calls(&unlimited(&server.url()), false).await;
    assert_eq!(server.connections(), 1);
}

#[tokio::test]
async fn reuses_connections_after_streams_that_end_with_the_marker() {
    let server = RawServer::answering([CHUNKED, &chunk("one END"), LAST_CHUNK].concat()).await;
    three_calls(&unlimited(&server.url()), true).await;
    assert_eq!(server.connections(), 1);
}

#[tokio::test]
async fn reuses_connections_after_streams_that_end_after_the_marker() {
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

/// The marker ends the reply although the body continues, so the connection cannot be reused.
#[tokio::test]
async fn does_not_wait_for_the_end_of_the_body() {
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
async fn reuses_connections_after_errors() {
    let server = RawServer::answering(whole("401 Unauthorized", "no")).await;
    let provider = unlimited(&server.url());
    for _ in 0..3 {
        let error = call_error(&provider, hello()).await;
        assert_eq!((error.status(), error.request_id()), (Some(401), Some("req-7")));
    }
    assert_eq!(server.connections(), 1);
}
