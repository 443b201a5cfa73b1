//! Servers over HTTP as they are found in the field: answers that are not messages of the protocol.

use agcore_mcp::{HttpTransport, Lifecycle, McpClient, McpError, McpErrorKind};
use serde_json::{Value, json};

use crate::http::{connect, fake, response};

pub(crate) const JSON: &str = "Content-Type: application/json\r\n";

/// The answer of a server to one method, as status and headers, body.
type Answer = fn(&Value) -> (&'static str, &'static str, String);

/// A server of the handshake that answers `method` with `answer`.
async fn server(method: &'static str, answer: Answer) -> String {
    fake(move |_, head, body| {
        let Ok(message) = serde_json::from_str::<Value>(body) else {
            return response(
                if head.starts_with("GET") {
                    "405 Method Not Allowed"
                } else {
                    "200 OK"
                },
                "",
                "",
            );
        };
        let asked = message["method"].as_str().unwrap_or_default();
        let answer = if asked == method {
            answer(&message["id"])
        } else {
            usual(asked, &message["id"])
        };
        match answer.0 {
            // The connection is closed without an answer.
            "" => String::new(),
            status => response(status, answer.1, &answer.2),
        }
    })
    .await
}

pub(crate) fn usual(method: &str, id: &Value) -> (&'static str, &'static str, String) {
    let result = match method {
        "initialize" => initialized(),
        "tools/call" => json!({"content": [{"type": "text", "text": "called"}]}),
        "tools/list" => json!({"tools": [{"name": "run", "inputSchema": {"type": "object"}}]}),
        "server/discover" => return ("200 OK", JSON, failure(id.clone(), -32601, "Method not found")),
        _ => return ("202 Accepted", "", String::new()),
    };
    (
        "200 OK",
        JSON,
        json!({"jsonrpc": "2.0", "id": id, "result": result}).to_string(),
    )
}

fn initialized() -> Value {
    json!({"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}})
}

pub(crate) fn failure(id: Value, code: i32, message: &str) -> String {
    json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}}).to_string()
}

async fn try_connect(url: &str) -> Result<McpClient, McpError> {
    connect(HttpTransport::new(url).unwrap(), Lifecycle::Negotiate).await
}

pub(crate) async fn call(client: &McpClient) -> Result<String, McpError> {
    let output = client.call_tool("run", |_| {}).await;
    Ok(output?.unwrap().into_content().unwrap().text().into_owned())
}

#[tokio::test]
async fn calls_fail_at_once_with_the_reason() {
    let cases: [(Answer, McpErrorKind, &str); 12] = [
        (
            |_| {
                (
                    "500 Internal Server Error",
                    JSON,
                    failure(Value::Null, -32603, "Internal"),
                )
            },
            McpErrorKind::Server,
            "error -32603: Internal",
        ),
        (
            |_| ("400 Bad Request", JSON, failure(Value::Null, -32600, "No")),
            McpErrorKind::Server,
            "error -32600: No",
        ),
        (
            |_| ("200 OK", JSON, failure(Value::Null, -32603, "Internal")),
            McpErrorKind::Server,
            "error -32603: Internal",
        ),
        (
            |_| ("200 OK", JSON, failure(json!("server-error"), -32603, "Oops")),
            McpErrorKind::Server,
            "error -32603: Oops",
        ),
        (
            |id| {
                (
                    "200 OK",
                    JSON,
                    json!({"jsonrpc": "2.0", "id": id, "error": {"code": "E_BAD"}}).to_string(),
                )
            },
            McpErrorKind::Server,
            "E_BAD: it gave no reason",
        ),
        (
            |_| ("202 Accepted", "", String::new()),
            McpErrorKind::Protocol,
            "HTTP status 202",
        ),
        (
            |_| ("204 No Content", "", String::new()),
            McpErrorKind::Protocol,
            "HTTP status 204",
        ),
        (
            |_| ("200 OK", JSON, String::new()),
            McpErrorKind::Protocol,
            "its answer is empty",
        ),
        (
            |_| ("200 OK", JSON, r#"{"jsonrpc":"2.0","id":3,"result":{"#.to_owned()),
            McpErrorKind::Protocol,
            r#"it begins with `{"jsonrpc":"2.0","id":3,"result":{`"#,
        ),
        (
            |_| ("200 OK", "Content-Type: text/html\r\n", "<html>login</html>".to_owned()),
            McpErrorKind::Protocol,
            "text/html instead of application/json or text/event-stream; check the URL; the answer begins with `<html>login</html>`",
        ),
        (
            |_| {
                (
                    "502 Bad Gateway",
                    "Content-Type: text/html\r\n",
                    "<h1>Bad Gateway</h1>".to_owned(),
                )
            },
            McpErrorKind::Protocol,
            "HTTP status 502; the answer is `<h1>Bad Gateway</h1>`",
        ),
        (
            |_| {
                (
                    "200 OK",
                    "Content-Type: text/event-stream\r\n",
                    ": nothing\n\n".to_owned(),
                )
            },
            McpErrorKind::Server,
            "the stream of events ended before the response",
        ),
    ];
    for (answer, kind, text) in cases {
        let url = server("tools/call", answer).await;
        let client = try_connect(&url).await.unwrap();
        let error = call(&client).await.unwrap_err();
        assert_eq!(error.kind(), kind, "{error}");
        assert!(error.message().contains(text), "{error}");
        assert!(!format!("{error:?} {error}").contains("hunter2"), "{error:?}");
    }
}

#[tokio::test]
async fn field_refusals_of_notifications_answer_no_request() {
    for status in ["400 Bad Request", "404 Not Found", "500 Internal Server Error"] {
        let url = fake(move |_, _, body| {
            let message: Value = serde_json::from_str(body).unwrap_or_default();
            let answer = usual(message["method"].as_str().unwrap_or_default(), &message["id"]);
            match message["id"] {
                Value::Null => response(status, JSON, &failure(Value::Null, -32600, "no")),
                _ => response(answer.0, answer.1, &answer.2),
            }
        })
        .await;
        // The refusal and the answers arrive in any order.
        for _ in 0..10 {
            let client = try_connect(&url).await.unwrap();
            assert_eq!(client.list_tools().await.unwrap().len(), 1, "{status}");
            assert_eq!(call(&client).await.unwrap(), "called", "{status}");
        }
    }
}

#[tokio::test]
async fn answers_that_can_be_repaired_are_used() {
    fn result(id: &Value) -> String {
        let content = json!({"content": [{"type": "text", "text": "TEXT"}]});
        json!({"jsonrpc": "2.0", "id": id, "result": content}).to_string()
    }
    let cases: [(Answer, &str); 9] = [
        (
            |id| ("200 OK", JSON, result(id).replace("TEXT", r"lone \ud83d")),
            "lone \u{fffd}",
        ),
        (
            |id| {
                (
                    "200 OK",
                    JSON,
                    result(id).replace(r#""TEXT""#, r#""TEXT","annotations":{"priority":NaN}"#),
                )
            },
            "TEXT",
        ),
        (|id| ("200 OK", JSON, format!("\u{feff}{}", result(id))), "TEXT"),
        (|id| ("200 OK", "", result(id)), "TEXT"),
        (|id| ("200 OK", "Content-Type: text/plain\r\n", result(id)), "TEXT"),
        (
            |id| {
                (
                    "200 OK",
                    "Content-Type: Application/JSON; charset=utf-8\r\n",
                    result(id),
                )
            },
            "TEXT",
        ),
        (|id| ("200 OK", JSON, format!("[{}]", result(id))), "TEXT"),
        (
            |id| {
                (
                    "200 OK",
                    "Content-Type: text/event-stream\r\n",
                    format!("data: {}\n\n", result(id).replace("TEXT", r"lone \udc00")),
                )
            },
            "lone \u{fffd}",
        ),
        (
            |id| {
                (
                    "200 OK",
                    "Content-Type: text/event-stream\r\n",
                    format!("data:\n\nid: 1\nevent: message\ndata: {}\r\n\r\n", result(id)),
                )
            },
            "TEXT",
        ),
    ];
    for (number, (answer, text)) in cases.into_iter().enumerate() {
        let url = server("tools/call", answer).await;
        let client = try_connect(&url).await.unwrap();
        assert_eq!(call(&client).await.unwrap(), text, "case {number}");
    }
}

#[tokio::test]
async fn the_handshake_is_tried_after_any_failure_of_the_probe() {
    let cases: [Answer; 14] = [
        |_| {
            (
                "500 Internal Server Error",
                "Content-Type: text/plain\r\n",
                "oops".to_owned(),
            )
        },
        |_| ("501 Not Implemented", "", String::new()),
        |_| {
            (
                "502 Bad Gateway",
                "Content-Type: text/html\r\n",
                "<h1>Bad Gateway</h1>".to_owned(),
            )
        },
        |_| ("200 OK", JSON, String::new()),
        |_| ("200 OK", "", String::new()),
        |_| ("200 OK", "Content-Type: text/html\r\n", "<html>x</html>".to_owned()),
        |_| ("202 Accepted", "", String::new()),
        |_| ("429 Too Many Requests", "", String::new()),
        |_| ("403 Forbidden", "", String::new()),
        |id| {
            (
                "200 OK",
                JSON,
                json!({"jsonrpc": "2.0", "id": id, "result": {}}).to_string(),
            )
        },
        |id| {
            (
                "200 OK",
                JSON,
                json!({"jsonrpc": "2.0", "id": id, "result": []}).to_string(),
            )
        },
        |_| {
            (
                "400 Bad Request",
                JSON,
                failure(Value::Null, -32000, "Bad Request: Server not initialized"),
            )
        },
        |_| {
            (
                "200 OK",
                "Content-Type: text/event-stream\r\n",
                ": nothing\n\n".to_owned(),
            )
        },
        // The connection is closed.
        |_| ("", "", String::new()),
    ];
    for (number, answer) in cases.into_iter().enumerate() {
        let url = server("server/discover", answer).await;
        let client = try_connect(&url)
            .await
            .unwrap_or_else(|error| panic!("case {number}: {error}"));
        assert_eq!(call(&client).await.unwrap(), "called", "case {number}");
    }
}

#[tokio::test]
async fn the_cause_of_a_failed_connection_is_named() {
    let cases: [(Answer, McpErrorKind, &str); 8] = [
        (
            |_| ("401 Unauthorized", "WWW-Authenticate: Bearer\r\n", String::new()),
            McpErrorKind::Unauthorized,
            "it requires authorization",
        ),
        (
            |_| ("401 Unauthorized", JSON, r#"{"error":"unauthorized"}"#.to_owned()),
            McpErrorKind::Unauthorized,
            "HTTP status 401",
        ),
        (
            |_| ("307 Temporary Redirect", "Location: /mcp/\r\n", String::new()),
            McpErrorKind::Protocol,
            "redirects to the same URL with `/` at its end (HTTP status 307)",
        ),
        (
            |_| {
                (
                    "200 OK",
                    "Content-Type: text/html\r\n",
                    "<html>Sign in</html>".to_owned(),
                )
            },
            McpErrorKind::Protocol,
            "text/html",
        ),
        (
            |_| ("404 Not Found", "", String::new()),
            McpErrorKind::Protocol,
            "check the path of the URL",
        ),
        (
            |_| ("503 Service Unavailable", "", "starting".to_owned()),
            McpErrorKind::Protocol,
            "HTTP status 503; the answer is `starting`",
        ),
        (
            |id| {
                (
                    "200 OK",
                    JSON,
                    json!({"jsonrpc": "2.0", "id": id, "result": {}}).to_string(),
                )
            },
            McpErrorKind::Protocol,
            "it answered initialize with",
        ),
        (
            |id| ("200 OK", JSON, failure(id.clone(), -32602, "Unsupported client")),
            McpErrorKind::Server,
            "Unsupported client",
        ),
    ];
    for (answer, kind, text) in cases {
        let url = server("initialize", answer).await;
        let error = try_connect(&url).await.unwrap_err();
        assert_eq!(error.kind(), kind, "{error}");
        assert!(error.message().contains(text), "{error}");
        assert!(!error.message().contains("both failed"), "{error}");
    }
}

#[tokio::test]
async fn both_reasons_are_named_if_they_differ() {
    let url = fake(|_, _, body| {
        let message: Value = serde_json::from_str(body).unwrap_or_default();
        match message["method"].as_str() {
            Some("initialize") => response("404 Not Found", "", ""),
            _ => response("500 Internal Server Error", "", "no database"),
        }
    })
    .await;
    let error = try_connect(&url).await.unwrap_err();
    let text = "before, server/discover failed: it answered with HTTP status 500; the answer is `no database`";
    assert!(
        error.message().contains("HTTP status 404") && error.message().ends_with(text),
        "{error}"
    );
}

#[tokio::test]
async fn the_transport_of_2024_is_recognized() {
    let url = fake(|_, head, _| match head.starts_with("GET") {
        true => response(
            "200 OK",
            "Content-Type: text/event-stream\r\n",
            "event: endpoint\ndata: /messages?sessionId=1\n\n",
        ),
        false => response("404 Not Found", "Content-Type: text/html\r\n", "Cannot POST /sse"),
    })
    .await;
    let error = try_connect(&url).await.unwrap_err();
    assert_eq!(error.kind(), McpErrorKind::Unsupported);
    assert!(
        error
            .message()
            .contains("the transport HTTP with SSE of the revision 2024-11-05"),
        "{error}"
    );
}

#[tokio::test]
async fn descriptions_of_php_servers_are_repaired() {
    for (member, value) in [("capabilities", json!({"tools": []})), ("serverInfo", Value::Null)] {
        let url = fake(move |_, _, body| {
            let message: Value = serde_json::from_str(body).unwrap_or_default();
            let id = &message["id"];
            if message["method"] == "initialize" {
                let mut result = initialized();
                result[member] = value.clone();
                let answer = json!({"jsonrpc": "2.0", "id": id, "result": result});
                return response("200 OK", JSON, &answer.to_string());
            }
            let answer = usual(message["method"].as_str().unwrap_or_default(), id);
            response(answer.0, answer.1, &answer.2)
        })
        .await;
        let client = try_connect(&url).await.unwrap();
        assert_eq!(client.list_tools().await.unwrap().len(), 1);
    }
}
