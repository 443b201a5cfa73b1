//! Tools of clients.

use agcore_chat::{Actor, Message, ToolCall};
use agcore_testkit::scripted::{ScriptStep, ScriptedProvider};
use serde_json::{Value, json};

use super::{as_user, asking, choice, chunks, complete, content, respond, with};
use crate::{
    support::{Answer, Running, builder, call, store},
    tenants::{bearer, tokens},
};

fn tools() -> Value {
    let schema = json!({"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]});
    json!([
        {"type": "function", "function": {"name": "show_map", "description": "Shows a map.", "parameters": schema}},
        {"type": "function", "function": {"name": "pick_date"}},
    ])
}

fn map_call(id: &str) -> ToolCall {
    ToolCall::function(id, "show_map", r#"{"city": "Rome"}"#)
}

/// Returns the request that continues with results of the calls of an answer.
fn results(first: &Value, answer: &Value, results: &[&str]) -> Value {
    let mut body = first.clone();
    let messages = body["messages"].as_array_mut().unwrap();
    messages.push(answer["message"].clone());
    let calls = answer["message"]["tool_calls"].as_array().unwrap();
    for (call, result) in calls.iter().zip(results) {
        messages.push(json!({"role": "tool", "tool_call_id": call["id"], "content": result}));
    }
    body
}

#[track_caller]
fn calls(choice: &Value) -> Vec<(&str, &str)> {
    assert_eq!(choice["finish_reason"], "tool_calls", "{choice}");
    let calls = choice["message"]["tool_calls"].as_array().unwrap().iter();
    calls
        .map(|call| {
            (
                call["function"]["name"].as_str().unwrap(),
                call["function"]["arguments"].as_str().unwrap(),
            )
        })
        .collect()
}

fn seen(provider: &ScriptedProvider) -> Vec<String> {
    let requests = provider.requests();
    let messages = requests.last().unwrap().messages.iter();
    let results = messages.filter(|message| matches!(***message, Message::Tool(_)));
    results.map(|message| message.text().into_owned()).collect()
}

#[tokio::test]
async fn the_client_runs_its_tools_also_after_a_restart() {
    let calls_of_model = [map_call("c1"), call("c2", "say"), call("c3", "pick_date")];
    let provider = ScriptedProvider::new([ScriptStep::calls(calls_of_model), ScriptStep::text("There.")]);
    let store = store();
    let server = Running::start(builder(&provider, &store)).await;
    let first = with(asking("Where is Rome?"), "tools", tools());
    let answer = choice(&complete(&server, &first).await);
    // The call of the server's tool was run by the server.
    assert_eq!(
        calls(&answer),
        [("show_map", r#"{"city": "Rome"}"#), ("pick_date", "{}")]
    );
    server.kill().await;

    let server = Running::start(builder(&provider, &store)).await;
    let some = results(&first, &answer, &["shown"]);
    let missing = complete(&server, &some).await;
    missing.assert_openai_error(400, "invalid_value");
    let second = results(&first, &answer, &["shown", "May 1"]);
    let there = complete(&server, &second).await;
    assert_eq!(content(&there), "There.");
    assert_eq!(seen(&provider), ["shown", "said", "May 1"]);
    // The same results again are the same run.
    assert_eq!(complete(&server, &second).await.text, there.text);
    let other = complete(&server, &results(&first, &answer, &["shown", "May 2"])).await;
    other.assert_openai_error(409, "already_answered");
    provider.assert_done();
    // The next message of the conversation has the calls and results in its history.
    provider.push(ScriptStep::text("Fine."));
    let mut third = second.clone();
    let messages = third["messages"].as_array_mut().unwrap();
    messages.extend([
        json!({"role": "assistant", "content": "There."}),
        json!({"role": "user", "content": "Thanks."}),
    ]);
    assert_eq!(content(&complete(&server, &third).await), "Fine.");
    assert_eq!(seen(&provider), ["shown", "May 1"]);
    server.stop().await;
}

#[tokio::test]
async fn results_are_repeated_while_a_later_call_waits() {
    let provider = ScriptedProvider::new([ScriptStep::calls([map_call("c1")]), ScriptStep::calls([map_call("c2")])]);
    let server = Running::start(builder(&provider, &store())).await;
    let first = with(asking("Where?"), "tools", tools());
    let answer = choice(&complete(&server, &first).await);
    let second = results(&first, &answer, &["shown"]);
    let later = complete(&server, &second).await;
    assert_eq!(calls(&choice(&later)).len(), 1, "{}", later.text);
    // The answer was lost, so that the client asks again.
    assert_eq!(complete(&server, &second).await.text, later.text);
    server.stop().await;
}

#[tokio::test]
async fn calls_are_streamed() {
    let provider = ScriptedProvider::new([ScriptStep::calls([map_call("c1"), map_call("c2")])]);
    let server = Running::start(builder(&provider, &store())).await;
    let body = with(with(asking("Where?"), "tools", tools()), "stream", true);
    let chunks = chunks(&complete(&server, &body).await);
    let deltas: Vec<&Value> = chunks
        .iter()
        .filter_map(|chunk| chunk["choices"][0]["delta"]["tool_calls"].as_array())
        .flatten()
        .collect();
    assert_eq!(
        (deltas.len(), &deltas[0]["index"], &deltas[1]["index"]),
        (2, &json!(0), &json!(1))
    );
    assert_eq!(deltas[1]["function"]["arguments"], r#"{"city": "Rome"}"#);
    assert_eq!(chunks.last().unwrap()["choices"][0]["finish_reason"], "tool_calls");
    server.stop().await;
}

#[tokio::test]
async fn responses_have_calls_and_take_their_results() {
    let provider = ScriptedProvider::new([ScriptStep::calls([map_call("c1")]), ScriptStep::text("There.")]);
    let server = Running::start(builder(&provider, &store())).await;
    let tools = json!([{"type": "function", "name": "show_map", "parameters": {"type": "object"}}]);
    let first = respond(&server, &json!({"model": "ada", "input": "Where?", "tools": tools}))
        .await
        .json();
    let item = &first["output"][0];
    assert_eq!(
        (&item["type"], &item["name"], &first["status"]),
        (&json!("function_call"), &json!("show_map"), &json!("completed"))
    );
    let output = json!({"type": "function_call_output", "call_id": item["call_id"], "output": "shown"});
    let body = json!({"model": "ada", "previous_response_id": first["id"], "input": [output], "tools": tools});
    let second = respond(&server, &body).await.json();
    assert_eq!(second["output"][0]["content"][0]["text"], "There.");
    assert_eq!(second["previous_response_id"], first["id"]);
    // Without the previous response, the call names the thread.
    let alone = json!({"model": "ada", "input": [item, output]});
    assert_eq!(respond(&server, &alone).await.json()["output"], second["output"]);
    assert_eq!(seen(&provider), ["shown"]);
    server.stop().await;
}

#[tokio::test]
async fn tools_of_the_server_are_not_replaced() {
    let server = Running::start(builder(&ScriptedProvider::new([]), &store())).await;
    let tool = |name: &str| json!([{"type": "function", "function": {"name": name}}]);
    for (tools, status, words) in [
        (tool("pay"), 400, "pay"),
        (json!([{"type": "web_search"}]), 400, "tools[0].type"),
        (
            json!([{"type": "function", "function": {"name": "a b"}}]),
            400,
            "tools[0].function.name",
        ),
        (
            json!([{"type": "function", "function": {"name": "a", "parameters": {"description": "x".repeat(1 << 20)}}}]),
            413,
            "tools[0]",
        ),
        (Value::from(vec![tool("a")[0].clone(); 129]), 413, "tools"),
    ] {
        let answer = complete(&server, &with(asking("Hello"), "tools", tools)).await;
        assert_eq!(answer.status.as_u16(), status, "{}", answer.text);
        assert!(
            answer.json()["error"]["message"].as_str().unwrap().contains(words),
            "{}",
            answer.text
        );
    }
    server.stop().await;
}

#[tokio::test]
async fn results_of_others_and_of_unknown_calls_are_not_found() {
    let provider = ScriptedProvider::new([ScriptStep::calls([map_call("c1")]), ScriptStep::text("There.")]);
    let store = store();
    let tokens = tokens(&store);
    let ann = bearer(&tokens, 1, Actor::new("acme", "ann")).await;
    let others = [
        bearer(&tokens, 2, Actor::new("acme", "bob")).await,
        bearer(&tokens, 3, Actor::new("evil", "ann")).await,
    ];
    let server = Running::start(builder(&provider, &store).with_authenticator(tokens)).await;
    let post = async |user: &str, body: &Value| as_user(&server, user, "/v1/chat/completions", body).await;
    let first = with(asking("Where?"), "tools", tools());
    let answer = choice(&post(&ann, &first).await);
    let second = results(&first, &answer, &["shown"]);
    for other in &others {
        post(other, &second).await.assert_openai_error(404, "not_found");
    }
    let mut unknown = second.clone();
    unknown["messages"][2]["tool_call_id"] = json!("call_abc");
    let foreign: Answer = post(&ann, &unknown).await;
    foreign.assert_openai_error(404, "not_found");
    // Others learn nothing: their answer is the same.
    assert_eq!(post(&others[0], &second).await.text, foreign.text);
    assert_eq!(content(&post(&ann, &second).await), "There.");
    server.stop().await;
}
