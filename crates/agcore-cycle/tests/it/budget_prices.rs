//! Prices: reserved for the dearest route, settled for the one that answered.

use std::{
    sync::{Arc, Mutex},
    time::{Duration, SystemTime},
};

use agcore_chat::{
    AnsweredBy, ChatRequest, ChatResponse, Clock, Message, Money, PriceFn, PriceTable, TokenPrice, Usage,
};
use agcore_cycle::{Budget, BudgetPool, Budgets, CycleErrorKind, LlmCycle};
use agcore_llm::{
    LlmError, LlmErrorKind, ProviderInfo,
    layer::fallback::{Candidate, Fallback, FallbackPolicy},
    provider_fn,
};
use agcore_testkit::{
    clock::ManualClock,
    scripted::{ScriptStep, ScriptedProvider},
};
use futures_util::FutureExt;

use crate::budget::usd;

/// A price of one micro for each token.
fn cheap() -> TokenPrice {
    TokenPrice::new(1_000_000, 1_000_000)
}

/// A price that is a hundred times as high.
fn dear() -> TokenPrice {
    TokenPrice::new(100_000_000, 100_000_000)
}

fn prices() -> PriceTable {
    PriceTable::new("USD")
        .with_model("cheap-*", cheap())
        .with_model("dear-*", dear())
}

fn reply(input: u64, output: u64) -> ScriptStep {
    ScriptStep::from_fn(move |_| {
        let mut response = ChatResponse::from_text("Hi.");
        response.usage = Some(Usage::new(input, output));
        response
    })
}

fn named(model: &str, steps: impl IntoIterator<Item = ScriptStep>) -> ScriptedProvider {
    ScriptedProvider::new(steps).with_info(ProviderInfo::new(model.split('-').next().unwrap(), model))
}

/// A cheap provider that is down, and a dear one in its place.
fn with_fallback(spare: ScriptStep) -> Fallback {
    fallback("cheap-1", "dear-1", spare)
}

fn fallback(down: &str, spare: &str, reply: ScriptStep) -> Fallback {
    let down = named(down, [ScriptStep::error(LlmError::new(LlmErrorKind::Server, "down"))]);
    let candidates = [Candidate::new(down), Candidate::new(named(spare, [reply]))];
    Fallback::new(
        candidates,
        FallbackPolicy::new(),
        Arc::new(ManualClock::new()),
        Arc::new(|| 0.5),
    )
    .unwrap()
}

fn conversation(provider: impl agcore_llm::LlmProvider + 'static, pool: &BudgetPool, price: PriceFn) -> LlmCycle {
    let mut cycle = LlmCycle::new(provider, ManualClock::new());
    cycle.settings_mut().request = ChatRequest::default().with_max_tokens(50);
    cycle.settings_mut().budgets = Budgets::new().with_pool(pool.clone()).with_price(price);
    cycle
}

#[tokio::test]
async fn a_call_costs_the_price_of_the_provider_that_answered() {
    for (down, spare, cost) in [("cheap-1", "dear-1", 200_000), ("dear-1", "cheap-1", 2_000)] {
        let pool = BudgetPool::new(Budget::new().with_money(usd(1_000_000)));
        let provider = fallback(down, spare, reply(1_500, 500));
        let mut cycle = conversation(provider, &pool, prices().into());
        cycle.turn("Go").await.unwrap();
        assert_eq!((pool.spent().micros("USD"), cycle.spent().micros("USD")), (cost, cost));
    }
}

#[tokio::test]
async fn the_dearest_route_is_reserved() {
    let pool = BudgetPool::new(Budget::new().with_money(usd(1_000_000)));
    let mut cycle = conversation(with_fallback(ScriptStep::hang()), &pool, prices().into());
    let mut waiting = Box::pin(cycle.turn("Go").run());
    assert!(waiting.as_mut().now_or_never().is_none());
    let reserved = pool.reserved();
    assert_eq!(reserved.micros("USD"), reserved.tokens * 100);
    drop(waiting);
    // Who would have answered is known; the dear one was asked.
    assert_eq!(pool.spent().micros("USD"), pool.spent().tokens * 100);
    assert_eq!(cycle.spent(), &pool.spent());

    // What fits the cheap route only is refused.
    let pool = BudgetPool::new(Budget::new().with_money(usd(1_000)));
    let mut cycle = conversation(with_fallback(ScriptStep::text("Hi.")), &pool, prices().into());
    assert_eq!(cycle.turn("Go").await.unwrap_err().kind(), CycleErrorKind::LimitReached);
}

#[tokio::test]
async fn a_route_without_a_price_refuses_the_call_and_is_named() {
    let pool = BudgetPool::new(Budget::new().with_money(usd(1_000_000)));
    let prices = PriceTable::new("USD").with_model("cheap-*", cheap());
    let mut cycle = conversation(with_fallback(ScriptStep::text("Hi.")), &pool, prices.into());
    let error = cycle.turn("Go").await.unwrap_err();
    assert!(
        error.message().contains("`dear-1` is unknown (provider `dear`)"),
        "{}",
        error.message()
    );
    assert!(pool.reserved().is_zero() && pool.spent().is_zero());
}

#[tokio::test]
async fn the_model_and_tier_of_the_reply_are_priced_at_the_time_of_sending() {
    type Asked = (String, String, Option<String>, Option<String>, SystemTime);
    let asked: Arc<Mutex<Vec<Asked>>> = Arc::default();
    let recorded = Arc::clone(&asked);
    let price: PriceFn = Arc::new(move |query| {
        let (provider, model) = (query.provider.to_owned(), query.model.to_owned());
        let (key, tier) = (query.key.map(str::to_owned), query.service_tier.map(str::to_owned));
        assert_eq!(query.currency, Some("USD"));
        recorded.lock().unwrap().push((provider, model, key, tier, query.at));
        Some(usd(if query.model == "cheap-1-2026" { 7 } else { 5 }).into())
    });
    let provider = provider_fn(|_| async {
        let mut response = ChatResponse::from_text("Hi.");
        response.usage = Some(Usage::new(10, 5));
        response.model = Some("cheap-1-2026".into());
        response.service_tier = Some("priority".into());
        response.answered_by = Some(AnsweredBy::new("cheap", "cheap-1").with_key("team"));
        Ok(response)
    });
    let pool = BudgetPool::new(Budget::new().with_money(usd(1_000_000)));
    let settings = conversation(named("cheap-1", []), &pool, price).settings().clone();
    let clock = ManualClock::new();
    clock.advance(Duration::from_secs(60));
    let at = clock.now();
    let mut cycle = LlmCycle::new(provider, clock).with_settings(settings);
    cycle.settings_mut().request.model = "cheap-1".into();
    cycle.settings_mut().request.service_tier = Some("flex".into());
    cycle.turn("Go").await.unwrap();
    assert_eq!(pool.spent().micros("USD"), 7);
    let asked = asked.lock().unwrap();
    let (first, last) = (asked.first().unwrap(), asked.last().unwrap());
    let owned = |text: &str| Some(text.to_owned());
    assert_eq!(
        first,
        &("custom".to_owned(), "cheap-1".to_owned(), None, owned("flex"), at)
    );
    let expected = (
        "cheap".to_owned(),
        "cheap-1-2026".to_owned(),
        owned("team"),
        owned("priority"),
        at,
    );
    assert_eq!(last, &expected);
}

#[tokio::test]
async fn the_cost_that_a_server_reports_counts_where_there_is_no_price() {
    let with_cost = |cost: Money| {
        ScriptStep::from_fn(move |_| {
            let mut response = ChatResponse::from_text("Hi.");
            let mut usage = Usage::new(10, 5);
            usage.cost = Some(cost.into());
            response.usage = Some(usage);
            response
        })
    };
    for (price, cost, expected) in [
        (PriceTable::new("USD"), usd(40), 40),
        (prices(), usd(40), 15),
        (PriceTable::new("USD"), usd(-40), 0),
    ] {
        let pool = BudgetPool::new(Budget::new().with_tokens(1_000_000));
        let mut cycle = conversation(named("cheap-1", [with_cost(cost)]), &pool, price.into());
        cycle.turn("Go").await.unwrap();
        assert_eq!(pool.spent().micros("USD"), expected);
    }
}

#[tokio::test]
async fn a_dropped_call_costs_the_price_of_the_route_that_was_asked() {
    let pool = BudgetPool::new(Budget::new().with_money(usd(1_000_000)));
    let mut cycle = conversation(named("cheap-1", [ScriptStep::hang()]), &pool, prices().into());
    let begin = agcore_cycle::machine::Begin::new([Message::user("Go")]);
    assert!(cycle.turn(begin).run().now_or_never().is_none());
    let spent = pool.spent();
    assert!(spent.tokens > 0 && spent.estimated);
    assert_eq!(spent.micros("USD"), spent.tokens);
}
