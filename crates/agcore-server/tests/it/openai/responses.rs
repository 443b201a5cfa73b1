//! Responses.

use agcore_chat::{Actor, AssistantMessage, Block, FinishReason};
use agcore_testkit::scripted::{ScriptStep, ScriptedProvider};
use http::Method;
use serde_json::{Value, json};

use super::{as_user, chunks, respond, with};
use crate::{
    support::{Running, builder, store, texts},
    tenants::{bearer, tokens},
};

fn asking(text: &str) -> Value {
    json!({"model": "ada", "input": text})
}

#[track_caller]
fn output_text(response: &Value) -> String {
    let items = response["output"].as_array().unwrap_or_else(|| panic!("{response}"));
    let parts = items.iter().filter_map(|item| item["content"].as_array()).flatten();
    parts.filter_map(|part| part["text"].as_str()).collect()
}

#[tokio::test]
async fn a_response_continues_its_conversation_in_one_thread() {
    let provider = texts(["One.", "Two.", "Three."]);
    let store = store();
    let server = Running::start(builder(&provider, &store)).await;
    let metadata = json!({"topic": "numbers"});
    let first = respond(
        &server,
        &with(
            with(asking("First"), "metadata", metadata.clone()),
            "instructions",
            "Count.",
        ),
    )
    .await;
    let body = first.json();
    assert_eq!(
        (output_text(&body).as_str(), &body["status"]),
        ("One.", &json!("completed"))
    );
    assert_eq!(body["metadata"], metadata);
    assert_eq!(body["usage"]["total_tokens"], 15);
    let path = format!("/v1/responses/{}", body["id"].as_str().unwrap());
    assert_eq!(server.get(&path).await.text, first.text);
    server.stop().await;

    let server = Running::start(builder(&provider, &store)).await;
    assert_eq!(server.get(&path).await.text, first.text);
    let next = with(asking("Second"), "previous_response_id", body["id"].clone());
    let second = respond(&server, &next).await.json();
    assert_eq!(
        (output_text(&second).as_str(), &second["previous_response_id"]),
        ("Two.", &body["id"])
    );
    let seen: Vec<String> = provider.requests()[1]
        .messages
        .iter()
        .map(|message| message.own_text().into_owned())
        .collect();
    assert_eq!(seen, ["Be Ada.", "First", "One.", "Second"]);
    // Of a thread, only the newest response can be continued.
    let branch = respond(
        &server,
        &with(asking("Third"), "previous_response_id", body["id"].clone()),
    )
    .await;
    branch.assert_openai_error(400, "unsupported_value");
    let third = with(json!({"input": "Third"}), "previous_response_id", second["id"].clone());
    assert_eq!(output_text(&respond(&server, &third).await.json()), "Three.");
    let sessions = server.get("/api/v1/agent/sessions").await.json();
    assert_eq!(sessions["sessions"].as_array().unwrap().len(), 1);
    server.stop().await;
}

#[tokio::test]
async fn only_one_of_two_requests_continues_a_response() {
    let provider = texts(["One.", "Two.", "Three."]);
    let server = Running::start(builder(&provider, &store())).await;
    let first = respond(&server, &asking("First")).await.json();
    let next = |text: &str| with(asking(text), "previous_response_id", first["id"].clone());
    let (next, other) = (next("Second"), next("Third"));
    let (one, two) = tokio::join!(respond(&server, &next), respond(&server, &other));
    let mut statuses = [one.status.as_u16(), two.status.as_u16()];
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 400], "{} {}", one.text, two.text);
    server.stop().await;
}

#[tokio::test]
async fn a_stream_builds_the_response() {
    let message = AssistantMessage::from_blocks([Block::reasoning("Let me think."), Block::text("Four.")]);
    let provider = ScriptedProvider::new([ScriptStep::message(message, FinishReason::Stop)]);
    let server = Running::start(builder(&provider, &store())).await;
    let answer = respond(&server, &with(asking("2 + 2?"), "stream", true)).await;
    let events = chunks(&answer);
    let types: Vec<&str> = events.iter().map(|event| event["type"].as_str().unwrap()).collect();
    assert_eq!(
        types,
        [
            "response.created",
            "response.in_progress",
            "response.output_item.added",
            "response.reasoning_summary_part.added",
            "response.reasoning_summary_text.delta",
            "response.reasoning_summary_text.done",
            "response.reasoning_summary_part.done",
            "response.output_item.done",
            "response.output_item.added",
            "response.content_part.added",
            "response.output_text.delta",
            "response.output_text.done",
            "response.content_part.done",
            "response.output_item.done",
            "response.completed",
        ]
    );
    for (index, event) in events.iter().enumerate() {
        assert_eq!(event["sequence_number"], index);
    }
    let response = &events.last().unwrap()["response"];
    assert_eq!(output_text(response), "Four.");
    assert_eq!(response["output"][0]["summary"][0]["text"], "Let me think.");
    let stored = server
        .get(&format!("/v1/responses/{}", response["id"].as_str().unwrap()))
        .await;
    assert_eq!(stored.json(), *response);
    server.stop().await;
}

#[tokio::test]
async fn a_response_in_the_background_is_read_later() {
    let provider = ScriptedProvider::new([ScriptStep::text("Sl").then_hang()]);
    let server = Running::start(builder(&provider, &store())).await;
    let body = respond(&server, &with(asking("Slowly"), "background", true))
        .await
        .json();
    assert_eq!(
        (&body["status"], &body["background"]),
        (&json!("in_progress"), &json!(true))
    );
    let path = format!("/v1/responses/{}", body["id"].as_str().unwrap());
    assert_eq!(server.get(&path).await.json()["status"], "in_progress");
    server.post(&format!("{path}/cancel"), &json!({})).await;
    loop {
        let now = server.get(&path).await.json();
        if now["status"] == "cancelled" {
            break;
        }
        assert_eq!(now["status"], "in_progress", "{now}");
        tokio::task::yield_now().await;
    }
    server.stop().await;
}

#[tokio::test]
async fn responses_of_others_are_unknown() {
    let provider = texts(["Secret.", "Other."]);
    let store = store();
    let tokens = tokens(&store);
    let ann = bearer(&tokens, 1, Actor::new("acme", "ann")).await;
    let server_tokens = tokens.clone();
    let others = [
        bearer(&tokens, 2, Actor::new("acme", "bob")).await,
        bearer(&tokens, 3, Actor::new("evil", "ann")).await,
    ];
    let server = Running::start(builder(&provider, &store).with_authenticator(server_tokens)).await;
    let first = as_user(&server, &ann, "/v1/responses", &asking("Hello")).await.json();
    let id = first["id"].as_str().unwrap();
    let none = agcore_openai::ResponseId::new("none", "none").encode();
    for other in &others {
        let ask = async |id: &str| {
            let next = with(asking("And?"), "previous_response_id", id);
            let headers = [("authorization", &**other)];
            let path = format!("/v1/responses/{id}");
            let cancel = format!("{path}/cancel");
            [
                as_user(&server, other, "/v1/responses", &next).await,
                server.with(Method::GET, &path, &headers, None).await,
                as_user(&server, other, &cancel, &json!({})).await,
            ]
        };
        for (known, unknown) in ask(id).await.iter().zip(ask(&none).await) {
            known.assert_openai_error(404, "not_found");
            assert_eq!(known.text, unknown.text);
        }
    }
    server.stop().await;
}
