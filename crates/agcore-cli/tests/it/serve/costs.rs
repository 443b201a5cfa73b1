//! The costs that a server stores, beside those that the server of the model has counted.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use agcore_testkit::mock_server::{Answer, MockOptions, RecordedRequest, Reply, TokenUsage, ToolCall};
use serde_json::Value;

use super::{Serving, input};
use crate::support::{Agcore, Server};

/// Rates per million tokens, so that a token costs as many millionths.
const CATALOG: &str = r#"
version = "2026-05"

[[vendors]]
name = "somebody"

[[vendors.endpoints]]
name = "chat"
api = "openai"
kinds = ["text"]

[[vendors.keys]]
name = "team"
secret = "${OPENAI_API_KEY}"
users = ["*"]

[[vendors.models]]
name = "priced"
kind = "text"
default = true

[[vendors.models.prices]]
currency = "CNY"
tiers = [{ input = "7", hit = "2", output = "30", reasoning = "50" }]
"#;

/// Answers each request with other counts, and adds up what they cost.
fn counting(sum: Arc<AtomicU64>) -> impl Fn(&RecordedRequest) -> Reply + Send + Sync + 'static {
    move |request| {
        let number = request.number() as u64;
        let (prompt, cached, completion, reasoning) = (1000 + number, 10 * number, 20 + number, number);
        let micros = (prompt - cached) * 7 + cached * 2 + (completion - reasoning) * 30 + reasoning * 50;
        sum.fetch_add(micros, Ordering::SeqCst);
        let usage = TokenUsage::new(prompt, completion)
            .with_cached(cached)
            .with_reasoning(reasoning);
        let is_answered = request.json()["messages"].as_array().unwrap().last().unwrap()["role"] == "tool";
        let answer = match is_answered {
            true => Answer::new().with_text("Good day."),
            false => Answer::new().with_call(ToolCall::raw("list_files", "{}")),
        };
        Reply::answer(answer.with_usage(usage))
    }
}

/// Returns the amount in the report of the server, in millionths.
fn reported(serving: &Serving, query: &str) -> (u64, Value) {
    let answer = serving.ask("GET", &format!("/api/v1/agent/usage{query}"), "", "");
    let (_, body) = answer.split_once("\r\n\r\n").unwrap();
    let report: Value = serde_json::from_str(body).unwrap();
    let amount = report["total"]["costs"]["CNY"].as_str().unwrap_or("0.000000");
    (amount.replace('.', "").parse().unwrap(), report)
}

#[test]
fn the_costs_of_messages_are_those_that_the_model_has_counted() {
    let sum = Arc::new(AtomicU64::new(0));
    let model = Server::start(MockOptions::new(), counting(Arc::clone(&sum)));
    let agcore = Agcore::talking_to(&model).at_home().with_file("prices.toml", CATALOG);
    let serving = Serving::start(&agcore, &["--catalog", "prices.toml", "--model", "priced"]);
    for thread in ["a", "b", "c"] {
        let answer = serving.ask("POST", "/api/v1/agent/run", "", &input(thread, "hello"));
        assert!(answer.contains("RUN_FINISHED"), "{answer}");
    }
    let counted = sum.load(Ordering::SeqCst);
    assert_eq!(model.requests().len(), 6, "each run calls a tool");
    let (amount, report) = reported(&serving, "");
    assert_eq!(amount, counted, "{report}");
    let of_threads = ["a", "b", "c"].map(|thread| reported(&serving, &format!("?threadId={thread}")).0);
    assert_eq!(of_threads.iter().sum::<u64>(), counted);
    assert!(of_threads.iter().all(|amount| *amount > 0), "{of_threads:?}");

    // The program adds up the same database, also after a kill.
    serving.kill();
    let report: Value = serde_json::from_str(agcore.run(["cost", "--json"]).assert_success()).unwrap();
    let amount = report["total"]["costs"]["CNY"].as_str().unwrap();
    assert_eq!(amount.replace('.', "").parse::<u64>().unwrap(), counted, "{report}");
}

#[test]
fn without_prices_costs_are_unknown_and_wrong_catalogs_are_reported() {
    let sum = Arc::new(AtomicU64::new(0));
    let model = Server::start(MockOptions::new(), counting(sum));
    let agcore = Agcore::talking_to(&model)
        .at_home()
        .with_file("wrong.toml", "vendors = 1\n");
    let serving = Serving::start(&agcore, &["--model", "priced"]);
    serving.ask("POST", "/api/v1/agent/run", "", &input("a", "hello"));
    let (amount, report) = reported(&serving, "");
    assert_eq!((amount, &report["total"]["costs"]), (0, &serde_json::json!({})));
    agcore
        .run(["serve", "--check", "--catalog", "wrong.toml"])
        .assert_failed(2, &["the catalog has"]);
    agcore
        .run(["serve", "--catalog", "gone.toml"])
        .assert_failed(2, &["cannot read gone.toml"]);
}
