//! Quotas over several processes, and over their ends.

use std::{sync::Arc, time::Duration};

use agcore_agent::AgentBuilder;
use agcore_chat::{Actor, SystemClock};
use agcore_llm::provider_fn;
use agcore_server::{Limits, Server, ServerBuilder};
use agcore_session::quota::{QuotaDefaults, QuotaScope, QuotaWindow};
use agcore_store::sqlite::SqliteStore;
use serde_json::{Value, json};
use tokio::sync::Notify;

use super::fixture::{Model, Watched, daily, limited, limited_in, spec, used};
use crate::{
    shared,
    support::{InStore, Running, Store, input, store, text_of},
};

/// The tokens that 16 runs have together.
const LIMIT: u64 = 1_000;

/// Returns a server whose model never answers, and the notification that it was asked.
fn hanging(store: &Store, quotas: &Arc<Watched>) -> (ServerBuilder, Arc<Notify>) {
    let asked = Arc::new(Notify::new());
    let notified = Arc::clone(&asked);
    let provider = provider_fn(move |_| {
        notified.notify_one();
        std::future::pending()
    });
    let bundle = AgentBuilder::new().with_provider(provider).build().unwrap();
    let builder = Server::builder().with_agent("ada", bundle, spec()).in_store(store);
    (
        builder.with_quotas(Arc::clone(quotas) as _, QuotaDefaults::default()),
        asked,
    )
}

fn answering(model: &Model, store: &Store, quotas: &Arc<Watched>) -> ServerBuilder {
    let served = model.served(store);
    served.with_quotas(Arc::clone(quotas) as _, QuotaDefaults::default())
}

async fn start(server: &Running, thread: &str) {
    let path = format!("/api/v1/agent/runs/{thread}");
    let started = server.post(&path, &input(thread, "r1", "Hello")).await;
    assert_eq!(started.status.as_u16(), 202, "{}", started.text);
}

async fn text(server: &Running, thread: &str) -> String {
    let events = server.follow(thread, "r1", None).await;
    text_of(events.iter().map(|event| &event.data))
}

#[tokio::test]
async fn what_a_killed_process_may_have_used_counts_as_used() {
    let (store, quotas) = (store(), limited(daily(QuotaScope::Tenant).with_tokens(10_000)).await);
    let (killed, asked) = hanging(&store, &quotas);
    let server = Running::start(killed).await;
    start(&server, "t").await;
    asked.notified().await;
    let held = quotas.held().await;
    assert!(held.tokens > Model::LONGEST && held.model_calls == 1, "{held:?}");
    // A process that is killed reports nothing.
    quotas.fail(["close_allowance"; 2]);
    server.kill().await;
    quotas.failures(2).await;

    let model = Model::default();
    let server = Running::start(answering(&model, &store, &quotas)).await;
    assert_eq!(text(&server, "t").await, "Done.");
    let own = used(&quotas, &Actor::local(), QuotaWindow::Day).await;
    assert_eq!(
        (own.tokens, own.model_calls, own.runs),
        (held.tokens + Model::TOKENS, 2, 1)
    );
    server.stop().await;
}

#[tokio::test]
async fn a_run_that_is_left_to_the_next_process_is_counted_in_both() {
    let (store, quotas) = (store(), limited(daily(QuotaScope::Tenant).with_tokens(10_000)).await);
    let (left, asked) = hanging(&store, &quotas);
    let server = Running::start(left.with_limits(Limits::new().with_drain(Duration::ZERO))).await;
    start(&server, "t").await;
    asked.notified().await;
    let held = quotas.held().await;
    server.stop().await;
    let before = used(&quotas, &Actor::local(), QuotaWindow::Day).await;
    assert!(
        before.tokens > 0 && before.tokens < held.tokens && before.model_calls == 1,
        "only the request counts: {before:?} of {held:?}"
    );

    let model = Model::default();
    let server = Running::start(answering(&model, &store, &quotas)).await;
    assert_eq!(text(&server, "t").await, "Done.");
    let own = used(&quotas, &Actor::local(), QuotaWindow::Day).await;
    assert_eq!((own.tokens, own.runs), (before.tokens + Model::TOKENS, 1));
    server.stop().await;
}

/// Starts 16 runs on two servers, whose quota has too little for all of them.
async fn exceed(quotas: Arc<Watched>) {
    let store = store();
    let model = Model::default();
    let limits = Limits::new().with_max_runs_per_user(16);
    let new = || {
        let served = answering(&model, &store, &quotas).with_limits(limits.clone());
        // A machine without time must lose no lease: what was held then counts as used.
        Running::start(served.with_sharing(shared::sharing().with_lease(Duration::from_secs(60))))
    };
    let servers = [new().await, new().await];
    let threads: Vec<_> = (0..16).map(|number| format!("t{number}")).collect();
    let mut refused = 0;
    for (number, thread) in threads.iter().enumerate() {
        let path = format!("/api/v1/agent/runs/{thread}");
        let started = servers[number % 2].post(&path, &input(thread, "r1", "Hello")).await;
        match started.status.as_u16() {
            202 => {}
            _ => {
                started.assert_problem(429, "quota_exceeded");
                refused += 1;
            }
        }
    }
    let (mut done, mut failed) = (0, 0);
    for (number, thread) in threads.iter().enumerate().take(16 - refused) {
        let events = servers[(number + 1) % 2].follow(thread, "r1", None).await;
        let end: &Value = &events.last().unwrap().data;
        match end["type"].as_str() {
            Some("RUN_FINISHED") => done += 1,
            _ => {
                assert_eq!(end["code"], "limit", "{end}");
                let message = end["message"].as_str().unwrap();
                assert!(
                    message.starts_with("your tenant may use 1000 tokens in a day"),
                    "{message}"
                );
                failed += 1;
            }
        }
    }
    assert_eq!((done, done + failed + refused as u64), (model.calls(), 16));
    let own = used(&quotas, &Actor::local(), QuotaWindow::Day).await;
    assert_eq!(own.tokens, done * Model::TOKENS);
    assert!(own.tokens <= LIMIT && done >= 6, "{own:?}");
    for server in servers {
        server.stop().await;
    }
}

#[tokio::test]
async fn two_processes_cannot_exceed_a_quota_together() {
    let quota = daily(QuotaScope::Tenant).with_tokens(LIMIT);
    exceed(limited(quota.clone()).await).await;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("quotas.db");
    let sqlite = SqliteStore::open(path, Arc::new(SystemClock::new())).await.unwrap();
    exceed(limited_in(Arc::new(sqlite), quota).await).await;
}

#[tokio::test]
async fn runs_wait_while_the_quotas_are_away() {
    let (store, quotas) = (store(), limited(daily(QuotaScope::Tenant).with_tokens(10_000)).await);
    let model = Model::default();
    let server = Running::start(answering(&model, &store, &quotas)).await;
    quotas.fail(["quota_usage", "count_run"]);
    let refused = server.post("/api/v1/agent/runs/t", &input("t", "r1", "Hello")).await;
    refused.assert_problem(503, "store_unavailable");
    server
        .get("/api/v1/agent/quotas")
        .await
        .assert_problem(503, "store_unavailable");
    server
        .get("/api/v1/agent/sessions/t")
        .await
        .assert_problem(404, "not_found");

    quotas.fail(["open_allowance", "draw", "close_allowance", "close_allowance"]);
    start(&server, "t").await;
    assert_eq!(text(&server, "t").await, "Done.");
    quotas.failures(6).await;
    let own = used(&quotas, &Actor::local(), QuotaWindow::Day).await;
    assert_eq!((own.tokens, own.model_calls, own.runs), (Model::TOKENS, 1, 1));
    assert_eq!(model.calls(), 1);
    server.stop().await;
}

#[tokio::test]
async fn a_run_that_is_cancelled_while_it_waits_for_others_ends() {
    let (store, quotas) = (store(), limited(daily(QuotaScope::Tenant).with_tokens(400)).await);
    let (served, asked) = hanging(&store, &quotas);
    let server = Running::start(served).await;
    start(&server, "t").await;
    asked.notified().await;
    start(&server, "u").await;
    quotas.shortages(1).await;
    for thread in ["u", "t"] {
        server
            .post(&format!("/api/v1/agent/runs/{thread}/r1/cancel"), &json!({}))
            .await;
        let events = server.follow(thread, "r1", None).await;
        assert_eq!(events.last().unwrap().data["outcome"]["type"], "cancelled");
    }
    let own = used(&quotas, &Actor::local(), QuotaWindow::Day).await;
    assert_eq!((own.model_calls, own.runs), (1, 2));
    server.stop().await;
}
