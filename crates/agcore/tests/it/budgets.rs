//! The budgets of the guide, against servers whose models write less than a budget allows.

use agcore::{
    AgentBuilder, AgentSpec,
    agent::{AgentConfig, RuntimeBundle},
    chat::{Money, PriceFn, PriceTable, TokenPrice},
    llm::{Budget, BudgetPool, Budgets, ProviderConfig, ProviderType},
};
use agcore_testkit::mock_server::{ApiError, MockServer, RecordedRequest, Reply};

/// The largest limits that the models accept.
const CAPS: [u64; 3] = [4_096, 8_192, 16_384];

/// Returns how a vendor refuses a limit.
fn refusals(cap: u64) -> [String; 6] {
    [
        format!(
            "max_tokens is too large: 20000. This model supports at most {cap} completion tokens, whereas you provided 20000."
        ),
        format!("Invalid max_tokens value, the valid range of max_tokens is [1, {cap}]"),
        format!(
            "max_tokens: 20000 > {cap}, which is the maximum allowed number of output tokens for claude-3-5-haiku-20241022"
        ),
        format!(
            "`max_tokens` must be less than or equal to `{cap}`, the maximum value for `max_tokens` is less than the \
             `context_window` for this model"
        ),
        format!("Range of max_tokens should be [1, {cap}]"),
        format!("max_tokens: Input should be less than or equal to {cap}"),
    ]
}

fn limit(request: &RecordedRequest) -> Option<u64> {
    let body = request.json();
    body["max_tokens"].as_u64().or(body["max_completion_tokens"].as_u64())
}

/// Starts a server that refuses limits above `cap` in these words.
async fn server(cap: u64, refusal: String) -> MockServer {
    let behavior = move |request: &RecordedRequest| match limit(request) {
        Some(limit) if limit > cap => Reply::error(
            ApiError::new(400)
                .with_kind("invalid_request_error")
                .with_message(refusal.clone()),
        ),
        _ => Reply::text("positive"),
    };
    MockServer::start(behavior).await.unwrap()
}

fn bundle(server: &MockServer, budgets: Budgets) -> RuntimeBundle {
    AgentBuilder::new()
        .with_provider(
            ProviderConfig::new("compatible".parse::<ProviderType>().unwrap(), "m")
                .with_base_url(server.base_url())
                .build()
                .unwrap(),
        )
        .with_config(AgentConfig::new().with_budgets(budgets))
        .build()
        .unwrap()
}

/// Runs two sessions with two turns each, and checks that only the first call was refused.
async fn check(server: &MockServer, budgets: Budgets, cap: u64) {
    let bundle = bundle(server, budgets);
    for id in ["a", "b"] {
        let session = bundle.session(id, AgentSpec::new("reviewer", "Answer with one word."));
        for _ in 0..2 {
            assert_eq!(session.turn("Great soup.").await.unwrap().text(), "positive");
        }
    }
    let sent: Vec<_> = server.requests().iter().map(limit).collect();
    assert_eq!(sent, [Some(20_000), Some(cap), Some(cap), Some(cap), Some(cap)]);
}

#[tokio::test]
async fn a_session_of_200_000_tokens_works_whatever_the_model_accepts() {
    for cap in CAPS {
        for refusal in refusals(cap) {
            let server = server(cap, refusal).await;
            let budget = Budget::new().with_tokens(200_000).with_model_calls(50);
            check(&server, Budgets::new().with_session(budget), cap).await;
        }
    }
}

#[tokio::test]
async fn a_pool_of_a_million_tokens_works_whatever_the_model_accepts() {
    for cap in CAPS {
        for refusal in refusals(cap) {
            let server = server(cap, refusal).await;
            let pool = BudgetPool::new(Budget::new().with_tokens(1_000_000));
            check(&server, Budgets::new().with_pool(pool.clone()), cap).await;
            assert!(pool.spent().tokens > 0 && pool.reserved().is_zero());
        }
    }
}

#[tokio::test]
async fn a_session_of_one_dollar_works_whatever_the_model_accepts() {
    for cap in CAPS {
        for refusal in refusals(cap) {
            let server = server(cap, refusal).await;
            let one_dollar = Budget::new().with_money(Money::from_micros(1_000_000, "USD"));
            let prices = PriceTable::new("USD").with_model("m", TokenPrice::new(250_000, 2_000_000));
            let budgets = Budgets::new()
                .with_session(one_dollar)
                .with_price(PriceFn::from(prices));
            check(&server, budgets, cap).await;
        }
    }
}

#[tokio::test]
async fn a_server_that_names_no_number_is_asked_for_less_a_few_times() {
    for (cap, accepted) in [(4_096, 4_096), (2_500, 2_048), (1_024, 1_024)] {
        let server = server(cap, "max_tokens is too large".to_owned()).await;
        let bundle = bundle(&server, Budgets::new().with_session(Budget::new().with_tokens(200_000)));
        let session = bundle.session("a", AgentSpec::new("reviewer", "Answer with one word."));
        for _ in 0..2 {
            assert_eq!(session.turn("Great soup.").await.unwrap().text(), "positive");
        }
        let sent: Vec<_> = server.requests().iter().filter_map(limit).collect();
        assert!(
            sent.len() <= 5 && sent.ends_with(&[accepted, accepted]),
            "{cap}: {sent:?}"
        );
    }
}

#[tokio::test]
async fn an_account_that_cannot_pay_for_the_limit_gets_a_shorter_answer() {
    let server = MockServer::start(|request: &RecordedRequest| {
        match limit(request) {
        Some(limit) if limit > 1_234 => Reply::error(ApiError::new(402).with_message(format!(
            "This request requires more credits, or fewer max_tokens. You requested up to {limit} tokens, but can only afford 1234"
        ))),
        _ => Reply::text("positive"),
    }
    });
    let server = server.await.unwrap();
    let bundle = bundle(&server, Budgets::new().with_session(Budget::new().with_tokens(200_000)));
    let session = bundle.session("a", AgentSpec::new("reviewer", "Answer with one word."));
    for _ in 0..2 {
        assert_eq!(session.turn("Great soup.").await.unwrap().text(), "positive");
    }
    // The account may have more credit at the next call.
    let sent: Vec<_> = server.requests().iter().filter_map(limit).collect();
    assert_eq!(sent, [20_000, 1_234, 20_000, 1_234]);
}
