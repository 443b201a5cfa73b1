//! Servers over HTTP that forget a session, and say so in the forms of the field.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use agcore_mcp::{HttpTransport, Lifecycle};
use serde_json::Value;

use crate::{
    field_http::{JSON, call, failure, usual},
    http::{connect, fake, response},
};

/// A server that forgets its first session, and says so with `refusal`. Counts the sessions and the calls that it runs.
async fn forgetful(status: &'static str, text: Option<&'static str>, always: bool) -> (String, Arc<[AtomicUsize; 2]>) {
    let counts = Arc::new([AtomicUsize::new(0), AtomicUsize::new(0)]);
    let counted = Arc::clone(&counts);
    let url = fake(move |_, head, body| {
        let message: Value = serde_json::from_str(body).unwrap_or_default();
        let method = message["method"].as_str().unwrap_or_default();
        let answer = usual(method, &message["id"]);
        match method {
            "initialize" => {
                let number = counted[0].fetch_add(1, Ordering::SeqCst);
                response(
                    answer.0,
                    &format!("{JSON}Mcp-Session-Id: session{number}\r\n"),
                    &answer.2,
                )
            }
            "tools/call" if always || head.contains("session0") => match text {
                Some(text) => response(status, JSON, &failure(Value::Null, -32000, text)),
                None => response(status, "Content-Type: text/plain\r\n", "Invalid session ID"),
            },
            "tools/call" => {
                counted[1].fetch_add(1, Ordering::SeqCst);
                response(answer.0, answer.1, &answer.2)
            }
            _ => response(answer.0, answer.1, &answer.2),
        }
    })
    .await;
    (url, counts)
}

#[tokio::test]
async fn a_forgotten_session_is_renewed_once_whatever_form_the_refusal_has() {
    let text = Some("Bad Request: No valid session ID provided");
    for (status, text) in [
        ("400 Bad Request", text),
        ("403 Forbidden", text),
        ("404 Not Found", text),
        ("500 Internal Server Error", text),
        ("200 OK", Some("Session not found")),
        ("400 Bad Request", None),
        ("403 Forbidden", None),
    ] {
        let (url, counts) = forgetful(status, text, false).await;
        let client = connect(HttpTransport::new(&url).unwrap(), Lifecycle::Handshake)
            .await
            .unwrap();
        assert_eq!(call(&client).await.unwrap(), "called", "{status} {text:?}");
        let counts = [&counts[0], &counts[1]].map(|count| count.load(Ordering::SeqCst));
        assert_eq!(counts, [2, 1], "{status} {text:?}");

        // A server that refuses the new session as well is not asked for ever.
        let (url, counts) = forgetful(status, text, true).await;
        let client = connect(HttpTransport::new(&url).unwrap(), Lifecycle::Handshake)
            .await
            .unwrap();
        let error = call(&client).await.unwrap_err();
        assert!(error.message().contains("it has forgotten the session"), "{error}");
        assert_eq!(counts[0].load(Ordering::SeqCst), 2, "{status} {text:?}");
    }
}
