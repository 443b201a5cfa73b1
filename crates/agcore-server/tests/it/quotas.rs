//! Quotas: starts that are refused, and runs that use no more than is left.

pub(crate) mod fixture;
mod processes;
mod teams;

use std::{sync::Arc, time::Duration};

use agcore_chat::Actor;
use agcore_schedule::InMemorySchedules;
use agcore_server::Limits;
use agcore_session::quota::{InMemoryQuotas, Quota, QuotaDefaults, QuotaScope, QuotaStore, QuotaWindow};
use agcore_testkit::{
    clock::ManualClock,
    scripted::{ScriptStep, ScriptedProvider},
};
use http::Method;
use serde_json::{Value, json};

use self::fixture::{Model, Watched, daily, limited, used};
use crate::{
    support::{Running, builder, call, input, store, text_of, texts},
    tenants::{bearer, tokens},
};

const PATH: &str = "/api/v1/agent/quotas";

/// Returns the events of a run that was started.
async fn ran(server: &Running, thread: &str) -> Vec<Value> {
    let events = server.run(&input(thread, "r1", "Hello")).await;
    agcore_agui::check_order(events.iter().cloned()).unwrap();
    events
}

#[tokio::test]
async fn a_start_that_a_quota_has_no_room_for_is_refused_until_the_window_ends() {
    let clock = Arc::new(ManualClock::new());
    clock.advance(Duration::from_millis(3_600_001));
    let quotas = Arc::new(InMemoryQuotas::new(Arc::<ManualClock>::clone(&clock)));
    let defaults = QuotaDefaults::new([daily(QuotaScope::EachUser).with_runs(1)]).unwrap();
    let provider = texts(["One.", "Two."]);
    let server = Running::start(builder(&provider, &store()).with_quotas(quotas, defaults)).await;
    assert_eq!(text_of(&ran(&server, "t").await), "One.");
    let refused = server.post("/api/v1/agent/runs/u", &input("u", "r1", "Hello")).await;
    refused.assert_problem(429, "quota_exceeded");
    // 23 hours less a millisecond are left.
    assert_eq!(refused.headers["retry-after"], "82800");
    assert_eq!(
        refused.json()["detail"],
        "your account may use 1 runs in a day; 1 runs are used, and the next step needs 1 runs; the day ends at \
         2026-01-02T00:00:00Z"
    );
    let unknown = server.get("/api/v1/agent/sessions/u").await;
    unknown.assert_problem(404, "not_found");
    // The same start again is the same run.
    let again = server.post("/api/v1/agent/runs/t", &input("t", "r1", "Hello")).await;
    assert_eq!(again.status.as_u16(), 202, "{}", again.text);

    clock.advance(Duration::from_secs(82_800));
    assert_eq!(text_of(&ran(&server, "u").await), "Two.");
    server.stop().await;
}

#[tokio::test]
async fn a_run_that_may_need_more_than_is_left_fails_with_that_reason() {
    let quotas = limited(daily(QuotaScope::EachUser).with_tokens(100)).await;
    let model = Model::default();
    let server = Running::start(model.served(&store()).with_quotas(quotas, QuotaDefaults::default())).await;
    let events = ran(&server, "t").await;
    let end = events.last().unwrap();
    assert_eq!(
        (&end["type"], &end["code"]),
        (&json!("RUN_ERROR"), &json!("limit")),
        "{end}"
    );
    let message = end["message"].as_str().unwrap();
    assert!(
        message.starts_with("your account may use 100 tokens in a day; 0 tokens are used, and the next call may need"),
        "{message}"
    );
    assert_eq!(model.calls(), 0);
    let session = server.get("/api/v1/agent/sessions/t").await.json();
    assert_eq!(
        (&session["runs"][0]["status"], &session["errorId"]),
        (&json!("failed"), &json!("limit")),
        "{session}"
    );
    server.stop().await;
}

#[tokio::test]
async fn what_models_report_is_used_by_their_user_and_their_tenant_alone() {
    let quotas = limited(daily(QuotaScope::Tenant).with_tokens(10_000).with_runs(9)).await;
    let own = daily(QuotaScope::EachUser).with_tokens(8_000).with_model_calls(50);
    for tenant in ["acme", "evil"] {
        quotas
            .set_quota(tenant, &daily(QuotaScope::Tenant).with_tokens(9_000))
            .await
            .unwrap();
        quotas.set_quota(tenant, &own).await.unwrap();
    }
    let special = Quota::new(QuotaScope::User("bob".to_owned()), QuotaWindow::Day).with_tokens(5_000);
    quotas.set_quota("acme", &special).await.unwrap();
    let store = store();
    let tokens = tokens(&store);
    let users = [("acme", "ann"), ("acme", "bob"), ("evil", "ann")].map(|(tenant, user)| Actor::new(tenant, user));
    let mut headers = Vec::new();
    for (number, user) in (1..).zip(&users) {
        headers.push(bearer(&tokens, number, user.clone()).await);
    }
    let model = Model::default();
    let served = model.served(&store).with_authenticator(tokens);
    let server = Running::start(served.with_quotas(Arc::clone(&quotas) as _, QuotaDefaults::default())).await;
    for (header, thread) in headers.iter().zip(["a", "b", "c"]) {
        let with = [("authorization", header.as_str())];
        let body = input(thread, "r1", "Use the tool.");
        let answer = server.with(Method::POST, "/api/v1/agent/run", &with, Some(&body)).await;
        assert!(answer.text.contains("RUN_FINISHED"), "{}", answer.text);
    }
    assert_eq!(model.calls(), 6, "each run calls its tool");
    for user in &users {
        let own = used(&quotas, user, QuotaWindow::Day).await;
        assert_eq!(
            (own.tokens, own.model_calls, own.runs),
            (2 * Model::TOKENS, 2, 1),
            "{user}"
        );
    }
    let mut shown = Vec::new();
    for header in &headers {
        let with = [("authorization", header.as_str())];
        let answer = server.with(Method::GET, PATH, &with, None).await;
        assert_eq!(answer.status.as_u16(), 200);
        shown.push(answer.json()["quotas"].clone());
    }
    let sum = |user: usize, quota: usize| shown[user][quota]["used"]["tokens"].as_u64().unwrap();
    assert_eq!(
        (sum(0, 0), sum(1, 0), sum(2, 0)),
        (4 * Model::TOKENS, 4 * Model::TOKENS, 2 * Model::TOKENS)
    );
    assert_eq!((sum(0, 1), sum(1, 1)), (2 * Model::TOKENS, 2 * Model::TOKENS));
    assert_eq!(
        shown[0][1]["limits"],
        json!({"tokens": 8_000, "modelCalls": 50}),
        "{}",
        shown[0]
    );
    assert_eq!(
        (&shown[1][1]["scope"], &shown[1][1]["limits"]),
        (&json!("user"), &json!({"tokens": 5_000}))
    );
    assert!(!shown[0].to_string().contains("bob") && !shown[0].to_string().contains("5000"));
    server.stop().await;
}

#[tokio::test]
async fn a_server_without_quotas_shows_none() {
    let server = Running::start(builder(&texts([]), &store())).await;
    assert_eq!(server.get(PATH).await.json(), json!({"quotas": []}));
    server.stop().await;
}

#[tokio::test]
async fn starts_that_are_refused_for_another_reason_and_answers_count_as_no_runs() {
    let quotas = limited(daily(QuotaScope::Tenant).with_runs(5)).await;
    let provider = ScriptedProvider::new([ScriptStep::calls([call("c1", "pay")]), ScriptStep::text("Paid.")]);
    let limits = Limits::new().with_max_runs_per_user(1);
    let served = builder(&provider, &store()).with_limits(limits);
    let server = Running::start(served.with_quotas(Arc::clone(&quotas) as _, QuotaDefaults::default())).await;
    let asked = ran(&server, "t").await;
    let question = asked.last().unwrap()["outcome"]["interrupts"][0]["id"].clone();
    let refused = server.post("/api/v1/agent/runs/t", &input("t", "r2", "Hello")).await;
    refused.assert_problem(409, "session_busy");
    let answer = json!({"answers": [{"interruptId": question, "status": "resolved", "payload": true}]});
    let started = server.post("/api/v1/agent/runs/t/r1/answers", &answer).await.json();
    let run = started["runId"].as_str().unwrap();
    let events = server.follow("t", run, None).await;
    assert_eq!(text_of(events.iter().map(|event| &event.data)), "Paid.");

    provider.push(ScriptStep::text("a").then_hang());
    let (path, body) = ("/api/v1/agent/run", input("u", "r1", "Hello"));
    let mut live = server.stream(Method::POST, path, &[], Some(&body)).await;
    live.until("TEXT_MESSAGE_CONTENT").await;
    for thread in ["v", "w"] {
        let refused = server
            .post(&format!("/api/v1/agent/runs/{thread}"), &input(thread, "r1", "Hello"))
            .await;
        refused.assert_problem(429, "too_many_runs");
    }
    assert_eq!(server.get(PATH).await.json()["quotas"][0]["used"], json!({"runs": 2}));
    server.post("/api/v1/agent/runs/u/r1/cancel", &json!({})).await;
    live.rest().await;
    // What a cancelled call has cost is counted as well.
    let own = used(&quotas, &Actor::local(), QuotaWindow::Day).await;
    assert_eq!((own.runs, own.model_calls), (2, 3));
    server.stop().await;
}

#[tokio::test]
async fn a_schedule_is_tried_again_for_a_minute() {
    let clock = Arc::new(ManualClock::new());
    let schedules = InMemorySchedules::new(Arc::<ManualClock>::clone(&clock));
    let minute = |runs| Quota::new(QuotaScope::Tenant, QuotaWindow::Minute).with_runs(runs);
    let quotas = InMemoryQuotas::new(Arc::<ManualClock>::clone(&clock));
    let quotas = Arc::new(Watched::new(Arc::new(quotas)));
    let defaults = QuotaDefaults::new([minute(0)]).unwrap();
    let provider = texts(["News."]);
    let served = builder(&provider, &store()).with_schedules(Arc::new(schedules));
    let server = Running::start(served.with_quotas(Arc::clone(&quotas) as _, defaults)).await;
    let body = json!({
        "timing": {"every": 3600}, "input": {"messages": [{"id": "m", "role": "user", "content": "What is new?"}]},
    });
    let created = server.post("/api/v1/agent/schedules", &body).await.json();
    let path = format!("/api/v1/agent/schedules/{}", created["scheduleId"].as_str().unwrap());
    let hour = Duration::from_secs(3600);
    let outcome = async |count: usize| loop {
        let found = server.get(&format!("{path}/occurrences")).await.json();
        let all = found["occurrences"].as_array().unwrap();
        if all.len() >= count {
            break all[0].clone();
        }
        tokio::task::yield_now().await;
    };
    // The change of the schedule has the server notice the time.
    let notice = async || server.with(Method::PATCH, &path, &[], Some(&json!({}))).await;

    clock.advance(hour);
    notice().await;
    quotas.shortages(1).await;
    clock.advance(Duration::from_secs(61));
    notice().await;
    assert_eq!(outcome(1).await["outcome"], "refused");
    clock.advance(hour - Duration::from_secs(61));
    notice().await;
    quotas.shortages(3).await;
    quotas.set_quota("local", &minute(1)).await.unwrap();
    notice().await;
    assert_eq!(outcome(2).await["outcome"], "started");
    server.stop().await;
}
