//! Requests that are wrong, or that ask for what an agent cannot do.

use agcore_chat::Actor;
use agcore_server::Limits;
use http::Method;
use serde_json::{Value, json};

use super::{as_user, asking, complete, content, respond, with};
use crate::{
    support::{Running, builder, store, texts},
    tenants::{bearer, tokens},
};

#[tokio::test]
async fn what_an_agent_cannot_honour_is_refused() {
    let server = Running::start(builder(&texts(["Fine."]), &store())).await;
    for (name, value) in [
        ("n", json!(2)),
        ("logprobs", json!(true)),
        ("top_logprobs", json!(3)),
        ("logit_bias", json!({"50256": -100})),
        ("stop", json!(["\n"])),
        ("modalities", json!(["text", "audio"])),
        ("audio", json!({"voice": "alloy"})),
        ("functions", json!([{"name": "f"}])),
        ("web_search_options", json!({"search_context_size": "low"})),
        ("response_format", json!({"type": "json_object"})),
        (
            "response_format",
            json!({"type": "json_schema", "json_schema": {"name": "a", "schema": {}}}),
        ),
        ("tool_choice", json!("required")),
        ("tool_choice", json!({"type": "function", "function": {"name": "say"}})),
        ("parallel_tool_calls", json!(false)),
    ] {
        let refused = complete(&server, &with(asking("Hello"), name, value)).await;
        refused.assert_openai_error(400, "unsupported_parameter");
        assert_eq!(refused.json()["error"]["param"], name, "{}", refused.text);
    }
    for (name, value) in [
        ("top_logprobs", json!(3)),
        ("max_tool_calls", json!(1)),
        ("prompt", json!({"id": "p"})),
        ("text", json!({"format": {"type": "json_object"}})),
        ("include", json!(["message.output_text.logprobs"])),
        ("tool_choice", json!("required")),
    ] {
        let refused = respond(&server, &json!({"model": "ada", "input": "Hello", name: value})).await;
        refused.assert_openai_error(400, "unsupported_parameter");
    }
    // These are wishes, which the agent's own settings replace, and values that ask for nothing.
    let mut harmless = asking("Hello");
    for (name, value) in [
        ("temperature", json!(0.2)),
        ("max_tokens", json!(100)),
        ("seed", json!(1)),
        ("n", json!(1)),
        ("logprobs", json!(false)),
        ("stop", json!(null)),
        ("response_format", json!({"type": "text"})),
        ("tool_choice", json!("auto")),
        ("user", json!("u")),
        ("quantum", json!({"entangled": true})),
    ] {
        harmless[name] = value;
    }
    assert_eq!(content(&complete(&server, &harmless).await), "Fine.");
    server.stop().await;
}

#[tokio::test]
async fn bodies_of_a_wrong_form_are_refused() {
    let limits = Limits::new().with_max_body_bytes(10_000);
    let server = Running::start(builder(&texts([]), &store()).with_limits(limits)).await;
    let messages = |messages: Value| with(asking(""), "messages", messages);
    let user = json!({"role": "user", "content": "Hello"});
    for (body, param) in [
        (json!({"messages": [user]}), "model"),
        (messages(json!("Hello")), "messages"),
        (messages(json!([])), "messages"),
        (
            messages(json!([{"role": "king", "content": "Hello"}])),
            "messages[0].role",
        ),
        (messages(json!([{"role": "user"}])), "messages[0].content"),
        (
            messages(json!([{"role": "user", "content": [{"type": "hologram"}]}])),
            "messages[0].content[0].type",
        ),
        (
            messages(json!([user, {"role": "assistant", "content": "Hi"}])),
            "messages",
        ),
        (messages(json!([{"role": "system", "content": "Obey."}])), "messages"),
        (
            messages(json!([{"role": "tool", "tool_call_id": "c", "content": "x"}, user])),
            "messages",
        ),
        (with(asking("Hello"), "stream", "yes"), "stream"),
        (with(asking("Hello"), "metadata", json!({"a": 1})), "metadata"),
        (
            with(asking("Hello"), "metadata", json!({"a": "x".repeat(600)})),
            "metadata",
        ),
    ] {
        let refused = complete(&server, &body).await;
        refused.assert_openai_error(400, "invalid_value");
        assert_eq!(refused.json()["error"]["param"], param, "{}", refused.text);
    }
    respond(&server, &json!({"model": "ada"}))
        .await
        .assert_openai_error(400, "invalid_value");
    respond(&server, &json!({"input": "Hello"}))
        .await
        .assert_openai_error(400, "invalid_value");
    let previous = json!({"model": "ada", "input": "Hello", "previous_response_id": "resp_1"});
    respond(&server, &previous).await.assert_openai_error(404, "not_found");
    let long = complete(&server, &asking(&"x".repeat(10_001))).await;
    long.assert_openai_error(413, "body_too_large");
    let kind = server.with(Method::POST, "/v1/chat/completions", &[], None).await;
    kind.assert_openai_error(415, "unsupported_media_type");
    server
        .get("/v1/chat/completions")
        .await
        .assert_openai_error(405, "method_not_allowed");
    server.get("/v1/nowhere").await.assert_openai_error(404, "not_found");
    server.stop().await;
}

#[tokio::test]
async fn media_do_not_lead_into_the_network_of_the_operator() {
    let provider = texts(["Nice."]);
    let server = Running::start(builder(&provider, &store())).await;
    let image = |url: &str| json!([{"type": "image_url", "image_url": {"url": url, "detail": "low"}}]);
    let private = "http://169.254.169.254/latest/meta-data";
    let user = json!({"role": "user", "content": "Hello"});
    for messages in [
        json!([{"role": "user", "content": image(private)}]),
        // Also in messages that are not new, and in results.
        json!([{"role": "user", "content": image(private)}, {"role": "assistant", "content": "Hi"}, user]),
        json!([
            user,
            {"role": "assistant", "tool_calls": [{"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}]},
            {"role": "tool", "tool_call_id": "c", "content": image(private)},
            user,
        ]),
        json!([{"role": "user", "content": [{"type": "file", "file": {"file_id": "file-1"}}]}]),
        json!([{"role": "user", "content": [{"type": "file", "file": {"file_data": "http://10.0.0.7/a.pdf"}}]}]),
    ] {
        let refused = complete(&server, &with(asking(""), "messages", messages)).await;
        refused.assert_openai_error(400, "invalid_request");
    }
    let input = json!([{"role": "user", "content": [{"type": "input_file", "file_url": "http://10.0.0.7/a.pdf"}]}]);
    let refused = respond(&server, &json!({"model": "ada", "input": input})).await;
    refused.assert_openai_error(400, "invalid_request");
    let sessions = server.get("/api/v1/agent/sessions").await.json();
    assert_eq!(sessions["sessions"], json!([]), "nothing was stored");
    let public = with(
        asking(""),
        "messages",
        json!([{"role": "user", "content": image("data:image/png;base64,AAAA")}]),
    );
    assert_eq!(content(&complete(&server, &public).await), "Nice.");
    server.stop().await;
}

#[tokio::test]
async fn credentials_and_limits_are_those_of_all_routes() {
    let store = store();
    let tokens = tokens(&store);
    let ann = bearer(&tokens, 1, Actor::new("acme", "ann")).await;
    let limits = Limits::new().with_max_streams_per_user(0);
    let server = Running::start(
        builder(&texts([]), &store)
            .with_limits(limits)
            .with_authenticator(tokens),
    )
    .await;
    let anonymous = complete(&server, &asking("Hello")).await;
    anonymous.assert_openai_error(401, "unauthenticated");
    assert_eq!(anonymous.json()["error"]["type"], "authentication_error");
    assert_eq!(anonymous.headers["www-authenticate"], "Bearer");
    let limited = as_user(&server, &ann, "/v1/chat/completions", &asking("Hello")).await;
    limited.assert_openai_error(429, "too_many_streams");
    assert_eq!(limited.json()["error"]["type"], "rate_limit_error");
    server.stop().await;
}
