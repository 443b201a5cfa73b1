//! Streamable HTTP, between the client and the server of this crate, and with servers that misbehave.

use std::{
    future::pending,
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use agcore_mcp::{
    ClientOptions, HttpServerOptions, HttpTransport, Lifecycle, McpClient, McpError, McpErrorKind, McpServer,
    ServerEvent, ToolCallRequest,
};
use serde_json::json;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    sync::oneshot,
};

use crate::server::registry;

async fn listener() -> (TcpListener, SocketAddr) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    (listener, address)
}

/// Starts a server of this crate and returns its URL.
async fn start(options: HttpServerOptions) -> String {
    let (listener, address) = listener().await;
    let server = McpServer::new(registry());
    tokio::spawn(async move { server.serve_http(listener, options, pending()).await });
    format!("http://{address}/mcp")
}

pub(crate) async fn connect(transport: HttpTransport, lifecycle: Lifecycle) -> Result<McpClient, McpError> {
    let options = ClientOptions::new()
        .with_lifecycle(lifecycle)
        .with_connect_timeout(Duration::from_secs(10));
    McpClient::connect_with("web", transport, options).await
}

const LIFECYCLES: [(Lifecycle, &str); 3] = [
    (Lifecycle::Negotiate, "2026-07-28"),
    (Lifecycle::Stateless, "2026-07-28"),
    (Lifecycle::Handshake, "2025-11-25"),
];

fn add(a: i64, b: i64) -> ToolCallRequest {
    ToolCallRequest::new("add").with_argument("a", a).with_argument("b", b)
}

#[tokio::test]
async fn tools_are_called_in_both_lifecycles() {
    let url = start(HttpServerOptions::new()).await;
    for (lifecycle, protocol) in LIFECYCLES {
        let client = connect(HttpTransport::new(&url).unwrap(), lifecycle).await.unwrap();
        assert_eq!(client.server().protocol, protocol);
        assert_eq!(client.list_tools().await.unwrap().len(), 5);
        let output = client.call_tool(add(2, 3), |_| {}).await.unwrap().unwrap();
        assert_eq!(output.as_value(), Some(&json!({"sum": 5})));
        let mut steps = Vec::new();
        let output = client
            .call_tool("steps", |step| steps.push(step.done))
            .await
            .unwrap()
            .unwrap();
        assert_eq!((output.as_value(), steps.len()), (Some(&json!("done")), 20));
        client.close().await;
    }
}

#[tokio::test]
async fn parallel_calls_keep_their_results() {
    let url = start(HttpServerOptions::new()).await;
    let client = connect(HttpTransport::new(&url).unwrap(), Lifecycle::Handshake)
        .await
        .unwrap();
    let calls: Vec<_> = (0..100)
        .map(|number| {
            let client = client.clone();
            tokio::spawn(async move { client.call_tool(add(number, 1), |_| {}).await.unwrap().unwrap() })
        })
        .collect();
    for (number, call) in calls.into_iter().enumerate() {
        assert_eq!(call.await.unwrap().as_value(), Some(&json!({"sum": number + 1})));
    }
}

#[tokio::test]
async fn tokens_are_required_and_sent() {
    let url = start(HttpServerOptions::new().with_bearer("right-token")).await;
    let right = HttpTransport::new(&url).unwrap().with_bearer("right-token").unwrap();
    let client = connect(right, Lifecycle::Negotiate).await.unwrap();
    client
        .call_tool(add(1, 1), |_| {})
        .await
        .unwrap()
        .unwrap()
        .into_content();

    for token in ["wrong-token", "right-toke", "right-token2"] {
        let wrong = HttpTransport::new(&url).unwrap().with_bearer(token).unwrap();
        let error = connect(wrong, Lifecycle::Handshake).await.unwrap_err();
        assert_eq!(error.kind(), McpErrorKind::Unauthorized, "{error}");
        assert!(!format!("{error:?}").contains(token), "{error:?}");
    }
}

/// Sends one request and returns the status line and the rest.
async fn raw(url: &str, path: &str, headers: &str, body: &str) -> String {
    let address = url.trim_start_matches("http://").trim_end_matches("/mcp");
    let mut stream = TcpStream::connect(address).await.unwrap();
    let length = body.len();
    let head = format!(
        "POST {path} HTTP/1.1\r\nConnection: close\r\nContent-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\nContent-Length: {length}\r\n{headers}\r\n"
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    // The server may answer before it has read everything.
    let _ = stream.write_all(body.as_bytes()).await;
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer).await;
    String::from_utf8_lossy(&answer).into_owned()
}

#[tokio::test]
async fn foreign_hosts_origins_paths_and_bodies_are_refused() {
    let url = start(HttpServerOptions::new().with_max_body_bytes(1000).with_max_sessions(1)).await;
    let check = async |path: &str, headers: &str, body: &str, status: &str| {
        let answer = raw(&url, path, headers, body).await;
        assert!(answer.starts_with(&format!("HTTP/1.1 {status}")), "{headers}: {answer}");
    };
    let host = "Host: localhost\r\n";
    let initialize = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}})
    .to_string();
    check("/mcp", "Host: evil.example\r\n", &initialize, "403").await;
    check(
        "/mcp",
        "Host: localhost\r\nOrigin: https://evil.example\r\n",
        &initialize,
        "403",
    )
    .await;
    check("/other", host, &initialize, "404").await;
    check("/mcp", host, &"x".repeat(2000), "413").await;
    check("/mcp", host, "garbage", "4").await;
    check(
        "/mcp",
        "Host: localhost\r\nMcp-Session-Id: unknown\r\n",
        &initialize,
        "404",
    )
    .await;
    check("/mcp", host, &initialize, "200").await;
    check("/mcp", host, &initialize, "503").await;
}

#[tokio::test]
async fn stopping_ends_the_server() {
    let (listener, address) = listener().await;
    let (stop, stopped) = oneshot::channel::<()>();
    let server = McpServer::new(registry());
    let serving = tokio::spawn(async move {
        let stopped = async { drop(stopped.await) };
        server.serve_http(listener, HttpServerOptions::new(), stopped).await
    });
    let transport = HttpTransport::new(&format!("http://{address}/mcp")).unwrap();
    let client = connect(transport.clone(), Lifecycle::Handshake).await.unwrap();
    client.list_tools().await.unwrap();
    stop.send(()).unwrap();
    serving.await.unwrap().unwrap();
    let error = client.list_tools().await.unwrap_err();
    assert_eq!(error.kind(), McpErrorKind::Closed, "{error}");
    let error = connect(transport, Lifecycle::Negotiate).await.unwrap_err();
    assert_eq!(error.kind(), McpErrorKind::Closed, "{error}");
    assert!(error.message().contains("Connection refused"), "{error}");
}

/// Answers every request with `answer`, which gets the number of the request, its head and its body.
pub(crate) async fn fake(answer: impl Fn(usize, &str, &str) -> String + Send + Sync + 'static) -> String {
    let (listener, address) = listener().await;
    let (answer, count) = (Arc::new(answer), Arc::new(AtomicUsize::new(0)));
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let (answer, count) = (Arc::clone(&answer), Arc::clone(&count));
            tokio::spawn(async move {
                let mut read = Vec::new();
                let (head, body) = loop {
                    let mut chunk = [0; 4096];
                    let length = stream.read(&mut chunk).await.unwrap_or(0);
                    if length == 0 {
                        return;
                    }
                    read.extend_from_slice(&chunk[..length]);
                    let text = String::from_utf8_lossy(&read).into_owned();
                    let Some((head, body)) = text.split_once("\r\n\r\n") else {
                        continue;
                    };
                    let lower = head.to_ascii_lowercase();
                    let length = lower.split_once("content-length: ").map_or("0", |(_, rest)| rest);
                    let length: usize = length.lines().next().unwrap_or("0").trim().parse().unwrap_or(0);
                    if body.len() >= length {
                        break (head.to_owned(), body.to_owned());
                    }
                };
                let number = count.fetch_add(1, Ordering::SeqCst);
                let _ = stream.write_all(answer(number, &head, &body).as_bytes()).await;
            });
        }
    });
    format!("http://{address}/mcp?key=hunter2hunter2")
}

pub(crate) fn response(status: &str, headers: &str, body: &str) -> String {
    let length = body.len();
    format!("HTTP/1.1 {status}\r\nConnection: close\r\nContent-Length: {length}\r\n{headers}\r\n{body}")
}

#[tokio::test]
async fn failures_of_http_are_clear_errors() {
    let check = async |status: &'static str, headers: &'static str, kind: McpErrorKind, text: &str| {
        let url = fake(move |_, _, _| response(status, headers, "")).await;
        let error = connect(HttpTransport::new(&url).unwrap(), Lifecycle::Handshake)
            .await
            .unwrap_err();
        assert_eq!(error.kind(), kind, "{status}: {error}");
        assert!(error.message().contains(text), "{status}: {error}");
        assert!(!format!("{error:?} {error}").contains("hunter2"), "{error:?}");
    };
    let elsewhere = "Location: https://evil.example/mcp\r\n";
    check(
        "307 Temporary Redirect",
        elsewhere,
        McpErrorKind::Protocol,
        "redirects are not followed",
    )
    .await;
    check(
        "401 Unauthorized",
        "WWW-Authenticate: Bearer\r\n",
        McpErrorKind::Unauthorized,
        "bearer token",
    )
    .await;
    check("401 Unauthorized", "", McpErrorKind::Unauthorized, "HTTP status 401").await;
    check("404 Not Found", "", McpErrorKind::Protocol, "check the path of the URL").await;
    check(
        "500 Internal Server Error",
        "",
        McpErrorKind::Protocol,
        "HTTP status 500",
    )
    .await;
    check(
        "200 OK",
        "Content-Type: text/html\r\n",
        McpErrorKind::Protocol,
        "text/html",
    )
    .await;
}

#[tokio::test]
async fn an_expired_session_is_renewed_once_and_no_call_is_repeated() {
    // The server forgets the first session after the handshake, and counts the calls that it runs.
    let (sessions, ran) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (made, calls) = (Arc::clone(&sessions), Arc::clone(&ran));
    let url = fake(move |_, head, body| {
        let json = "Content-Type: application/json\r\n";
        let Ok(message) = serde_json::from_str::<serde_json::Value>(body) else {
            return response("405 Method Not Allowed", "", "");
        };
        let id = &message["id"];
        match message["method"].as_str() {
            Some("initialize") => {
                let number = made.fetch_add(1, Ordering::SeqCst);
                let result = json!({"jsonrpc": "2.0", "id": id, "result": {"protocolVersion": "2025-11-25",
                    "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}}});
                response(
                    "200 OK",
                    &format!("{json}Mcp-Session-Id: session{number}\r\n"),
                    &result.to_string(),
                )
            }
            Some("tools/call") if head.contains("session0") => response("404 Not Found", "", ""),
            Some("tools/call") => {
                calls.fetch_add(1, Ordering::SeqCst);
                let result = json!({"content": [{"type": "text", "text": "ran"}]});
                let result = json!({"jsonrpc": "2.0", "id": id, "result": result});
                response("200 OK", json, &result.to_string())
            }
            _ => response("202 Accepted", "", ""),
        }
    })
    .await;
    let client = connect(HttpTransport::new(&url).unwrap(), Lifecycle::Handshake)
        .await
        .unwrap();
    let output = client.call_tool("run", |_| {}).await.unwrap().unwrap();
    assert_eq!(output.as_value(), Some(&json!("ran")));
    assert_eq!((sessions.load(Ordering::SeqCst), ran.load(Ordering::SeqCst)), (2, 1));
}

#[tokio::test]
async fn a_connection_that_breaks_during_a_call_does_not_repeat_it() {
    let ran = Arc::new(AtomicUsize::new(0));
    let calls = Arc::clone(&ran);
    let url = fake(move |_, _, body| {
        let Ok(message) = serde_json::from_str::<serde_json::Value>(body) else {
            return response("405 Method Not Allowed", "", "");
        };
        match message["method"].as_str() {
            Some("initialize") => {
                let result = json!({"jsonrpc": "2.0", "id": message["id"], "result": {"protocolVersion": "2025-11-25",
                    "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}}});
                response("200 OK", "Content-Type: application/json\r\n", &result.to_string())
            }
            Some("tools/call") => {
                calls.fetch_add(1, Ordering::SeqCst);
                String::new()
            }
            _ => response("202 Accepted", "", ""),
        }
    })
    .await;
    let client = connect(HttpTransport::new(&url).unwrap(), Lifecycle::Handshake)
        .await
        .unwrap();
    let error = client.call_tool("run", |_| {}).await.unwrap_err();
    assert_eq!(error.kind(), McpErrorKind::Closed, "{error}");
    assert_eq!(ran.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn changes_reach_clients_over_http() {
    for (lifecycle, _) in LIFECYCLES {
        let (listener, address) = listener().await;
        let tools = registry();
        let server = McpServer::new(tools.clone());
        tokio::spawn(async move { server.serve_http(listener, HttpServerOptions::new(), pending()).await });
        let transport = HttpTransport::new(&format!("http://{address}/mcp")).unwrap();
        let client = connect(transport, lifecycle).await.unwrap();
        let mut events = client.events();
        let mut number = 0;
        // The stream of notifications is opened in the background.
        loop {
            let tool = agcore_tools::typed(
                &*format!("new{number}"),
                "Is new.",
                |_: agcore_tools::NoArguments| async { Ok(()) },
            );
            tools.register(tool).unwrap();
            number += 1;
            tokio::select! {
                biased;
                event = events.next() => {
                    assert_eq!(event, Some(ServerEvent::ToolsChanged));
                    break;
                }
                result = client.list_tools() => assert!(result.is_ok()),
            }
        }
    }
}

#[test]
fn urls_and_headers_are_checked() {
    let check = |url: &str, text: &str| {
        let error = HttpTransport::new(url).unwrap_err();
        assert_eq!(error.kind(), McpErrorKind::Config);
        assert!(error.message().contains(text), "{error}");
    };
    check("localhost:80", "must begin with http:// or https://");
    check("nonsense", "relative URL without a base");
    check("https://ann:hunter2@example.org", "contains a user name or password");
    let transport = || HttpTransport::new("https://example.org/mcp?key=hunter2").unwrap();
    assert!(transport().with_header("X Y", "1").is_err());
    assert!(transport().with_bearer("a\nb").is_err());
    let transport = transport().with_header("X-Key", "hunter2").unwrap();
    assert!(!format!("{transport:?}").contains("hunter2"));
}
