//! The length of replies: with a budget, no reply is longer than what was reserved for it.

use std::{error::Error, sync::Arc};

use agcore_chat::{ChatResponse, HeuristicEstimator, Message, TokenEstimator, Usage};
use agcore_cycle::{
    Budget, BudgetPool, Budgets, LlmCycle,
    budget::{BudgetShortage, MIN_REPLY_TOKENS},
};
use agcore_llm::{ProviderInfo, provider_fn};
use agcore_testkit::{
    clock::ManualClock,
    scripted::{ScriptStep, ScriptedProvider},
};

use crate::support::cycle;

/// The highest expected number of tokens of the request "Go".
fn input() -> u64 {
    let input = HeuristicEstimator::default().messages(&[Arc::new(Message::user("Go"))]);
    input + (input * 15).div_ceil(100)
}

fn with_turn(provider: &ScriptedProvider, budget: Budget) -> LlmCycle {
    let mut cycle = cycle(provider);
    cycle.settings_mut().budgets = Budgets::new().with_turn(budget);
    cycle
}

#[tokio::test]
async fn a_pool_is_not_overshot_by_replies_without_a_limit() {
    let pool = BudgetPool::new(Budget::new().with_tokens(60_000));
    let turns = (0..8).map(|_| {
        let pool = pool.clone();
        async move {
            // A model that writes as much as it may, and 128 000 tokens if nothing limits it.
            let provider = provider_fn(|call| async move {
                tokio::task::yield_now().await;
                let input = HeuristicEstimator::default().request(&call.request);
                let mut response = ChatResponse::from_text("…");
                response.usage = Some(Usage::new(input, call.request.token_limit().unwrap_or(128_000)));
                Ok(response)
            });
            let mut cycle = LlmCycle::new(provider, ManualClock::new());
            cycle.settings_mut().budgets = Budgets::new().with_pool(pool);
            cycle.turn("Go").await.is_ok()
        }
    });
    let answered = futures_util::future::join_all(turns).await;
    let answered = answered.into_iter().filter(|is_ok| *is_ok).count();
    assert!(pool.spent().tokens <= 60_000, "{:?}", pool.spent());
    assert!(
        pool.spent().tokens > 59_000 && answered == 3,
        "{answered}: {:?}",
        pool.spent()
    );
    assert!(pool.reserved().is_zero());
}

#[tokio::test]
async fn the_reserved_number_is_the_limit_of_the_request() {
    let sent = |info: ProviderInfo, budget: Budget, limit: Option<u64>| async move {
        let provider = ScriptedProvider::new([ScriptStep::text("Hi.")]).with_info(info);
        let mut cycle = with_turn(&provider, budget);
        cycle.settings_mut().request.max_completion_tokens = limit;
        cycle.turn("Go").await.unwrap();
        provider.requests()[0].token_limit()
    };
    let info = |default: Option<u64>, most: Option<u64>| {
        let mut info = ProviderInfo::new("p", "m");
        info.capabilities.default_output_tokens = default;
        info.capabilities.max_output_tokens = most;
        info
    };
    let large = || Budget::new().with_tokens(1_000_000);
    assert_eq!(sent(info(None, None), large(), None).await, Some(20_000));
    assert_eq!(sent(info(None, Some(128_000)), large(), None).await, Some(128_000));
    assert_eq!(sent(info(Some(64_000), None), large(), None).await, Some(64_000));
    assert_eq!(sent(info(Some(64_000), Some(8_000)), large(), None).await, Some(8_000));
    assert_eq!(sent(info(Some(64_000), None), large(), Some(70)).await, Some(70));
    // If that does not fit, a usual reply; if that does not either, what is left after the request.
    let small = || Budget::new().with_tokens(50_000);
    assert_eq!(sent(info(Some(64_000), None), small(), None).await, Some(20_000));
    let tiny = || Budget::new().with_tokens(20_000);
    assert_eq!(sent(info(None, None), tiny(), None).await, Some(20_000 - input()));
    // Nothing is sent if the length of replies does not matter.
    let calls = || Budget::new().with_model_calls(5);
    assert_eq!(sent(info(Some(64_000), None), calls(), None).await, None);
}

#[tokio::test]
async fn money_limits_the_reply_too() {
    let provider = ScriptedProvider::new([ScriptStep::text("Hi.")]);
    // Two micros for a token of the request, ten for one of the reply.
    let budget = Budget::new().with_money(crate::budget::usd(10_000));
    let mut cycle = with_turn(&provider, budget);
    cycle.settings_mut().budgets.price = Some(crate::budget::prices());
    cycle.turn("Go").await.unwrap();
    let expected = (10_000 - 2 * input()) / 10;
    assert_eq!(provider.requests()[0].token_limit(), Some(expected));
}

#[tokio::test]
async fn a_refused_call_reports_what_it_needs_and_what_is_left() {
    for (budget, limit, needed, output) in [
        // The smallest useful reply does not fit.
        (500, None, input() + MIN_REPLY_TOKENS, MIN_REPLY_TOKENS),
        // The limit of the request is never changed.
        (20_000, Some(30_000), input() + 30_000, 30_000),
    ] {
        let provider = ScriptedProvider::new([ScriptStep::text("Hi.")]);
        let mut cycle = with_turn(&provider, Budget::new().with_tokens(budget));
        cycle.settings_mut().request.max_completion_tokens = limit;
        let error = cycle.turn("Go").await.unwrap_err();
        let source = error.source().unwrap();
        let shortage: &BudgetShortage = source.downcast_ref().unwrap();
        assert_eq!(shortage.limit.to_string(), "turn.tokens");
        assert_eq!((shortage.needed, shortage.left), (needed, budget));
        assert_eq!((shortage.input_tokens, shortage.output_tokens), (input(), output));
        let expected = format!(
            "the budget turn.tokens has {budget} tokens left, but the next call may need {needed} tokens: up to {} tokens for \
             the request and {output} for the reply; raise it, or lower the token limit of the request or its length",
            input()
        );
        assert_eq!(error.message(), expected);
        assert_eq!(provider.unused(), 1);
    }
}
