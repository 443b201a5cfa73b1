//! Connections are reused.

use agcore_llm::{LlmErrorKind, transport::http::HttpClient};
use futures_util::future::join_all;
use tokio::sync::{Notify, mpsc};

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

/// A server may close an idle connection at any time.
#[tokio::test]
async fn a_connection_that_the_server_has_closed_is_replaced() {
    let close = Arc::new(Notify::new());
    let (closed, mut is_closed) = mpsc::unbounded_channel();
    let asked = Arc::clone(&close);
    let server = RawServer::start(move |mut connection| {
        let (asked, closed) = (Arc::clone(&asked), closed.clone());
        async move {
            connection.request().await;
            connection.send(whole("200 OK", "one END")).await;
            asked.notified().await;
            drop(connection);
            closed.send(()).unwrap();
        }
    })
    .await;
    let provider = unlimited(&server.url());
    for _ in 0..3 {
        let (text, end) = read(provider.open(hello())).await;
        end.unwrap();
        assert_eq!(text, "one END");
        close.notify_one();
        is_closed.recv().await.unwrap();
        // The runtime learns of it now.
        tokio::task::yield_now().await;
    }
    assert_eq!(server.connections(), 3);
}

/// The server may have worked on it.
#[tokio::test]
async fn a_request_that_was_sent_is_not_repeated() {
    let server = RawServer::start(|mut connection| async move {
        for _ in 0..2 {
            connection.request().await;
            connection.send(whole("200 OK", "one END")).await;
        }
        connection.request().await;
    })
    .await;
    let provider = unlimited(&server.url());
    for _ in 0..2 {
        read(provider.open(hello())).await.1.unwrap();
    }
    let error = call_error(&provider, hello()).await;
    assert_eq!(error.kind(), LlmErrorKind::Connect);
    assert_eq!(server.connections(), 1);
}

#[tokio::test]
async fn concurrent_calls_have_connections_of_their_own() {
    let server = RawServer::answering(whole("200 OK", "one END")).await;
    let provider = unlimited(&server.url());
    for _ in 0..3 {
        let calls = (0..3).map(|_| read(provider.open(hello())));
        for (text, end) in join_all(calls).await {
            end.unwrap();
            assert_eq!(text, "one END");
        }
    }
    assert_eq!(server.connections(), 3);
}

#[tokio::test]
async fn connections_without_requests_are_closed() {
    if crate::http_client() != HttpClient::Hyper {
        // reqwest measures the time with a clock that cannot be advanced.
        return;
    }
    let (closed, mut is_closed) = mpsc::unbounded_channel();
    let server = RawServer::start(move |mut connection| {
        let closed = closed.clone();
        async move {
            connection.request().await;
            connection.send(whole("200 OK", "one END")).await;
            connection.closed().await;
            closed.send(()).unwrap();
        }
    })
    .await;
    let provider = unlimited(&server.url());
    read(provider.open(hello())).await.1.unwrap();
    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(59)).await;
    assert!(is_closed.try_recv().is_err());
    tokio::time::advance(Duration::from_secs(2)).await;
    tokio::time::resume();
    is_closed.recv().await.unwrap();
    read(provider.open(hello())).await.1.unwrap();
    assert_eq!(server.connections(), 2);
}

/// A connection belongs to the runtime on which it was opened.
#[test]
fn a_provider_outlives_the_runtime_of_its_connections() {
    let runtime = || {
        tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap()
    };
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    let servers = builder.worker_threads(1).enable_all().build().unwrap();
    let server = servers.block_on(RawServer::answering(whole("200 OK", "one END")));
    let provider = unlimited(&server.url());
    for _ in 0..2 {
        let (text, end) = runtime().block_on(read(provider.open(hello())));
        end.unwrap();
        assert_eq!(text, "one END");
    }
    assert_eq!(server.connections(), 2);
}
