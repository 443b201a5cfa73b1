//! Bodies of replies: large, truncated, malformed and compressed ones, and redirects.

use agcore_llm::LlmErrorKind;
use tokio::sync::Notify;

use super::{
    raw_server::{CHUNKED, LAST_CHUNK, RawServer, chunk, whole},
    *,
};

async fn receive(reply: &str, stream: bool) -> (String, Result<(), LlmError>) {
    let server = RawServer::answering(reply).await;
    read(unlimited(&server.url()).open(hello().with_stream(stream))).await
}

#[tokio::test]
async fn sends_the_request_of_the_wire() {
    let server = RawServer::start(|mut connection| async move {
        while let Some(request) = connection.request().await {
            let head = request.head.replace("\r\n", "|");
            let body = String::from_utf8(request.body).unwrap();
            connection.send(whole("200 OK", &format!("{head}{body} END"))).await;
        }
    })
    .await;
    let (text, end) = read(unlimited(&server.url()).open(hello().with_stream(true))).await;
    end.unwrap();
    assert!(text.starts_with("post /v1/lines http/1.1|"), "{text}");
    assert!(
        text.contains(concat!("|user-agent: agcore/", env!("CARGO_PKG_VERSION"), "|")),
        "{text}"
    );
    assert!(text.contains("|content-type: application/json|"), "{text}");
    assert!(
        !text.contains("authorization") && !text.contains("cookie") && !text.contains("referer"),
        "{text}"
    );
    assert!(text.ends_with("||line-1 true END"), "{text}");
}

#[tokio::test]
async fn receives_large_bodies() {
    let words = "word ".repeat(200_000) + "END";
    for reply in [whole("200 OK", &words), [CHUNKED, &chunk(&words), LAST_CHUNK].concat()] {
        let (text, end) = receive(&reply, false).await;
        end.unwrap();
        assert_eq!(text, words);
    }
}

#[tokio::test]
async fn keeps_the_text_of_a_truncated_body() {
    let check = async |reply: String| {
        let server = RawServer::start(move |mut connection| {
            let reply = reply.clone();
            async move {
                connection.request().await;
                connection.send(reply).await;
            }
        })
        .await;
        let (text, end) = read(unlimited(&server.url()).open(hello().with_stream(true))).await;
        assert_eq!(text, "one ");
        let error = end.unwrap_err();
        assert_eq!(error.kind(), LlmErrorKind::Truncated, "{error:?}");
        assert!(error.is_retryable());
    };
    check([CHUNKED, &chunk("one ")].concat()).await;
    check("HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\none ".to_owned()).await;
    check("HTTP/1.1 200 OK\r\nconnection: close\r\n\r\none ".to_owned()).await;
}

#[tokio::test]
async fn keeps_the_text_before_a_reset() {
    let received = Arc::new(Notify::new());
    let reset = Arc::clone(&received);
    let server = RawServer::start(move |mut connection| {
        let reset = Arc::clone(&reset);
        async move {
            connection.request().await;
            connection.send([CHUNKED, &chunk("one two ")].concat()).await;
            reset.notified().await;
            connection.reset();
        }
    })
    .await;
    let mut items = unlimited(&server.url()).open(hello().with_stream(true));
    let start = items.next().await;
    assert!(matches!(start, Some(ReplyItem::Delta(ReplyDelta::Start(_)))));
    assert!(matches!(
        items.next().await,
        Some(ReplyItem::Delta(ReplyDelta::Text { .. }))
    ));
    received.notify_one();
    let (text, end) = read(items).await;
    assert_eq!(text, "two ");
    let error = end.unwrap_err();
    assert_eq!(
        (error.kind(), error.is_retryable()),
        (LlmErrorKind::Connect, true),
        "{error:?}"
    );
    assert!(error.to_string().contains("in the middle of the reply"), "{error}");
}

/// The error of the server is more useful to the caller than the lost connection.
#[tokio::test]
async fn a_reported_error_takes_precedence_over_a_truncated_body() {
    let (_, end) = receive_and_close("HTTP/1.1 401 No\r\ncontent-length: 99\r\n\r\nwrong key").await;
    let error = end.unwrap_err();
    assert_eq!(
        (error.kind(), error.status()),
        (LlmErrorKind::Authentication, Some(401))
    );
    assert!(error.chain().contains("closed the connection"), "{}", error.chain());
}

#[tokio::test]
async fn a_body_truncated_after_its_logical_end_is_complete() {
    for length in [8, 99] {
        let reply = format!("HTTP/1.1 200 OK\r\ncontent-length: {length}\r\n\r\none");
        let (text, end) = receive_and_close(&format!("{reply} LAST")).await;
        end.unwrap();
        assert_eq!(text, "one LAST");
    }
}

async fn receive_and_close(reply: &str) -> (String, Result<(), LlmError>) {
    let reply = reply.to_owned();
    let server = RawServer::start(move |mut connection| {
        let reply = reply.clone();
        async move {
            connection.request().await;
            connection.send(reply).await;
        }
    })
    .await;
    read(unlimited(&server.url()).open(hello())).await
}

#[tokio::test]
async fn emits_the_deltas_before_an_error() {
    let (text, end) = receive(&whole("200 OK", "one two FAIL"), true).await;
    assert_eq!(text, "one two FAIL");
    let error = end.unwrap_err();
    assert_eq!(error.kind(), LlmErrorKind::Server);
    assert_eq!((error.provider(), error.request_id()), (Some("lines"), Some("req-7")));
}

#[tokio::test]
async fn rejects_malformed_chunks() {
    let (_, end) = receive(&[CHUNKED, "zz\r\noops\r\n"].concat(), true).await;
    assert_eq!(end.unwrap_err().kind(), LlmErrorKind::Malformed);
}

#[cfg(not(feature = "gzip"))]
#[tokio::test]
async fn rejects_compression_that_was_not_requested() {
    let (_, end) = receive(
        "HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 2\r\n\r\n\x1f\x08",
        false,
    )
    .await;
    let error = end.unwrap_err();
    assert_eq!(error.kind(), LlmErrorKind::Malformed);
    assert!(error.to_string().contains("gzip"), "{error}");
}

#[cfg(feature = "gzip")]
#[tokio::test]
async fn requests_and_decompresses_gzip() {
    // gzip of "one END".
    const COMPRESSED: &[u8] = b"\x1f\x8b\x08\0\0\0\0\0\x02\x03\xcb\xcfKUp\xf5s\x01\0rr\x96J\x07\0\0\0";
    let receive = async |compressed: &'static [u8]| {
        let server = RawServer::start(move |mut connection| async move {
            let request = connection.request().await.unwrap();
            assert_eq!(request.header("accept-encoding"), Some("gzip"));
            connection
                .send("HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\nconnection: close\r\n\r\n")
                .await;
            connection.send(compressed).await;
        })
        .await;
        read(unlimited(&server.url()).open(hello())).await
    };
    let (text, end) = receive(COMPRESSED).await;
    end.unwrap();
    assert_eq!(text, "one END");
    assert_eq!(
        receive(&COMPRESSED[..12]).await.1.unwrap_err().kind(),
        LlmErrorKind::Truncated
    );
    assert_eq!(
        receive(b"no gzip at all").await.1.unwrap_err().kind(),
        LlmErrorKind::Malformed
    );
}

#[tokio::test]
async fn reports_redirects_without_following_them() {
    let target = RawServer::answering(whole("200 OK", "one END")).await;
    let location = format!(
        "http://me:hunter2@{}/moved?key=hunter2#x",
        target.origin().trim_start_matches("http://")
    );
    let moved = format!("HTTP/1.1 301 Moved\r\nlocation: {location}\r\ncontent-length: 0\r\n\r\n");
    let (_, end) = receive(&moved, false).await;
    let error = end.unwrap_err();
    assert_eq!((error.kind(), error.status()), (LlmErrorKind::NotFound, Some(301)));
    assert!(
        error
            .to_string()
            .contains(&format!("redirects to {}/moved;", target.origin())),
        "{error}"
    );
    assert!(!format!("{error:?} {}", error.chain()).contains("hunter2"), "{error:?}");
    assert_eq!(target.connections(), 0);
}
