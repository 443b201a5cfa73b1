//! Budget pools: concurrent turns never overspend, and all amounts add up.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use agcore_chat::{ChatRequest, ChatResponse, HeuristicEstimator, TokenEstimator, Usage, validate_messages};
use agcore_cycle::{Budget, BudgetPool, Budgets, CycleErrorKind, LlmCycle, Spent, budget::Resource};
use agcore_llm::{LlmError, LlmErrorKind, provider_fn};
use agcore_testkit::clock::ManualClock;
use fastrand::Rng;

use crate::budget::{prices, usd};

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn concurrent_turns_never_overspend() {
    let (tokens, money) = (6_000, 30_000);
    let pool = BudgetPool::new(
        Budget::new()
            .with_tokens(tokens)
            .with_money(usd(money))
            .with_model_calls(80),
    );
    let highest = Arc::new(AtomicU64::new(0));
    let turns = (0..64_u64).map(|seed| {
        let (pool, highest) = (pool.clone(), Arc::clone(&highest));
        tokio::spawn(async move {
            let observed = pool.clone();
            let provider = provider_fn(move |call| {
                let (observed, highest) = (observed.clone(), Arc::clone(&highest));
                async move {
                    for _ in 0..seed % 7 {
                        tokio::task::yield_now().await;
                    }
                    let total = observed.spent().tokens + observed.reserved().tokens;
                    highest.fetch_max(total, Ordering::Relaxed);
                    let input = HeuristicEstimator::default().request(&call.request);
                    if seed % 9 == 8 {
                        return Err(LlmError::new(LlmErrorKind::Server, "down"));
                    }
                    let mut response = ChatResponse::from_text("Hm.");
                    // The highest cost of a call: 15 % above the estimate, and the longest reply.
                    response.usage = Some(Usage::new(input + (input * 15).div_ceil(100), 50));
                    Ok(response)
                }
            });
            let mut cycle = LlmCycle::new(provider, Arc::new(ManualClock::jumping()));
            cycle.settings_mut().request = ChatRequest::default().with_max_tokens(50);
            cycle.settings_mut().budgets = Budgets::new().with_pool(pool).with_price(prices());
            let mut refused = 0;
            for _ in 0..4 {
                match cycle.turn("Tell me more.").await {
                    Err(error) if error.kind() == CycleErrorKind::LimitReached => refused += 1,
                    _ => {}
                }
                assert!(cycle.messages().is_empty() || validate_messages(cycle.messages()).is_ok());
            }
            (cycle.usage().clone(), cycle.spent().clone(), refused)
        })
    });
    let turns: Vec<_> = turns.collect();
    let (mut used, mut calls, mut settled, mut refusals) = (0, 0, Spent::new(), 0);
    for turn in turns {
        let (usage, spent, refused) = turn.await.unwrap();
        used += usage.usage.total().unwrap_or(0);
        calls += usage.calls;
        settled.add(&spent);
        refusals += refused;
    }
    let spent = pool.spent();
    println!(
        "{} of {tokens} tokens, {} of {money} USD/1e6, {} calls of 80, {refusals} turns refused, at most {} spent and reserved",
        spent.tokens,
        spent.micros("USD"),
        spent.model_calls,
        highest.load(Ordering::Relaxed)
    );
    let excess = |spent: u64, limit: u64| spent.saturating_sub(limit);
    let money = u64::try_from(money).unwrap();
    let overshoot = (
        excess(spent.tokens, tokens),
        excess(spent.micros("USD"), money),
        excess(spent.model_calls, 80),
    );
    assert_eq!(overshoot, (0, 0, 0), "overshoot");
    assert!(highest.load(Ordering::Relaxed) <= tokens);
    assert!(refusals > 0 && spent.tokens > tokens / 2, "the turns reached the limit");
    assert!(pool.reserved().is_zero(), "{:?}", pool.reserved());
    assert_eq!(
        (spent.tokens, spent.model_calls),
        (used, calls),
        "the pool counts what the turns have used"
    );
    assert_eq!((spent.tokens, spent.money), (settled.tokens, settled.money));
}

/// The number of random steps in every test run.
const STEPS: u64 = 200_000;
/// The number of random steps if `AGCORE_SOAK` is set.
const SOAK: u64 = 20_000_000;

#[test]
fn random_steps_keep_a_pool_within_its_limits() {
    #[expect(clippy::disallowed_methods, reason = "the environment selects how many steps run")]
    let steps = if std::env::var_os("AGCORE_SOAK").is_some() {
        SOAK
    } else {
        STEPS
    };
    let (mut refusals, mut settled) = (0_u64, 0_u64);
    for seed in 0..steps / 1_000 {
        let mut rng = Rng::with_seed(seed);
        let (tokens, micros) = (rng.u64(..50_000), rng.u64(..90_000));
        let money = usd(i64::try_from(micros).unwrap());
        let pool = BudgetPool::new(Budget::new().with_tokens(tokens).with_money(money));
        let (mut reservations, mut sum) = (Vec::new(), Spent::new());
        for _ in 0..1_000 {
            match rng.u8(..4) {
                0 | 1 => {
                    let cost = usd(rng.i64(..1_000));
                    let worst = Spent::new().with_tokens(rng.u64(..1_000)).with_money(&cost);
                    match pool.reserve(&worst) {
                        Ok(reservation) => reservations.push(reservation),
                        Err(resource) => {
                            assert!(matches!(resource, Resource::Tokens | Resource::Money));
                            refusals += 1;
                        }
                    }
                }
                2 if !reservations.is_empty() => {
                    let reservation = reservations.swap_remove(rng.usize(..reservations.len()));
                    let limit = reservation.amount().clone();
                    let cost = usd(rng.i64(..=i64::try_from(limit.micros("USD")).unwrap()));
                    let spent = Spent::new().with_tokens(rng.u64(..=limit.tokens)).with_money(&cost);
                    reservation.settle(&spent);
                    sum.add(&spent);
                    settled += 1;
                }
                _ if !reservations.is_empty() => drop(reservations.swap_remove(rng.usize(..reservations.len()))),
                _ => {}
            }
            let (spent, reserved) = (pool.spent(), pool.reserved());
            assert_eq!(
                (spent.tokens, spent.micros("USD")),
                (sum.tokens, sum.micros("USD")),
                "seed {seed}"
            );
            let open: u64 = reservations.iter().map(|reservation| reservation.amount().tokens).sum();
            assert_eq!(reserved.tokens, open, "seed {seed}");
            assert!(spent.tokens + reserved.tokens <= tokens, "seed {seed}");
            assert!(spent.micros("USD") + reserved.micros("USD") <= micros, "seed {seed}");
        }
        reservations.clear();
        assert!(pool.reserved().is_zero());
    }
    println!("{steps} steps: {settled} settled, {refusals} refused");
    assert!(settled > 1_000 && refusals > 1_000);
}
