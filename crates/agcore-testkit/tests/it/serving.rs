//! Other operations than answers: models, embeddings, token counts and custom routes.

use agcore_testkit::mock_server::{MockOptions, MockServer, RecordedRequest, Reply, Script};
use hyper::header::HeaderValue;
use serde_json::{Value, json};

use super::client::{get, post, request, send, serving, with_options};

async fn two_models() -> MockServer {
    with_options(MockOptions::new().with_models(["a", "b"])).await
}

#[tokio::test]
async fn lists_models_in_each_vendors_format() {
    let server = two_models().await;
    let openai = get(&server, "/v1/models").await.json();
    assert_eq!(openai["object"], "list");
    assert_eq!(
        (&openai["data"][0]["id"], &openai["data"][1]["object"]),
        (&json!("a"), &json!("model"))
    );

    let mut request = request("GET", "/v1/models", "");
    request
        .headers_mut()
        .insert("anthropic-version", HeaderValue::from_static("2023-06-01"));
    let anthropic = send(&server, request).await.json();
    assert_eq!(
        (&anthropic["has_more"], &anthropic["last_id"]),
        (&json!(false), &json!("b"))
    );
    assert_eq!(anthropic["data"][0]["type"], "model");

    let ollama = get(&server, "/api/tags").await.json();
    assert_eq!(ollama["models"][1]["model"], "b");
}

#[tokio::test]
async fn computes_embeddings_from_words() {
    let server = serving(Reply::text("ok")).await;
    let body = json!({ "model": "e", "input": ["The red fox", "the RED dog", "Blue sea"], "dimensions": 512 });
    let reply = post(&server, "/v1/embeddings", &body).await.json();
    let vector = |index: usize| -> Vec<f64> {
        assert_eq!(reply["data"][index]["index"], index);
        let values = reply["data"][index]["embedding"].as_array().unwrap();
        values.iter().map(|value| value.as_f64().unwrap()).collect()
    };
    let dot = |a: &[f64], b: &[f64]| -> f64 { a.iter().zip(b).map(|(x, y)| x * y).sum() };
    let (fox, dog, sea) = (vector(0), vector(1), vector(2));
    assert_eq!(fox.len(), 512);
    assert!((dot(&fox, &fox) - 1.0).abs() < 1e-5);
    assert!(dot(&fox, &dog) > 0.6 && dot(&fox, &sea) < 0.1);
    assert_eq!(reply["usage"], json!({ "prompt_tokens": 8, "total_tokens": 8 }));

    let ollama = post(&server, "/api/embed", &json!({ "model": "e", "input": "x" }))
        .await
        .json();
    assert_eq!(ollama["embeddings"][0].as_array().unwrap().len(), 64);
}

#[tokio::test]
async fn rejects_unsupported_embedding_requests() {
    let server = serving(Reply::text("ok")).await;
    for (member, value) in [
        ("input", json!("")),
        ("input", json!([])),
        ("input", json!([1, 2])),
        ("dimensions", json!(0)),
        ("dimensions", json!(1_000_000)),
        ("encoding_format", json!("base64")),
    ] {
        let mut body = json!({ "model": "e", "input": "x" });
        body[member] = value;
        let received = post(&server, "/v1/embeddings", &body).await;
        assert_eq!(
            (received.status, &received.json()["error"]["param"]),
            (400, &json!(member)),
            "{body}"
        );
    }
}

#[tokio::test]
async fn counts_tokens() {
    let server = serving(Reply::text("ok")).await;
    let body = json!({ "model": "m", "messages": [{ "role": "user", "content": "twelve chars" }] });
    let counted = post(&server, "/v1/messages/count_tokens", &body).await;
    assert_eq!(counted.json(), json!({ "input_tokens": 3 }));
}

#[tokio::test]
async fn custom_routes_take_precedence() {
    let options = MockOptions::new()
        .with_key("k")
        .with_route("GET", "/v1/models", Script::new([Reply::html(200, "<html>")]))
        .with_route("GET", "/health", |_: &RecordedRequest| {
            Reply::json(200, &json!({ "status": "ok" }))
        });
    let server = with_options(options).await;
    assert_eq!(get(&server, "/health").await.json(), json!({ "status": "ok" }));
    assert!(server.verify().is_err(), "a reply of the route's script is left");
    assert_eq!(get(&server, "/v1/models").await.text(), "<html>");
    server.assert_done();
}

#[tokio::test]
async fn returns_its_addresses() {
    let server = two_models().await;
    let port = server.address().port();
    assert_eq!(server.base_url(), format!("http://127.0.0.1:{port}/v1"));
    assert_eq!(server.root_url(), format!("http://127.0.0.1:{port}"));
    let taken = MockOptions::new().with_port(port);
    assert!(
        MockServer::start_with(taken, |_: &RecordedRequest| Reply::text(""))
            .await
            .is_err()
    );
}

#[tokio::test]
async fn serves_many_requests_on_one_connection() {
    use http_body_util::BodyExt;
    use hyper_util::rt::TokioIo;

    let server = serving(Reply::text("ok")).await;
    let stream = tokio::net::TcpStream::connect(server.address()).await.unwrap();
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream))
        .await
        .unwrap();
    let driver = tokio::spawn(connection);
    for stream in [true, false, true] {
        let body = super::client::chat(stream).to_string();
        let reply = sender
            .send_request(request("POST", super::client::CHAT, &body))
            .await
            .unwrap();
        let bytes = reply.into_body().collect().await.unwrap().to_bytes();
        assert!(String::from_utf8_lossy(&bytes).contains("ok"));
    }
    let streamed: Vec<Value> = server
        .requests()
        .iter()
        .map(|request| request.json()["stream"].clone())
        .collect();
    assert_eq!(streamed, [true, false, true]);
    // An idle connection does not delay the shutdown.
    server.shutdown().await;
    driver.await.unwrap().unwrap();
}
