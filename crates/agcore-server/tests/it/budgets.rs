//! Budgets of runs: they end before they exceed them, with everything that works for them.

mod continued;
mod teams;

use std::{sync::Arc, time::Duration};

use agcore_agent::AgentConfig;
use agcore_chat::{Actor, Money, PriceTable, TokenPrice};
use agcore_cycle::Budgets;
use agcore_schedule::InMemorySchedules;
use agcore_server::{Server, ServerBuilder};
use agcore_session::quota::{QuotaDefaults, QuotaScope, QuotaWindow};
use agcore_testkit::clock::ManualClock;
use http::Method;
use serde_json::{Value, json};

use crate::{
    quotas::fixture::{Model, daily, limited, spec, used},
    support::{InStore, Running, builder, input, store, text_of, texts},
};

/// Returns the input of a run with a budget.
fn with_budget(thread: &str, run: &str, text: &str, budget: &Value) -> Value {
    let mut input = input(thread, run, text);
    input["forwardedProps"]["budget"] = budget.clone();
    input
}

/// Returns the message with which a run has failed at a limit.
fn limit(events: &[Value]) -> &str {
    let end = events.last().unwrap();
    assert_eq!(
        (&end["type"], &end["code"]),
        (&json!("RUN_ERROR"), &json!("limit")),
        "{end}"
    );
    end["message"].as_str().unwrap()
}

/// Runs `text` with a budget on a thread of its own. Returns the events.
async fn ran(server: &Running, thread: &str, text: &str, budget: &Value) -> Vec<Value> {
    let events = server.run(&with_budget(thread, "r1", text, budget)).await;
    agcore_agui::check_order(events.iter().cloned()).unwrap();
    events
}

#[tokio::test]
async fn a_run_makes_no_more_calls_than_allowed() {
    let model = Model::default();
    let server = Running::start(model.served(&store())).await;
    let events = ran(&server, "t", "Use the tool.", &json!({"modelCalls": 1})).await;
    assert_eq!(
        limit(&events),
        "the budget of the run allows 1 model calls; 1 model calls are used, and the next step needs 1 model calls; \
         raise it"
    );
    assert_eq!(model.calls(), 1);
    let session = server.get("/api/v1/agent/sessions/t").await.json();
    assert_eq!(
        (&session["runs"][0]["status"], &session["errorId"]),
        (&json!("failed"), &json!("limit")),
        "{session}"
    );
    // Each run has its own budget, and one is enough for exactly what it allows.
    let events = server
        .run(&with_budget("t", "r2", "Hello", &json!({"modelCalls": 1})))
        .await;
    assert_eq!(text_of(&events), "Done.");
    let events = ran(&server, "u", "Use the tool.", &json!({"modelCalls": 2})).await;
    assert_eq!(text_of(&events), "Done.");
    assert_eq!(model.calls(), 4);
    server.stop().await;
}

#[tokio::test]
async fn a_call_that_may_need_more_tokens_than_are_left_is_not_made() {
    let model = Model::default();
    let server = Running::start(model.served(&store())).await;
    let events = ran(&server, "t", "Use the tool.", &json!({"tokens": 200})).await;
    let message = limit(&events);
    let start = "the budget of the run allows 200 tokens; 0 tokens are used, and the next call may need ";
    let needed = message.strip_prefix(start).unwrap_or_else(|| panic!("{message}"));
    let needed: u64 = needed.split(' ').next().unwrap().parse().unwrap();
    assert!(needed > Model::LONGEST, "{message}");
    assert_eq!(model.calls(), 0);
    // It fits exactly, and the next one does not.
    for (thread, tokens, calls) in [("u", needed - 1, 0), ("v", needed, 1)] {
        let events = ran(&server, thread, "Use the tool.", &json!({"tokens": tokens})).await;
        let message = limit(&events);
        let used = calls * Model::TOKENS;
        let start = format!("the budget of the run allows {tokens} tokens; {used} tokens are used, and");
        assert!(message.starts_with(&start), "{message}");
        assert_eq!(model.calls(), calls);
    }
    server.stop().await;
}

#[tokio::test]
async fn a_shorter_reply_is_tried() {
    let provider = texts(["Short.", "Long."]);
    let server = Running::start(builder(&provider, &store())).await;
    for (thread, tokens, expected) in [("t", 2_000, 512), ("u", 100_000, 20_000)] {
        let events = ran(&server, thread, "Hello", &json!({"tokens": tokens})).await;
        assert_eq!(events.last().unwrap()["type"], "RUN_FINISHED");
        let request = provider.requests().pop().unwrap();
        assert_eq!(request.token_limit(), Some(expected), "{tokens}");
    }
    server.stop().await;
}

/// Returns a server whose agent costs 2 millionths of a dollar for each token of input, and 10 of output.
fn priced(model: &Model) -> ServerBuilder {
    let price = PriceTable::new("USD").with_model("*", TokenPrice::new(2_000_000, 10_000_000));
    let config = AgentConfig::new().with_budgets(Budgets::new().with_price(price.into()));
    let bundle = model.agent().with_config(config).build().unwrap();
    Server::builder().with_agent("ada", bundle, spec()).in_store(&store())
}

#[tokio::test]
async fn money_is_limited_where_prices_are_known() {
    let model = Model::default();
    let server = Running::start(priced(&model)).await;
    // A call costs 400 millionths, and may cost more than 2000.
    let events = ran(&server, "t", "Use the tool.", &json!({"money": "0.0023 USD"})).await;
    let message = limit(&events);
    assert!(
        message.starts_with(
            "the budget of the run allows 0.002300 USD; 0.000400 USD are used, and the next call may need 0.00"
        ),
        "{message}"
    );
    assert_eq!(model.calls(), 1);
    let events = ran(&server, "u", "Use the tool.", &json!({"money": "0.05 USD"})).await;
    assert_eq!(text_of(&events), "Done.");
    // Another currency than that of the prices.
    let events = ran(&server, "v", "Hello", &json!({"money": "5 EUR"})).await;
    let end = events.last().unwrap();
    let message = end["message"].as_str().unwrap();
    assert!(end["type"] == "RUN_ERROR" && message.contains("EUR"), "{end}");
    server.stop().await;

    let server = Running::start(model.served(&store())).await;
    let events = ran(&server, "t", "Hello", &json!({"money": "5 USD"})).await;
    let end = events.last().unwrap();
    assert!(
        end["type"] == "RUN_ERROR" && end["message"].as_str().unwrap().contains("no prices"),
        "{end}"
    );
    assert_eq!(model.calls(), 3);
    server.stop().await;
}

#[tokio::test]
async fn quotas_hold_as_well() {
    for (quota, budget, expected) in [
        (
            200,
            10_000,
            "your account may use 200 tokens in a day; 0 tokens are used",
        ),
        (
            10_000,
            200,
            "the budget of the run allows 200 tokens; 0 tokens are used",
        ),
        (10_000, 10_000, ""),
    ] {
        let quotas = limited(daily(QuotaScope::EachUser).with_tokens(quota)).await;
        let model = Model::default();
        let served = model.served(&store());
        let server = Running::start(served.with_quotas(Arc::clone(&quotas) as _, QuotaDefaults::default())).await;
        let events = ran(&server, "t", "Use the tool.", &json!({"tokens": budget})).await;
        match expected {
            "" => assert_eq!(text_of(&events), "Done."),
            expected => assert!(limit(&events).starts_with(expected), "{}", limit(&events)),
        }
        // Whatever was refused is not held, and whatever was used is counted.
        let own = used(&quotas, &Actor::local(), QuotaWindow::Day).await;
        assert_eq!(
            (own.tokens, own.model_calls),
            (model.calls() * Model::TOKENS, model.calls())
        );
        server.stop().await;
    }
}

#[tokio::test]
async fn a_budget_in_another_currency_than_the_quotas_is_refused() {
    let quotas = limited(daily(QuotaScope::EachUser).with_money(Money::from_micros(9_000_000, "USD"))).await;
    let served = priced(&Model::default()).with_quotas(Arc::clone(&quotas) as _, QuotaDefaults::default());
    let server = Running::start(served).await;
    let body = with_budget("t", "r1", "Hello", &json!({"money": "1 EUR"}));
    let refused = server.post("/api/v1/agent/runs/t", &body).await;
    refused.assert_problem(400, "invalid_request");
    let detail = refused.json()["detail"].clone();
    assert_eq!(
        detail,
        "`forwardedProps.budget.money` is in EUR, but your quotas are in USD; use USD"
    );
    let events = ran(&server, "t", "Hello", &json!({"money": "1 USD"})).await;
    assert_eq!(text_of(&events), "Done.");
    server.stop().await;
}

#[tokio::test]
async fn a_budget_that_is_none_is_refused_with_the_reason() {
    let schedules = InMemorySchedules::new(Arc::new(ManualClock::new()));
    let model = Model::default();
    let server = Running::start(model.served(&store()).with_schedules(Arc::new(schedules))).await;
    for (budget, words) in [
        (json!(20), "at least one of `modelCalls`, `tokens` and `money`"),
        (json!({}), "at least one of `modelCalls`, `tokens` and `money`"),
        (json!({"calls": 20}), "unknown member \"calls\""),
        (
            json!({"tokens": "20"}),
            "`forwardedProps.budget.tokens` must be a whole number",
        ),
        (
            json!({"modelCalls": 0}),
            "`forwardedProps.budget.modelCalls` must be a whole number",
        ),
        (json!({"money": 0.5}), "such as \"0.50 USD\""),
    ] {
        let body = with_budget("t", "r1", "Hello", &budget);
        let schedule = json!({"timing": {"every": 3600}, "input": {
            "messages": body["messages"], "forwardedProps": body["forwardedProps"],
        }});
        for (path, body) in [("runs/t", &body), ("run", &body), ("schedules", &schedule)] {
            let refused = server.post(&format!("/api/v1/agent/{path}"), body).await;
            refused.assert_problem(400, "invalid_request");
            assert!(
                refused.json()["detail"].as_str().unwrap().contains(words),
                "{}",
                refused.text
            );
        }
    }
    server
        .get("/api/v1/agent/sessions/t")
        .await
        .assert_problem(404, "not_found");
    // Clients without a budget send nothing, or null.
    let events = ran(&server, "t", "Hello", &json!(null)).await;
    assert_eq!((text_of(&events).as_str(), model.calls()), ("Done.", 1));
    server.stop().await;
}

#[tokio::test]
async fn the_same_run_has_the_same_budget() {
    let model = Model::default();
    let server = Running::start(model.served(&store())).await;
    let events = ran(&server, "t", "Hello", &json!({"money": "0.5 USD", "tokens": 1_000})).await;
    let end = events.last().unwrap();
    assert_eq!(end["type"], "RUN_ERROR", "there are no prices: {end}");
    let start = async |budget: Value| {
        let body = with_budget("t", "r1", "Hello", &budget);
        server.post("/api/v1/agent/runs/t", &body).await
    };
    let again = start(json!({"money": "0.50 USD", "tokens": 1_000})).await;
    assert_eq!(again.status.as_u16(), 202, "{}", again.text);
    for other in [
        json!(null),
        json!({"tokens": 1_000}),
        json!({"money": "0.51 USD", "tokens": 1_000}),
    ] {
        start(other).await.assert_problem(409, "run_id_taken");
    }
    server.stop().await;
}

#[tokio::test]
async fn the_runs_of_a_schedule_have_its_budget() {
    let clock = Arc::new(ManualClock::new());
    let schedules = InMemorySchedules::new(Arc::<ManualClock>::clone(&clock));
    let model = Model::default();
    let server = Running::start(model.served(&store()).with_schedules(Arc::new(schedules))).await;
    let body = json!({"timing": {"every": 3600}, "input": {
        "messages": [{"id": "m", "role": "user", "content": "Use the tool."}],
        "forwardedProps": {"budget": {"modelCalls": 1}},
    }});
    let created = server.post("/api/v1/agent/schedules", &body).await;
    assert_eq!(created.status.as_u16(), 201, "{}", created.text);
    assert_eq!(
        created.json()["input"]["forwardedProps"]["budget"],
        json!({"modelCalls": 1})
    );
    let path = format!(
        "/api/v1/agent/schedules/{}",
        created.json()["scheduleId"].as_str().unwrap()
    );
    for count in 1..=2 {
        clock.advance(Duration::from_secs(3600));
        server.with(Method::PATCH, &path, &[], Some(&json!({}))).await;
        let started = loop {
            let found = server.get(&format!("{path}/occurrences")).await.json();
            let all = found["occurrences"].as_array().unwrap().clone();
            if all.len() == count {
                break all[0]["run"].clone();
            }
            tokio::task::yield_now().await;
        };
        let (thread, run) = (
            started["threadId"].as_str().unwrap(),
            started["runId"].as_str().unwrap(),
        );
        let events = server.follow(thread, run, None).await;
        let events: Vec<Value> = events.into_iter().map(|event| event.data).collect();
        assert!(limit(&events).contains("allows 1 model calls"), "{}", limit(&events));
        assert_eq!(model.calls(), u64::try_from(count).unwrap());
    }
    server.stop().await;
}
