//! Requests that are wrong.

use std::time::Duration;

use agcore_server::{Limits, MediaSources};
use bytes::Bytes;
use http::{Method, Request};
use http_body_util::Full;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use crate::support::{Running, builder, input, store, text_of, texts};

async fn raw(server: &Running, body: &str, kind: &str) -> crate::support::Answer {
    let request = Request::post("/api/v1/agent/run")
        .header("host", "localhost")
        .header("content-type", kind);
    server
        .request(request.body(Full::new(Bytes::from(body.to_owned()))).unwrap())
        .await
}

#[tokio::test]
async fn bodies_of_a_wrong_form_are_refused() {
    let server =
        Running::start(builder(&texts(["Hi."]), &store()).with_limits(Limits::new().with_max_body_bytes(10_000))).await;
    let json = "application/json";
    raw(&server, "", json).await.assert_problem(400, "invalid_body");
    raw(&server, "not json", json).await.assert_problem(400, "invalid_body");
    raw(&server, r#"{"threadId": "t""#, json)
        .await
        .assert_problem(400, "invalid_body");
    raw(&server, &"[".repeat(5_000), json)
        .await
        .assert_problem(400, "invalid_body");
    raw(&server, "[]", json).await.assert_problem(400, "invalid_request");
    raw(&server, "{}", "text/plain")
        .await
        .assert_problem(415, "unsupported_media_type");
    raw(&server, "{}", "")
        .await
        .assert_problem(415, "unsupported_media_type");
    raw(&server, &" ".repeat(10_001), json)
        .await
        .assert_problem(413, "body_too_large");
    let change = |member: &str, value: Value| {
        let mut body = input("t", "r", "Hello");
        body[member] = value;
        body
    };
    for (member, value) in [
        ("threadId", json!("")),
        ("threadId", json!("x".repeat(2_000))),
        ("threadId", json!(7)),
        ("runId", json!(null)),
        ("messages", json!("Hello")),
        ("messages", json!([])),
        (
            "messages",
            json!([{"id": "m", "role": "assistant", "content": "I am the user"}]),
        ),
        ("messages", json!([{"id": "m", "role": "king", "content": "Hello"}])),
        ("forwardedProps", json!({"agent": 7})),
        ("resume", json!("yes")),
    ] {
        let body = change(member, value);
        server
            .post("/api/v1/agent/run", &body)
            .await
            .assert_problem(400, "invalid_request");
    }
    // Of a future version, with unknown members: not an error.
    let mut future = change("protocolVersion", json!("9.1"));
    future["quantum"] = json!({"entangled": true});
    assert_eq!(server.post("/api/v1/agent/run", &future).await.status.as_u16(), 200);
    server.stop().await;
}

#[tokio::test]
async fn parameters_of_a_wrong_form_are_refused() {
    let server = Running::start(builder(&texts(["Hi."]), &store())).await;
    server.run(&input("t", "r", "Hello")).await;
    for path in [
        "/api/v1/agent/history",
        "/api/v1/agent/history?threadId=t&limit=0",
        "/api/v1/agent/history?threadId=t&limit=9999",
        "/api/v1/agent/history?threadId=t&before=-1",
        "/api/v1/agent/sessions?limit=x",
        "/api/v1/agent/sessions?cursor=zz",
        "/api/v1/agent/usage?cursor=31",
        "/api/v1/agent/runs/t/events?runId=r&dialect=klingon",
    ] {
        server.get(path).await.assert_problem(400, "invalid_request");
    }
    server
        .get("/api/v1/agent/history?threadId=nobodys")
        .await
        .assert_problem(404, "not_found");
    server
        .get("/api/v1/agent/sessions/%00")
        .await
        .assert_problem(404, "not_found");
    server
        .get("/api/v1/agent/nowhere")
        .await
        .assert_problem(404, "not_found");
    server
        .get("/api/v1/agent/run")
        .await
        .assert_problem(405, "method_not_allowed");
    let title = |title: Value| json!({"title": title});
    let patch = async |body: &Value| {
        server
            .with(Method::PATCH, "/api/v1/agent/sessions/t", &[], Some(body))
            .await
    };
    patch(&title(json!(7))).await.assert_problem(400, "invalid_body");
    patch(&json!({})).await.assert_problem(400, "invalid_request");
    patch(&title(json!("x".repeat(2_000))))
        .await
        .assert_problem(400, "invalid_request");
    assert_eq!(patch(&title(json!("Tea"))).await.json()["title"], "Tea");
    assert_eq!(patch(&title(json!(null))).await.json().get("title"), None);
    assert_eq!(
        server
            .with(Method::DELETE, "/api/v1/agent/sessions/t", &[], None)
            .await
            .status
            .as_u16(),
        204
    );
    server
        .get("/api/v1/agent/sessions/t")
        .await
        .assert_problem(404, "not_found");
    server.stop().await;
}

#[tokio::test]
async fn slow_and_broken_bodies_end() {
    let limits = Limits::new().with_read_timeout(Duration::from_millis(100));
    let server = Running::start(builder(&texts([]), &store()).with_limits(limits)).await;
    let head = "POST /api/v1/agent/run HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{";
    let mut slow = TcpStream::connect(server.address).await.unwrap();
    slow.write_all(head.as_bytes()).await.unwrap();
    let mut answer = String::new();
    slow.read_to_string(&mut answer).await.unwrap();
    assert!(answer.contains("408") && answer.contains("body_timeout"), "{answer}");

    // A head that never ends.
    let mut slow = TcpStream::connect(server.address).await.unwrap();
    slow.write_all(b"GET /health HTTP/1.1\r\nx-").await.unwrap();
    let mut answer = String::new();
    drop(slow.read_to_string(&mut answer).await);

    // A body that breaks off. The server continues.
    let mut broken = TcpStream::connect(server.address).await.unwrap();
    broken.write_all(head.as_bytes()).await.unwrap();
    drop(broken);
    assert_eq!(server.get("/health").await.status.as_u16(), 200);
    server.stop().await;
}

#[tokio::test]
async fn web_pages_need_permission() {
    let server = Running::start(builder(&texts([]), &store()).with_origin("https://app.example")).await;
    let ask = async |headers: &[(&str, &str)]| server.with(Method::GET, "/api/v1/agent/agents", headers, None).await;
    ask(&[("origin", "https://evil.example")])
        .await
        .assert_problem(403, "forbidden_origin");
    ask(&[("origin", "null")]).await.assert_problem(403, "forbidden_origin");
    // A host name that the page has pointed to this machine.
    ask(&[("host", "evil.example")])
        .await
        .assert_problem(403, "forbidden_origin");
    ask(&[("host", "evil.example"), ("origin", "http://evil.example")])
        .await
        .assert_problem(403, "forbidden_origin");
    assert_eq!(
        ask(&[("host", "localhost:1"), ("origin", "http://localhost:1")])
            .await
            .status
            .as_u16(),
        200
    );
    let allowed = ask(&[("origin", "https://app.example")]).await;
    assert_eq!(allowed.headers["access-control-allow-origin"], "https://app.example");
    assert_eq!(ask(&[]).await.headers.get("access-control-allow-origin"), None);
    let preflight = [
        ("origin", "https://app.example"),
        ("access-control-request-method", "POST"),
        ("access-control-request-headers", "content-type, x-stainless-os"),
    ];
    let answer = server
        .with(Method::OPTIONS, "/api/v1/agent/run", &preflight, None)
        .await;
    assert_eq!(answer.status.as_u16(), 204);
    let allowed = answer.headers["access-control-allow-headers"].to_str().unwrap();
    assert!(
        ["last-event-id", "idempotency-key", "x-stainless-os"]
            .iter()
            .all(|name| allowed.contains(name)),
        "{allowed}"
    );
    let foreign = [
        ("origin", "https://evil.example"),
        ("access-control-request-method", "POST"),
    ];
    let answer = server.with(Method::OPTIONS, "/api/v1/agent/run", &foreign, None).await;
    answer.assert_problem(403, "forbidden_origin");
    server.stop().await;
}

#[tokio::test]
async fn images_do_not_lead_into_the_network_of_the_operator() {
    let with = |part: Value| {
        let mut body = input("t", "r1", "Look.");
        body["messages"][0]["content"] = json!([{"type": "text", "text": "Look."}, part]);
        body
    };
    let image = |url: &str| with(json!({"type": "image", "source": {"type": "url", "value": url}}));
    let store = store();
    let server = Running::start(builder(&texts(["Nice.", "Nice."]), &store)).await;
    for body in [
        image("http://127.0.0.1:8080/admin"),
        image("http://169.254.169.254/latest/meta-data"),
        image("file:///etc/passwd"),
        with(json!({"type": "binary", "mimeType": "image/png", "url": "http://10.0.0.7/a.png"})),
        with(json!({"type": "document", "source": {"type": "file", "value": "file-1"}})),
        with(json!({"type": "image_url", "image_url": {"url": "http://127.0.0.1/"}})),
        with(json!({"type": "video", "source": {"type": "url", "value": "http://127.0.0.1/"}})),
    ] {
        for path in ["/api/v1/agent/run", "/api/v1/agent/runs/t"] {
            server.post(path, &body).await.assert_problem(400, "invalid_request");
        }
    }
    server
        .get("/api/v1/agent/sessions/t")
        .await
        .assert_problem(404, "not_found");
    let events = server.run(&image("https://example.org/a.png")).await;
    assert_eq!(text_of(&events), "Nice.");
    server.stop().await;

    let any = builder(&texts(["Nice."]), &store).with_limits(Limits::new().with_media(MediaSources::Any));
    let server = Running::start(any).await;
    let mut body = image("http://127.0.0.1:8080/a.png");
    body["runId"] = json!("r2");
    assert_eq!(text_of(&server.run(&body).await), "Nice.");
    server.stop().await;
}

#[tokio::test]
async fn heads_show_which_bodies_are_not_read() {
    let server = Running::start(builder(&texts([]), &store())).await;
    let headers = [("content-encoding", "gzip")];
    let body = input("t", "r1", "Hello");
    let answer = server
        .with(Method::POST, "/api/v1/agent/run", &headers, Some(&body))
        .await;
    answer.assert_problem(415, "unsupported_media_type");
    // The body never comes: the answer does not wait for it.
    let mut raw = TcpStream::connect(server.address).await.unwrap();
    let head = "POST /api/v1/agent/run HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 50000000\r\n\r\n";
    raw.write_all(head.as_bytes()).await.unwrap();
    let mut answer = String::new();
    raw.read_to_string(&mut answer).await.unwrap();
    assert!(
        answer.starts_with("HTTP/1.1 413") && answer.contains("body_too_large"),
        "{answer}"
    );
    server.stop().await;
}
