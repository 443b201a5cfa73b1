//! Budgets that are kept elsewhere: drawn before each call, reported afterwards, never exceeded.

use std::{
    error::Error,
    sync::{Arc, Mutex},
};

use agcore_chat::{
    ChatRequest, ChatResponse, Fault, FaultKind, HeuristicEstimator, TokenEstimator, ToolOutcome, Usage,
};
use agcore_cycle::{
    Budget, Budgets, CycleErrorKind, LlmCycle, SharedBudget, Spent, TurnOptions,
    budget::{BudgetSource, DrawError, MIN_REPLY_TOKENS, Resource},
};
use agcore_llm::{
    LlmError, LlmErrorKind,
    layer::retry::{MidStream, Retry, RetryPolicy},
    provider_fn,
};
use agcore_testkit::{
    clock::ManualClock,
    scripted::{ScriptStep, ScriptedProvider},
};
use async_trait::async_trait;
use futures_util::FutureExt;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use crate::{
    budget::{long_history, prices, turn_with},
    support::{FnExecutor, call, cycle},
};

/// A budget of tokens and money in this process.
#[derive(Debug)]
struct Ledger {
    tokens: u64,
    micros: Option<u64>,
    state: Mutex<LedgerState>,
    /// Draws wait for these.
    permits: Semaphore,
    /// Whether a draw gives its permit back.
    keeps_permits: Mutex<bool>,
    /// Draws that are repeated wait for these.
    again: Semaphore,
}

#[derive(Debug, Default)]
struct LedgerState {
    spent: Spent,
    held: Spent,
    /// The wanted tokens of each draw.
    wanted: Vec<Vec<u64>>,
    /// How often a draw that does not fit is repeated.
    retries: u32,
    /// The number of draws that wanted nothing.
    reports: u64,
    /// The error of the next draw.
    fault: Option<Fault>,
}

impl Ledger {
    fn new(tokens: u64, micros: Option<u64>) -> Arc<Self> {
        Arc::new(Self {
            tokens,
            micros,
            state: Mutex::default(),
            permits: Semaphore::new(Semaphore::MAX_PERMITS - 1),
            keeps_permits: Mutex::new(true),
            again: Semaphore::new(0),
        })
    }

    fn budget(self: &Arc<Self>) -> SharedBudget {
        SharedBudget::new(Arc::clone(self) as Arc<dyn BudgetSource>)
    }

    fn wanted(&self) -> Vec<Vec<u64>> {
        self.state.lock().unwrap().wanted.clone()
    }
}

#[async_trait]
impl BudgetSource for Ledger {
    fn currency(&self) -> Option<Arc<str>> {
        self.micros.map(|_| "USD".into())
    }

    fn limits_replies(&self) -> bool {
        true
    }

    async fn draw(&self, spent: &Spent, in_flight: &Spent, wanted: &[Spent]) -> Result<usize, DrawError> {
        self.permits.acquire().await.unwrap().forget();
        if *self.keeps_permits.lock().unwrap() {
            self.permits.add_permits(1);
        }
        let mut state = self.state.lock().unwrap();
        if let Some(fault) = state.fault.take() {
            return Err(DrawError::Failed(fault));
        }
        state.spent = spent.clone();
        if wanted.is_empty() {
            state.held = in_flight.clone();
            state.reports += 1;
            return Ok(0);
        }
        state.wanted.push(wanted.iter().map(|amount| amount.tokens).collect());
        let fits = |amount: &Spent| {
            let sum = |of: fn(&Spent) -> u64| of(spent) + of(in_flight) + of(amount);
            sum(|spent| spent.tokens) <= self.tokens
                && self
                    .micros
                    .is_none_or(|micros| sum(|spent| spent.micros("USD")) <= micros)
        };
        let index = wanted.iter().position(fits);
        state.held = in_flight.clone();
        index
            .inspect(|index| state.held.add(&wanted[*index]))
            .ok_or_else(|| DrawError::Short {
                resource: Resource::Tokens,
                message: "your tenant has used its tokens".to_owned(),
                is_temporary: false,
            })
    }

    async fn retry(&self, _: &DrawError, draws: u32) -> bool {
        let is_repeated = draws <= self.state.lock().unwrap().retries;
        if is_repeated {
            self.again.acquire().await.unwrap().forget();
        }
        is_repeated
    }
}

fn input() -> u64 {
    let input = HeuristicEstimator::default().messages(&[Arc::new(agcore_chat::Message::user("Go"))]);
    input + (input * 15).div_ceil(100)
}

fn options(budget: &SharedBudget) -> TurnOptions {
    TurnOptions::new().with_shared_budget(budget.clone())
}

fn limited(provider: &ScriptedProvider) -> LlmCycle {
    let mut cycle = cycle(provider);
    cycle.settings_mut().request = ChatRequest::default().with_max_tokens(50);
    cycle
}

#[tokio::test]
async fn a_call_is_drawn_before_it_is_made_and_reported_with_the_next_one() {
    let ledger = Ledger::new(1_000, None);
    let budget = ledger.budget();
    let provider = ScriptedProvider::new([ScriptStep::text("Hi."), ScriptStep::text("Hi again.")]);
    let mut cycle = limited(&provider);
    cycle.turn("Go").with_options(options(&budget)).await.unwrap();
    assert_eq!(ledger.wanted(), [[input() + 50]]);
    assert!(ledger.state.lock().unwrap().spent.is_zero(), "nothing was known then");

    let first = budget.spent();
    assert_eq!((first.tokens, first.model_calls), (15, 1));
    assert_eq!(cycle.spent(), &first, "the conversation counts the same");
    cycle.turn("Go").with_options(options(&budget)).await.unwrap();
    let state = ledger.state.lock().unwrap();
    assert_eq!(state.spent, first);
    assert_eq!(state.held.model_calls, 1, "only the call in flight is held");
    drop(state);
    assert_eq!(budget.spent().model_calls, 2);
}

#[tokio::test]
async fn a_shorter_reply_is_tried_if_the_longest_does_not_fit() {
    for (tokens, limit) in [
        (100_000, 20_000),
        (input() + 20_000, 20_000),
        (input() + 19_999, MIN_REPLY_TOKENS),
        (input() + MIN_REPLY_TOKENS, MIN_REPLY_TOKENS),
    ] {
        let provider = ScriptedProvider::new([ScriptStep::text("Hi.")]);
        let mut cycle = cycle(&provider);
        let ledger = Ledger::new(tokens, None);
        cycle.turn("Go").with_options(options(&ledger.budget())).await.unwrap();
        assert_eq!(provider.requests()[0].token_limit(), Some(limit), "{tokens}");
        assert_eq!(ledger.wanted(), [[input() + 20_000, input() + MIN_REPLY_TOKENS]]);
    }
}

#[tokio::test]
async fn a_refused_call_is_not_made_and_ends_the_turn_with_the_reason() {
    let provider = ScriptedProvider::new([ScriptStep::text("Hi.")]);
    let mut cycle = limited(&provider);
    let ledger = Ledger::new(input() + 49, None);
    let (outcome, reached) = turn_with(&mut cycle, options(&ledger.budget())).await;
    let error = outcome.unwrap_err();
    assert_eq!(error.kind(), CycleErrorKind::LimitReached);
    assert_eq!(error.message(), "your tenant has used its tokens");
    assert!(error.source().unwrap().downcast_ref::<DrawError>().is_some());
    assert_eq!(reached, ["shared.tokens"]);
    assert_eq!(
        (ledger.wanted().len(), provider.unused()),
        (1, 1),
        "the limit of the request stays"
    );
}

#[tokio::test]
async fn a_source_that_fails_leaves_the_turn_open() {
    let provider = ScriptedProvider::new([ScriptStep::text("Hi.")]);
    let mut cycle = limited(&provider);
    let ledger = Ledger::new(1_000, None);
    let away = Fault::new(FaultKind::Storage, "the database is away").with_retryable(true);
    ledger.state.lock().unwrap().fault = Some(away);
    let error = cycle
        .turn("Go")
        .with_options(options(&ledger.budget()))
        .await
        .unwrap_err();
    assert_eq!(error.kind(), CycleErrorKind::Storage);
    let fault = error.source().unwrap().downcast_ref::<Fault>().unwrap();
    assert!(fault.is_retryable() && fault.message == "the database is away");
    assert_eq!(provider.unused(), 1);

    let resumed = cycle.resume([]).with_options(options(&ledger.budget())).await.unwrap();
    assert_eq!(resumed.text(), "Hi.");
}

#[tokio::test]
async fn money_is_drawn_in_the_currency_of_the_budget() {
    let provider = ScriptedProvider::new([ScriptStep::text("Hi.")]);
    let mut cycle = limited(&provider);
    let ledger = Ledger::new(1_000_000, Some(10_000));
    let budget = ledger.budget();
    let error = cycle.turn("Go").with_options(options(&budget)).await.unwrap_err();
    assert!(error.message().contains("but no prices"), "{}", error.message());
    assert!(
        ledger.wanted().is_empty(),
        "a call without a price is refused before anything is drawn"
    );

    cycle.settings_mut().budgets = Budgets::new().with_price(prices());
    cycle.turn("Go").with_options(options(&budget)).await.unwrap();
    let held = ledger.state.lock().unwrap().held.micros("USD");
    assert_eq!(held, 2 * input() + 10 * 50);
    assert_eq!(budget.spent().micros("USD"), cycle.spent().micros("USD"));
    assert!(budget.spent().micros("USD") > 0);
}

#[tokio::test]
async fn a_turn_that_is_cancelled_while_it_waits_for_a_draw_makes_no_call() {
    let provider = ScriptedProvider::new([ScriptStep::text("Hi.")]);
    let mut cycle = limited(&provider);
    let ledger = Ledger::new(1_000, None);
    ledger.permits.forget_permits(Semaphore::MAX_PERMITS - 1);
    let token = CancellationToken::new();
    let budget = ledger.budget();
    let mut turn = Box::pin(
        cycle
            .turn("Go")
            .with_options(options(&budget).with_token(token.clone()))
            .run(),
    );
    assert!(turn.as_mut().now_or_never().is_none());
    token.cancel();
    assert!(turn.await.unwrap_err().is_cancelled());
    assert_eq!(provider.unused(), 1);
    assert!(budget.spent().is_zero() && ledger.wanted().is_empty());
}

#[tokio::test]
async fn what_was_sent_counts_even_if_the_turn_is_dropped() {
    let provider = ScriptedProvider::new([ScriptStep::hang()]);
    let mut cycle = limited(&provider);
    let budget = Ledger::new(1_000, None).budget();
    let mut turn = Box::pin(cycle.turn("Go").with_options(options(&budget)).run());
    assert!(turn.as_mut().now_or_never().is_none());
    drop(turn);
    let spent = budget.spent();
    assert!(
        spent.estimated && spent.model_calls == 1 && spent.tokens > 0,
        "{spent:?}"
    );
    assert_eq!(cycle.spent(), &spent);
}

#[tokio::test]
async fn another_attempt_is_drawn_as_well() {
    let lost = || ScriptStep::text("half").then_error(LlmError::new(LlmErrorKind::Server, "no"));
    let worst = input() + 50;
    for (tokens, fits) in [(2 * worst, true), (2 * worst - 1, false)] {
        let provider = ScriptedProvider::new([lost(), ScriptStep::text("Fine.")]);
        let clock = Arc::new(ManualClock::jumping());
        let policy = RetryPolicy::new().with_mid_stream(MidStream::Restart);
        let retry = Retry::new(provider.clone(), policy, Arc::clone(&clock) as _, Arc::new(|| 1.0));
        let mut cycle = LlmCycle::new(Arc::new(retry), clock);
        cycle.settings_mut().request = ChatRequest::default().with_max_tokens(50);
        let ledger = Ledger::new(tokens, None);
        let budget = ledger.budget();
        let (outcome, reached) = turn_with(&mut cycle, options(&budget)).await;
        assert_eq!(outcome.is_ok(), fits);
        assert_eq!(reached.is_empty(), fits);
        assert_eq!(ledger.wanted(), [[worst], [worst]]);
        assert_eq!(
            budget.spent().model_calls,
            if fits { 2 } else { 1 },
            "the first attempt is paid"
        );
    }
}

#[tokio::test]
async fn a_call_is_reported_before_its_tools_run() {
    let provider = ScriptedProvider::new([ScriptStep::calls([call("c1", "look", "{}")]), ScriptStep::text("Seen.")]);
    let mut cycle = limited(&provider);
    let ledger = Ledger::new(1_000, None);
    let seen = Arc::clone(&ledger);
    let tools = FnExecutor::new(&["look"], move |_| {
        let state = seen.state.lock().unwrap();
        assert_eq!((state.reports, state.held.tokens, state.spent.model_calls), (1, 0, 1));
        ToolOutcome::done("a tree")
    });
    cycle
        .turn("Go")
        .with_options(options(&ledger.budget()).with_tools(tools))
        .await
        .unwrap();
    assert_eq!(
        ledger.state.lock().unwrap().reports,
        1,
        "the last call is not followed by tools"
    );
}

#[tokio::test]
async fn a_lost_attempt_that_waits_for_a_draw_can_be_cancelled() {
    let lost = ScriptStep::text("half").then_error(LlmError::new(LlmErrorKind::Server, "no"));
    let provider = ScriptedProvider::new([lost, ScriptStep::text("Fine.")]);
    let clock = Arc::new(ManualClock::jumping());
    let policy = RetryPolicy::new().with_mid_stream(MidStream::Restart);
    let retry = Retry::new(provider.clone(), policy, Arc::clone(&clock) as _, Arc::new(|| 1.0));
    let mut cycle = LlmCycle::new(Arc::new(retry), clock);
    cycle.settings_mut().request = ChatRequest::default().with_max_tokens(50);
    let ledger = Ledger::new(1_000, None);
    // Only the first draw is let through.
    ledger.permits.forget_permits(Semaphore::MAX_PERMITS - 1);
    *ledger.keeps_permits.lock().unwrap() = false;
    ledger.permits.add_permits(1);
    let (token, budget) = (CancellationToken::new(), ledger.budget());
    let options = options(&budget).with_token(token.clone());
    let mut turn = Box::pin(cycle.turn("Go").with_options(options).run());
    while ledger.wanted().is_empty() {
        assert!(turn.as_mut().now_or_never().is_none());
    }
    assert!(turn.as_mut().now_or_never().is_none());
    token.cancel();
    assert!(turn.await.unwrap_err().is_cancelled());
    assert_eq!(
        (ledger.wanted().len(), budget.spent().model_calls),
        (1, 1),
        "the first attempt is paid"
    );
}

#[tokio::test]
async fn others_draw_while_one_waits_for_them() {
    let ledger = Ledger::new(input() + 60, None);
    let budget = ledger.budget();
    let small = || ScriptedProvider::new([ScriptStep::text("Hi.")]);
    let (first, second) = (small(), small());
    let (mut waiting, mut quick) = (limited(&first), limited(&second));
    waiting.settings_mut().request = ChatRequest::default().with_max_tokens(500);
    ledger.state.lock().unwrap().retries = 1;
    let mut waiting = Box::pin(waiting.turn("Go").with_options(options(&budget)).run());
    assert!(waiting.as_mut().now_or_never().is_none(), "it waits to draw again");
    quick.turn("Go").with_options(options(&budget)).await.unwrap();
    ledger.again.add_permits(1);
    let error = waiting.await.unwrap_err();
    assert_eq!(error.message(), "your tenant has used its tokens");
    assert_eq!(ledger.wanted().len(), 3);
}

#[tokio::test]
async fn a_summary_is_drawn_as_well() {
    for (tokens, fits) in [(100_000, true), (100, false)] {
        let provider = ScriptedProvider::new([ScriptStep::text("Words.")]);
        let mut cycle = cycle(&provider);
        cycle.settings_mut().compaction.window.keep_recent = 1;
        cycle.set_messages(long_history()).unwrap();
        let ledger = Ledger::new(tokens, None);
        let report = cycle.compact(options(&ledger.budget())).await.unwrap();
        assert_eq!((report.is_unchanged(), provider.unused()), (!fits, usize::from(!fits)));
        assert_eq!(ledger.wanted().len(), 1);
    }
}

#[tokio::test]
async fn own_budgets_hold_as_well() {
    let provider = ScriptedProvider::new([ScriptStep::text("Hi.")]);
    let mut cycle = cycle(&provider);
    cycle.settings_mut().budgets = Budgets::new().with_turn(Budget::new().with_tokens(5_000));
    let ledger = Ledger::new(input() + 1_000, None);
    cycle.turn("Go").with_options(options(&ledger.budget())).await.unwrap();
    assert_eq!(ledger.wanted(), [[5_000, input() + MIN_REPLY_TOKENS]]);
    assert_eq!(provider.requests()[0].token_limit(), Some(MIN_REPLY_TOKENS));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn turns_side_by_side_never_exceed_the_budget() {
    let ledger = Ledger::new(8_000, None);
    let budget = ledger.budget();
    let turns = (0..64_u64).map(|seed| {
        let (budget, ledger) = (budget.clone(), Arc::clone(&ledger));
        tokio::spawn(async move {
            let provider = provider_fn(move |call| {
                let ledger = Arc::clone(&ledger);
                async move {
                    for _ in 0..seed % 7 {
                        tokio::task::yield_now().await;
                    }
                    let (spent, held) = {
                        let state = ledger.state.lock().unwrap();
                        (state.spent.tokens, state.held.tokens)
                    };
                    assert!(spent + held <= 8_000, "{spent} {held}");
                    let input = HeuristicEstimator::default().request(&call.request);
                    let mut response = ChatResponse::from_text("Hm.");
                    response.usage = Some(Usage::new(input + (input * 15).div_ceil(100), 50));
                    Ok(response)
                }
            });
            let mut cycle = LlmCycle::new(provider, Arc::new(ManualClock::jumping()));
            cycle.settings_mut().request = ChatRequest::default().with_max_tokens(50);
            let mut answered = 0;
            for _ in 0..4 {
                match cycle.turn("Tell me more.").with_options(options(&budget)).await {
                    Ok(_) => answered += 1,
                    Err(error) => assert_eq!(error.kind(), CycleErrorKind::LimitReached, "{error}"),
                }
            }
            (cycle.spent().tokens, answered)
        })
    });
    let (mut tokens, mut answered) = (0, 0);
    for turn in futures_util::future::join_all(turns).await {
        let (of_turn, answers) = turn.unwrap();
        tokens += of_turn;
        answered += answers;
    }
    assert_eq!(budget.spent().tokens, tokens);
    assert!(
        tokens <= 8_000 && tokens > 7_700 && answered > 50,
        "{tokens} {answered}"
    );
}
