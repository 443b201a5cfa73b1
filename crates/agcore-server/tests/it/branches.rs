//! Branches of threads.

use agcore_chat::Actor;
use agcore_server::Server;
use agcore_testkit::scripted::ScriptedProvider;
use http::Method;
use serde_json::{Value, json};

use crate::{
    flows::{ROUTER, Tools},
    support::{Answer, Running, builder, flow_store, input, store, text_of, texts},
    tenants::{bearer, tokens},
};

const PATH: &str = "/api/v1/agent/sessions/t/branches";

async fn history(server: &Running, thread: &str) -> Vec<Value> {
    let page = server
        .get(&format!("/api/v1/agent/history?threadId={thread}"))
        .await
        .json();
    page["messages"].as_array().unwrap().clone()
}

fn contents(history: &[Value]) -> Vec<&str> {
    history
        .iter()
        .map(|message| message["content"].as_str().unwrap())
        .collect()
}

/// Returns the texts of the messages of the last request.
fn asked(provider: &ScriptedProvider) -> Vec<String> {
    let requests = provider.requests();
    let messages = requests.last().unwrap().messages.iter().skip(1);
    messages.map(|message| message.text().into_owned()).collect()
}

async fn branch(server: &Running, body: &Value) -> Answer {
    server.post(PATH, body).await
}

#[tokio::test]
async fn a_changed_message_is_sent_to_a_branch() {
    let provider = texts(["One.", "Two.", "Other."]);
    let server = Running::start(builder(&provider, &store())).await;
    let mut first = input("t", "r1", "First");
    first["state"] = json!({"note": "kept"});
    server.run(&first).await;
    server.run(&input("t", "r2", "Second")).await;
    let all = history(&server, "t").await;
    assert_eq!(contents(&all), ["First", "One.", "Second", "Two."]);

    let created = branch(&server, &json!({"threadId": "b", "before": all[2]["id"]})).await;
    assert_eq!(created.status.as_u16(), 201, "{}", created.text);
    assert_eq!(created.json()["threadId"], "b");
    assert_eq!(contents(&history(&server, "b").await), ["First", "One."]);
    let mut other = input("b", "r2", "Another second");
    other["parentRunId"] = json!("r1");
    let events = server.run(&other).await;
    assert_eq!(
        (text_of(&events).as_str(), &events[0]["parentRunId"]),
        ("Other.", &json!("r1"))
    );
    let asked = asked(&provider);
    assert_eq!(asked[..2], ["First", "One."]);
    assert!(
        asked[2].contains("kept") && asked[2].ends_with("Another second"),
        "{asked:?}"
    );
    // The thread itself has not changed.
    assert_eq!(history(&server, "t").await, all);
    let listed = server.get("/api/v1/agent/sessions").await.json();
    assert_eq!(listed["sessions"].as_array().unwrap().len(), 2);
    provider.assert_done();
    server.stop().await;
}

#[tokio::test]
async fn branches_have_all_or_a_part() {
    let provider = texts(["One.", "Two.", "Three."]);
    let server = Running::start(builder(&provider, &store())).await;
    server.run(&input("t", "r1", "First")).await;
    server.run(&input("t", "r2", "Second")).await;
    let all = history(&server, "t").await;
    for (body, expected) in [
        (json!({}), vec!["First", "One.", "Second", "Two."]),
        (json!({"after": all[1]["id"]}), vec!["First", "One."]),
        (json!({"before": all[0]["id"]}), vec![]),
    ] {
        let created = branch(&server, &body).await;
        assert_eq!(created.status.as_u16(), 201, "{}", created.text);
        let id = created.json()["threadId"].as_str().unwrap().to_owned();
        assert_eq!(contents(&history(&server, &id).await), expected);
    }
    // In the middle of a turn, there is nothing to continue.
    for body in [json!({"after": all[0]["id"]}), json!({"before": all[1]["id"]})] {
        branch(&server, &body).await.assert_problem(400, "invalid_request");
    }
    branch(&server, &json!({"after": "a", "before": "b"}))
        .await
        .assert_problem(400, "invalid_request");
    branch(&server, &json!({"after": "unknown"}))
        .await
        .assert_problem(404, "not_found");
    branch(&server, &json!({"threadId": "t"}))
        .await
        .assert_problem(409, "thread_exists");
    branch(&server, &json!({"threadId": "x\u{7}"}))
        .await
        .assert_problem(400, "invalid_request");
    server.stop().await;
}

#[tokio::test]
async fn a_branch_takes_no_thread_of_others() {
    let store = store();
    let tokens = tokens(&store);
    let (ann, bob) = (Actor::new("acme", "ann"), Actor::new("acme", "bob"));
    let (ann, bob) = (bearer(&tokens, 1, ann).await, bearer(&tokens, 2, bob).await);
    let server = Running::start(builder(&texts(["One.", "Two."]), &store).with_authenticator(tokens)).await;
    for (user, thread) in [(&ann, "t"), (&bob, "u")] {
        let with = [("authorization", user.as_str())];
        let body = input(thread, "r1", "Hello");
        let events = server
            .stream(Method::POST, "/api/v1/agent/run", &with, Some(&body))
            .await;
        events.rest().await;
    }
    let as_ann = [("authorization", ann.as_str())];
    let taken = server
        .with(Method::POST, PATH, &as_ann, Some(&json!({"threadId": "u"})))
        .await;
    taken.assert_problem(404, "not_found");
    let path = "/api/v1/agent/sessions/u/branches";
    let other = server.with(Method::POST, path, &as_ann, Some(&json!({}))).await;
    other.assert_problem(404, "not_found");
    server.stop().await;
}

#[tokio::test]
async fn threads_of_flows_have_no_branches() {
    let provider = texts([r#"{"route": "DIRECT_EXECUTION", "assistant_text": "Hello."}"#]);
    let flow = Tools::default().flow(ROUTER, &provider);
    let server = Running::start(flow_store().add_to(Server::builder().with_flow("desk", flow))).await;
    server.run(&input("t", "r1", "Hello")).await;
    branch(&server, &json!({})).await.assert_problem(409, "agent_mismatch");
    server.stop().await;
}
