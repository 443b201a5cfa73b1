//! Answers of clients that give them under the id of the run that has asked.

use agcore_testkit::scripted::{ScriptStep, ScriptedProvider};
use serde_json::{Value, json};

use super::{interrupted, paying, resume};
use crate::support::{Running, builder, call, input, store, text_of};

const RUNS: &str = "/api/v1/agent/runs/t";

async fn runs(server: &Running) -> Vec<(String, String)> {
    let session = server.get("/api/v1/agent/sessions/t").await.json();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let runs = session["runs"].as_array().unwrap().iter();
    runs.map(|run| (text(&run["runId"]), text(&run["status"]))).collect()
}

fn pairs<const N: usize>(runs: [(&str, &str); N]) -> Vec<(String, String)> {
    runs.map(|(run, status)| (run.to_owned(), status.to_owned())).into()
}

#[tokio::test]
async fn the_answer_starts_a_run_of_its_own() {
    let (provider, store) = (paying(), store());
    let server = Running::start(builder(&provider, &store)).await;
    let interrupt = interrupted(&server).await;
    let answer = resume("r1", &interrupt, &json!({"approved": true}));
    let events = server.run(&answer).await;
    agcore_agui::check_order(events.iter().cloned()).unwrap();
    let (first, last) = (&events[0], events.last().unwrap());
    assert_eq!(
        (&first["type"], &first["runId"], &first["parentRunId"]),
        (&json!("RUN_STARTED"), &json!("r1.2"), &json!("r1"))
    );
    assert_eq!(
        (&last["type"], &last["runId"]),
        (&json!("RUN_FINISHED"), &json!("r1.2"))
    );
    assert_eq!(text_of(&events), "Done.");
    // The answer of the server may be lost: the same request again returns the same events.
    assert_eq!(server.run(&answer).await, events);
    assert_eq!(runs(&server).await, pairs([("r1", "completed"), ("r1.2", "completed")]));
    let other = resume("r1", &interrupt, &json!({"approved": false}));
    let late = server.post("/api/v1/agent/run", &other).await;
    late.assert_problem(409, "already_answered");
    provider.assert_done();
    server.stop().await;
}

#[tokio::test]
async fn each_question_of_a_chain_may_be_answered_under_its_first_id_or_its_last() {
    for (second, expected) in [("r1", "r1.3"), ("r1.2", "r1.2.2")] {
        let provider = ScriptedProvider::new([
            ScriptStep::calls([call("c1", "pay")]),
            ScriptStep::calls([call("c2", "pay")]),
            ScriptStep::text("Both."),
        ]);
        let server = Running::start(builder(&provider, &store())).await;
        let interrupt = interrupted(&server).await;
        let events = server.run(&resume("r1", &interrupt, &json!(true))).await;
        let again = &events.last().unwrap()["outcome"]["interrupts"][0]["id"];
        let again = again.as_str().expect("the run asks again");
        let events = server.run(&resume(second, again, &json!(true))).await;
        assert_eq!((&events[0]["runId"], &*text_of(&events)), (&json!(expected), "Both."));
        // An answer to the first question, which comes late, is still that of the run that it has started.
        let late = server.post(RUNS, &resume("r1", &interrupt, &json!(true))).await;
        assert_eq!(late.json()["runId"], "r1.2", "{}", late.text);
        server.stop().await;
    }
}

#[tokio::test]
async fn other_requests_with_the_id_are_refused() {
    let provider = ScriptedProvider::new([
        ScriptStep::text("Hello."),
        ScriptStep::calls([call("c1", "pay")]),
        ScriptStep::text("Done."),
    ]);
    let server = Running::start(builder(&provider, &store())).await;
    server.run(&input("t", "r0", "Hello")).await;
    let interrupt = interrupted(&server).await;
    let message = || async { server.post(RUNS, &input("t", "r1", "Never mind.")).await };
    message().await.assert_problem(409, "run_id_taken");
    // This run has not asked, and none that continues it has.
    let foreign = server.post(RUNS, &resume("r0", &interrupt, &json!(true))).await;
    foreign.assert_problem(409, "run_id_taken");
    server.run(&resume("r1", &interrupt, &json!(true))).await;
    message().await.assert_problem(409, "run_id_taken");
    let expected = [("r0", "completed"), ("r1", "completed"), ("r1.2", "completed")];
    assert_eq!(runs(&server).await, pairs(expected));
    server.stop().await;
}

#[tokio::test]
async fn answers_at_the_same_time_start_one_run() {
    for payloads in [[json!(true), json!(true)], [json!(true), json!(false)]] {
        let provider = paying();
        let server = Running::start(builder(&provider, &store())).await;
        let interrupt = interrupted(&server).await;
        let [first, second] = payloads.clone().map(|payload| resume("r1", &interrupt, &payload));
        let (first, second) = tokio::join!(server.post(RUNS, &first), server.post(RUNS, &second));
        let mut accepted = 0;
        for answer in [&first, &second] {
            match answer.status.as_u16() {
                202 => {
                    assert_eq!(answer.json()["runId"], "r1.2", "{}", answer.text);
                    accepted += 1;
                }
                _ => assert_eq!(answer.status.as_u16(), 409, "{}", answer.text),
            }
        }
        assert_eq!(accepted, if payloads[0] == payloads[1] { 2 } else { 1 });
        server.follow("t", "r1.2", None).await;
        assert_eq!(runs(&server).await, pairs([("r1", "completed"), ("r1.2", "completed")]));
        provider.assert_done();
        server.stop().await;
    }
}

#[tokio::test]
async fn an_answer_is_given_once_although_the_server_ends_before_and_after_it() {
    let (provider, store) = (paying(), store());
    let server = Running::start(builder(&provider, &store)).await;
    let interrupt = interrupted(&server).await;
    server.kill().await;

    let answer = resume("r1", &interrupt, &json!(true));
    let server = Running::start(builder(&provider, &store)).await;
    let accepted = server.post(RUNS, &answer).await;
    assert_eq!(accepted.json()["runId"], "r1.2", "{}", accepted.text);
    server.kill().await;

    let server = Running::start(builder(&provider, &store)).await;
    let events = server.run(&answer).await;
    assert_eq!(
        (&events[0]["runId"], &*text_of(&events)),
        (&json!("r1.2"), "Done."),
        "{events:?}"
    );
    assert_eq!(runs(&server).await, pairs([("r1", "completed"), ("r1.2", "completed")]));
    provider.assert_done();
    server.stop().await;
}

#[tokio::test]
async fn cancelling_the_id_cancels_the_run_that_has_the_answer() {
    let provider = ScriptedProvider::new([
        ScriptStep::calls([call("c1", "pay")]),
        ScriptStep::text("Let me think").then_hang(),
    ]);
    let server = Running::start(builder(&provider, &store())).await;
    let interrupt = interrupted(&server).await;
    server.post(RUNS, &resume("r1", &interrupt, &json!(true))).await;
    let mut events = server.follow_open("t", "r1.2", None).await;
    events.until("TEXT_MESSAGE_CONTENT").await;
    let path = format!("{RUNS}/r1/cancel");
    let cancelled = server.post(&path, &json!({})).await;
    assert_eq!(cancelled.json()["runId"], "r1.2", "{}", cancelled.text);
    let end = events.rest().await;
    assert_eq!(end.last().unwrap().data["outcome"]["type"], "cancelled");
    assert_eq!(runs(&server).await, pairs([("r1", "completed"), ("r1.2", "cancelled")]));
    // Nothing is left to cancel under the id.
    assert_eq!(server.post(&path, &json!({})).await.json()["runId"], "r1");
    server.stop().await;
}
