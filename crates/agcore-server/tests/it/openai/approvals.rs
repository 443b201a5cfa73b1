//! Calls that need the approval of a person, which the client does not see.

use agcore_server::{DoorApprovals, DoorSettings};
use agcore_testkit::scripted::{ScriptStep, ScriptedProvider};
use serde_json::{Value, json};

use super::{asking, choice, complete, content, respond, with};
use crate::support::{Running, builder, call, input, store};

fn paying() -> ScriptedProvider {
    ScriptedProvider::new([ScriptStep::calls([call("c1", "pay")]), ScriptStep::text("Well.")])
}

/// Returns the result of the call that the model has seen.
fn result(provider: &ScriptedProvider) -> String {
    provider
        .requests()
        .last()
        .unwrap()
        .messages
        .last()
        .unwrap()
        .text()
        .into_owned()
}

#[tokio::test]
async fn approvals_are_refused_with_an_explanation() {
    let provider = paying();
    let server = Running::start(builder(&provider, &store())).await;
    assert_eq!(content(&complete(&server, &asking("Pay.")).await), "Well.");
    assert!(
        result(&provider).contains("cannot ask for approvals"),
        "{}",
        result(&provider)
    );
    server.stop().await;
}

#[tokio::test]
async fn a_refusal_leaves_the_calls_of_the_client() {
    let calls = [call("c1", "pay"), call("c2", "pick_date")];
    let provider = ScriptedProvider::new([ScriptStep::calls(calls), ScriptStep::text("Well.")]);
    let server = Running::start(builder(&provider, &store())).await;
    let tools = json!([{"type": "function", "function": {"name": "pick_date"}}]);
    let first = with(asking("Pay, and ask."), "tools", tools);
    let answer = choice(&complete(&server, &first).await);
    assert_eq!(answer["finish_reason"], "tool_calls", "{answer}");
    let call = &answer["message"]["tool_calls"][0];
    assert_eq!(call["function"]["name"], "pick_date");
    let mut second = first.clone();
    let messages = second["messages"].as_array_mut().unwrap();
    messages.extend([
        answer["message"].clone(),
        json!({"role": "tool", "tool_call_id": call["id"], "content": "May 1"}),
    ]);
    assert_eq!(content(&complete(&server, &second).await), "Well.");
    server.stop().await;
}

/// Waits until a thread has a question, and answers it.
async fn approve(server: &Running, thread: &str) {
    loop {
        let session = server.get(&format!("/api/v1/agent/sessions/{thread}")).await;
        let body: Value = session.json();
        if let Some(id) = body["questions"][0]["interruptId"].as_str() {
            let run = body["questions"][0]["runId"].as_str().unwrap();
            let answers = json!({"answers": [{"interruptId": id, "status": "resolved", "payload": true}]});
            let answered = server
                .post(&format!("/api/v1/agent/runs/{thread}/{run}/answers"), &answers)
                .await;
            assert_eq!(answered.status.as_u16(), 202, "{}", answered.text);
            return;
        }
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_request_waits_for_the_inbox() {
    let provider = paying();
    let doors = DoorSettings::new().with_approvals(DoorApprovals::Wait);
    let server = Running::start(builder(&provider, &store()).with_doors(doors)).await;
    let body = with(asking("Pay."), "metadata", json!({"thread_id": "t"}));
    let (answer, ()) = tokio::join!(complete(&server, &body), approve(&server, "t"));
    assert_eq!(content(&answer), "Well.");
    assert_eq!(result(&provider), "paid");
    server.stop().await;
}

#[tokio::test]
async fn a_request_whose_question_is_withdrawn_ends() {
    let doors = DoorSettings::new().with_approvals(DoorApprovals::Wait);
    let server = Running::start(builder(&paying(), &store()).with_doors(doors)).await;
    let body = with(asking("Pay."), "metadata", json!({"thread_id": "t"}));
    let cancel = async {
        loop {
            let session = server.get("/api/v1/agent/sessions/t").await.json();
            if let Some(run) = session["questions"][0]["runId"].as_str() {
                let path = format!("/api/v1/agent/runs/t/{run}/cancel");
                return server.post(&path, &json!({})).await;
            }
            tokio::task::yield_now().await;
        }
    };
    let (answer, _) = tokio::join!(complete(&server, &body), cancel);
    answer.assert_openai_error(409, "run_canceled");
    assert_eq!(answer.headers["x-should-retry"], "false");
    server.stop().await;
}

#[tokio::test]
async fn a_stored_response_has_what_came_after_the_refusal() {
    let server = Running::start(builder(&paying(), &store())).await;
    let first = respond(&server, &json!({"model": "ada", "input": "Pay."})).await;
    let body = first.json();
    assert_eq!(body["output"][0]["content"][0]["text"], "Well.");
    let path = format!("/v1/responses/{}", body["id"].as_str().unwrap());
    assert_eq!(server.get(&path).await.text, first.text);
    // Another message continues it, although the newest run of the thread is not that of the response.
    let next = json!({"model": "ada", "input": "Thanks.", "previous_response_id": body["id"]});
    let next = respond(&server, &next).await;
    assert_ne!(next.status.as_u16(), 400, "{}", next.text);
    server.stop().await;
}

#[tokio::test]
async fn approvals_are_refused_without_a_client_that_waits() {
    let provider = paying();
    let server = Running::start(builder(&provider, &store())).await;
    let asked = with(json!({"model": "ada", "input": "Pay."}), "background", true);
    let body = respond(&server, &asked).await.json();
    let path = format!("/v1/responses/{}", body["id"].as_str().unwrap());
    // Only the session is read, so that no request for the response can be what refuses the call.
    let thread = agcore_openai::ResponseId::decode(body["id"].as_str().unwrap())
        .unwrap()
        .thread;
    loop {
        let session = server.get(&format!("/api/v1/agent/sessions/{thread}")).await.json();
        let runs = session["runs"].as_array().unwrap();
        if runs.len() == 2 && runs.iter().all(|run| run["status"] == "completed") {
            break;
        }
        tokio::task::yield_now().await;
    }
    let response = server.get(&path).await.json();
    assert_eq!(response["output"][0]["content"][0]["text"], "Well.", "{response}");
    assert!(result(&provider).contains("cannot ask for approvals"));
    server.stop().await;
}

#[tokio::test]
async fn a_response_is_cancelled_by_the_run_that_continues_it() {
    let provider = ScriptedProvider::new([
        ScriptStep::calls([call("c1", "pay")]),
        ScriptStep::text("We").then_hang(),
    ]);
    let server = Running::start(builder(&provider, &store())).await;
    let asked = with(json!({"model": "ada", "input": "Pay."}), "background", true);
    let body = respond(&server, &asked).await.json();
    let path = format!("/v1/responses/{}", body["id"].as_str().unwrap());
    while provider.requests().len() < 2 {
        tokio::task::yield_now().await;
    }
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
async fn a_whole_conversation_withdraws_the_question_of_its_thread() {
    let provider = ScriptedProvider::new([ScriptStep::calls([call("c1", "pay")]), ScriptStep::text("Fine.")]);
    let doors = DoorSettings::new().with_approvals(DoorApprovals::Wait);
    let server = Running::start(builder(&provider, &store()).with_doors(doors)).await;
    // A client of AG-UI leaves a question open.
    server.run(&input("t", "r1", "Pay.")).await;
    let body = with(asking("Never mind."), "metadata", json!({"thread_id": "t"}));
    assert_eq!(content(&complete(&server, &body).await), "Fine.");
    let session = server.get("/api/v1/agent/sessions/t").await.json();
    assert_eq!(session["runs"][0]["status"], "cancelled", "{session}");
    assert_eq!(session["questions"], json!([]), "{session}");
    server.stop().await;
}
