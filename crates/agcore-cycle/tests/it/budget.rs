//! Budgets: reserved before a call and settled after it, however the call ends.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use agcore_chat::{
    AssistantMessage, ChatRequest, ChatResponse, EventKind, FinishReason, HeuristicEstimator, Message, Money, PriceFn,
    TokenEstimator, TurnEvent, Usage, validate_messages,
};
use agcore_cycle::{
    Budget, BudgetPool, Budgets, CycleError, CycleErrorKind, LlmCycle, Spent, TurnOptions, TurnOutcome,
    budget::MIN_REPLY_TOKENS,
    machine::{Limits, RoundLimit},
};
use agcore_llm::{
    LlmError, LlmErrorKind, ProviderInfo,
    layer::retry::{MidStream, Retry, RetryPolicy},
    provider_fn,
};
use agcore_testkit::{
    clock::ManualClock,
    scripted::{ScriptStep, ScriptedProvider},
};

use crate::support::{FnExecutor, call, cycle};

pub(crate) fn usd(micros: i64) -> Money {
    Money::from_micros(micros, "USD")
}

/// Returns prices of two micros per input token and ten per output token.
pub(crate) fn prices() -> PriceFn {
    Arc::new(|query| {
        let tokens = |tokens: Option<u64>| i64::try_from(tokens.unwrap_or(0)).unwrap();
        let usage = query.usage;
        let micros = 2 * tokens(usage.prompt_tokens) + 10 * tokens(usage.completion_tokens);
        Some(usd(micros).into())
    })
}

fn budgeted(provider: &ScriptedProvider, budgets: Budgets) -> LlmCycle {
    let mut cycle = cycle(provider);
    cycle.settings_mut().budgets = budgets;
    cycle.settings_mut().request = ChatRequest::default().with_max_tokens(50);
    cycle
}

/// Runs a turn. Returns its outcome, and the limits that were reported as reached.
pub(crate) async fn turn(
    cycle: &mut LlmCycle,
    tools: Option<Arc<FnExecutor>>,
) -> (Result<TurnOutcome, CycleError>, Vec<String>) {
    let mut options = TurnOptions::new();
    if let Some(tools) = tools {
        options = options.with_tools(tools);
    }
    turn_with(cycle, options).await
}

/// Like [`turn`], with these options.
pub(crate) async fn turn_with(
    cycle: &mut LlmCycle,
    options: TurnOptions,
) -> (Result<TurnOutcome, CycleError>, Vec<String>) {
    let begin = agcore_cycle::machine::Begin::new([Message::user("Go")]);
    let mut stream = cycle.turn(begin).with_options(options).stream();
    let mut reached = Vec::new();
    while let Some(event) = stream.next().await {
        if let EventKind::Turn(TurnEvent::BudgetReached { limit }) = event.kind {
            reached.push(limit.to_string());
        }
    }
    (stream.finish().await, reached)
}

pub(crate) fn assert_refused(outcome: Result<TurnOutcome, CycleError>, message: &str) {
    let error = outcome.unwrap_err();
    assert_eq!(error.kind(), CycleErrorKind::LimitReached);
    assert!(error.message().contains(message), "{}", error.message());
}

#[tokio::test]
async fn the_worst_case_is_the_estimate_plus_15_percent_and_the_longest_reply() {
    let estimate = HeuristicEstimator::default().messages(&[Arc::new(Message::user("Go"))]);
    let input = estimate + (estimate * 15).div_ceil(100);
    let check = |limit: Option<u64>, of_model: Option<u64>, output: u64| async move {
        for (budget, fits) in [(input + output, true), (input + output - 1, false)] {
            let mut info = ProviderInfo::new("p", "m");
            info.capabilities.max_output_tokens = of_model;
            let provider = ScriptedProvider::new([ScriptStep::text("Hi.")]).with_info(info);
            let budgets = Budgets::new().with_turn(Budget::new().with_tokens(budget));
            let mut cycle = budgeted(&provider, budgets);
            cycle.settings_mut().request = ChatRequest::default();
            cycle.settings_mut().request.max_completion_tokens = limit;
            // A reply of unknown length is limited to what is left.
            let fits = fits || limit.is_none() && output > MIN_REPLY_TOKENS;
            let (outcome, reached) = turn(&mut cycle, None).await;
            assert_eq!(outcome.is_ok(), fits, "{limit:?} {of_model:?}");
            assert_eq!(reached, if fits { vec![] } else { vec!["turn.tokens"] });
            assert_eq!(provider.unused(), usize::from(!fits), "a refused call is not made");
        }
    };
    check(Some(100), Some(300), 100).await;
    check(None, Some(300), 300).await;
    check(None, None, 20_000).await;
}

#[tokio::test]
async fn an_unusable_price_refuses_the_call() {
    let price = |money: Option<Money>| -> PriceFn { Arc::new(move |_| money.clone().map(Into::into)) };
    let check = |price: Option<PriceFn>, message: &'static str| async move {
        for shared in [false, true] {
            let provider = ScriptedProvider::new([ScriptStep::text("Hi.")]);
            let budget = Budget::new().with_money(usd(1_000_000));
            let mut budgets = if shared {
                Budgets::new().with_pool(BudgetPool::new(budget))
            } else {
                Budgets::new().with_cycle(budget)
            };
            budgets.price.clone_from(&price);
            let mut cycle = budgeted(&provider, budgets);
            let (outcome, reached) = turn(&mut cycle, None).await;
            assert_refused(outcome, message);
            assert!(reached.is_empty(), "no budget is exhausted");
            assert_eq!(provider.unused(), 1);
            assert!(cycle.messages().is_empty() && cycle.spent().is_zero());
        }
    };
    check(None, "but no prices").await;
    check(Some(price(None)), "`script-1` is unknown").await;
    check(Some(price(Some(usd(-1)))), "is negative (-0.000001 USD)").await;
    check(
        Some(price(Some(Money::from_micros(1, "EUR")))),
        "is in EUR, but the budget is in USD",
    )
    .await;

    // Free calls are allowed even with a budget of zero. Without a money budget, no price is needed.
    for (budget, price) in [
        (Budget::new().with_money(usd(0)), Some(price(Some(usd(0))))),
        (Budget::new().with_tokens(10_000), Some(price(None))),
        (Budget::new().with_tokens(10_000), Some(price(Some(usd(-1))))),
        (Budget::new().with_tokens(10_000), None),
    ] {
        let provider = ScriptedProvider::new([ScriptStep::text("Hi.")]);
        let mut budgets = Budgets::new().with_cycle(budget);
        budgets.price = price;
        let mut cycle = budgeted(&provider, budgets);
        turn(&mut cycle, None).await.0.unwrap();
        assert_eq!((cycle.spent().tokens, cycle.spent().micros("USD")), (15, 0));
    }
}

#[tokio::test]
async fn the_cost_of_a_call_is_settled_however_it_ends() {
    let half = || ScriptStep::text("half").then_error(LlmError::new(LlmErrorKind::Server, "no"));
    let unknown = |step: &str| {
        let text = step.to_owned();
        ScriptStep::from_fn(move |_| {
            let mut response = ChatResponse::from_text(text);
            response.usage = None;
            response
        })
    };
    let check = |step: ScriptStep, tokens: std::ops::Range<u64>, calls: u64| async move {
        let pool = BudgetPool::new(Budget::new().with_tokens(1_000));
        let provider = ScriptedProvider::new([step]);
        let mut cycle = budgeted(&provider, Budgets::new().with_pool(pool.clone()));
        let _ = turn(&mut cycle, None).await;
        let spent = pool.spent();
        assert!(tokens.contains(&spent.tokens), "{spent:?}");
        assert_eq!((spent.model_calls, pool.reserved().is_zero()), (calls, true));
        assert_eq!(cycle.spent(), &spent);
        spent.estimated
    };
    assert!(!check(ScriptStep::text("Hi."), 15..16, 1).await);
    let failed = ScriptStep::error(LlmError::new(LlmErrorKind::Server, "no"));
    assert!(!check(failed, 0..1, 0).await, "without an answer, nothing is spent");
    assert!(
        check(half(), 5..40, 1).await,
        "the cost of a partial answer without usage is estimated"
    );
    assert!(check(unknown("A few words here."), 8..40, 1).await);
}

#[tokio::test]
async fn a_lost_attempt_is_counted_and_the_next_one_reserved() {
    let lost = || ScriptStep::text("half").then_error(LlmError::new(LlmErrorKind::Server, "no"));
    let policy = RetryPolicy::new().with_mid_stream(MidStream::Restart);
    for (tokens, fits) in [(10_000, true), (100, false)] {
        let provider = ScriptedProvider::new([lost(), ScriptStep::text("Fine.")]);
        let clock = Arc::new(ManualClock::jumping());
        let retry = Retry::new(
            provider.clone(),
            policy.clone(),
            Arc::clone(&clock) as _,
            Arc::new(|| 1.0),
        );
        let mut cycle = LlmCycle::new(Arc::new(retry), clock);
        let pool = BudgetPool::new(Budget::new().with_tokens(tokens));
        cycle.settings_mut().budgets = Budgets::new().with_pool(pool.clone());
        cycle.settings_mut().request = ChatRequest::default().with_max_tokens(50);
        let (outcome, reached) = turn(&mut cycle, None).await;
        assert!(pool.reserved().is_zero());
        if fits {
            outcome.unwrap();
            assert_eq!(pool.spent().model_calls, 2);
        } else {
            assert_refused(outcome, "pool.tokens");
            assert_eq!(reached, ["pool.tokens"]);
            assert_eq!((pool.spent().model_calls, cycle.usage().calls), (1, 1));
            assert!(pool.spent().tokens <= 100);
        }
    }
}

fn rounds() -> Vec<ScriptStep> {
    (0..9)
        .map(|round| ScriptStep::calls([call(&format!("c{round}"), "look", "{}")]))
        .collect()
}

#[tokio::test]
async fn an_exhausted_budget_ends_the_turn_or_lets_the_model_wrap_up() {
    for (budget, name) in [
        (Budget::new().with_model_calls(3), "turn.model_calls"),
        (Budget::new().with_tool_calls(2), "turn.tool_calls"),
        (Budget::new().with_tokens(200), "turn.tokens"),
        (Budget::new().with_money(usd(1_300)), "turn.money"),
    ] {
        for at_limit in [RoundLimit::Fail, RoundLimit::WrapUp] {
            let wraps_up = at_limit == RoundLimit::WrapUp;
            let calls = Arc::new(AtomicU64::new(0));
            let counted = Arc::clone(&calls);
            let provider = provider_fn(move |call| {
                let round = counted.fetch_add(1, Ordering::Relaxed);
                async move {
                    let step = agcore_chat::ToolCall::function(format!("c{round}"), "look", "{}");
                    let mut response = ChatResponse::from_text("So far so good.");
                    let may_call = call.request.tool_choice != Some(agcore_chat::ToolChoice::None);
                    if may_call && !call.request.tools.is_empty() {
                        response.choices[0].message = AssistantMessage::default().with_call(step);
                        response.choices[0].finish_reason = Some(FinishReason::ToolCalls);
                    }
                    response.usage = Some(Usage::new(10, 5));
                    Ok(response)
                }
            });
            let mut cycle = LlmCycle::new(provider, Arc::new(ManualClock::jumping()));
            cycle.settings_mut().request = ChatRequest::default().with_max_tokens(20);
            let limits = Limits::new().with_max_tool_turns(100).with_round_limit(at_limit);
            cycle.settings_mut().limits = limits;
            let budgets = Budgets::new().with_turn(budget.clone());
            cycle.settings_mut().budgets = if budget.money.is_some() {
                budgets.with_price(prices())
            } else {
                budgets
            };
            let (outcome, reached) = turn(&mut cycle, Some(FnExecutor::echo(&["look"]))).await;
            assert_eq!(reached, [name], "{at_limit:?}");
            validate_messages(cycle.messages()).unwrap();
            assert!(cycle.machine().round() > 1, "{name}: rounds are kept");
            if wraps_up {
                assert_eq!(outcome.unwrap().text(), "So far so good.", "{name}");
            } else {
                assert_refused(outcome, name);
            }
            let used = cycle.machine().turn_spent().unwrap().clone();
            assert_eq!(budget.admits(&used, &Spent::new()), Ok(()));
            assert_eq!(used.model_calls, cycle.usage().calls);
            assert!(used.model_calls <= budget.model_calls.unwrap_or(u64::MAX));
            assert!(used.tool_calls <= budget.tool_calls.unwrap_or(u64::MAX));
            // The next turn has its own budget.
            let calls_before = calls.load(Ordering::Relaxed);
            let _ = turn(&mut cycle, None).await;
            assert!(calls.load(Ordering::Relaxed) > calls_before, "{name}");
        }
    }
}

#[tokio::test]
async fn the_budget_of_a_cycle_covers_all_turns_and_survives_saving() {
    let provider = ScriptedProvider::new((0..5).map(|_| ScriptStep::text("Hi.")));
    let budgets = Budgets::new().with_cycle(Budget::new().with_model_calls(2));
    let mut first = budgeted(&provider, budgets.clone());
    first.turn("One").await.unwrap();
    let saved = serde_json::to_string(first.machine()).unwrap();
    let mut second = LlmCycle::from_machine(
        provider.clone(),
        Arc::new(ManualClock::jumping()),
        serde_json::from_str(&saved).unwrap(),
    );
    second.settings_mut().budgets = budgets;
    second.turn("Two").await.unwrap();
    let (outcome, reached) = turn(&mut second, None).await;
    assert_refused(outcome, "session.model_calls");
    assert_eq!(reached, ["session.model_calls"]);
    second.reset_usage();
    second.turn("Three").await.unwrap();
}

/// Returns a conversation that can be summarized.
pub(crate) fn long_history() -> Vec<Arc<Message>> {
    let text = "word ".repeat(400);
    let texts = ["Go.", &text, "More.", &text, "More.", "The end."]
        .into_iter()
        .enumerate();
    let message = |(at, text): (usize, &str)| match at % 2 {
        0 => Message::user(text),
        _ => Message::assistant(text),
    };
    texts.map(message).map(Arc::new).collect()
}

#[tokio::test]
async fn a_call_for_a_summary_is_counted_or_refused() {
    let history = long_history();
    for (tokens, fits) in [(100_000, true), (100, false)] {
        let provider = ScriptedProvider::new([ScriptStep::text("Words.")]);
        let mut cycle = budgeted(&provider, Budgets::new().with_cycle(Budget::new().with_tokens(tokens)));
        cycle.settings_mut().compaction.window.keep_recent = 1;
        cycle.set_messages(history.clone()).unwrap();
        let report = cycle.compact(TurnOptions::new()).await.unwrap();
        assert_eq!((report.is_unchanged(), provider.unused()), (!fits, usize::from(!fits)));
        assert_eq!(cycle.spent().tokens, if fits { 15 } else { 0 });
        assert_eq!(
            report
                .fault
                .is_some_and(|fault| fault.message.contains("session.tokens")),
            !fits
        );
    }
}

#[tokio::test]
async fn without_budgets_nothing_is_counted() {
    let mut cycle = cycle(&ScriptedProvider::new(rounds()));
    let _ = cycle.turn("Go").with_tools(FnExecutor::echo(&["look"])).await;
    assert!(cycle.spent().is_zero());
}
