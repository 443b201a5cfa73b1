//! The cost of a call that was given up: cancelled, out of time, failed, or never sent.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use agcore_chat::{ChatRequest, Fault, FaultKind, HeuristicEstimator, Message, TokenEstimator, Usage};
use agcore_cycle::{Budget, BudgetPool, Budgets, LlmCycle, Spent, TurnOptions, machine::Begin};
use agcore_llm::{
    Call, LlmError, LlmErrorKind, LlmProvider, Notice, ReplyDelta, ReplyItem, ReplyStream, TimeoutStage,
    layer::rate_limit::{RateLimit, RateLimits},
};
use agcore_testkit::{
    clock::ManualClock,
    scripted::{ScriptStep, ScriptedProvider},
};
use futures_util::{FutureExt, StreamExt, stream};
use tokio_util::sync::CancellationToken;

use crate::support::RawProvider;

/// The estimated tokens of the request "Go".
fn input() -> u64 {
    HeuristicEstimator::default().messages(&[Arc::new(Message::user("Go"))])
}

struct Conversation {
    cycle: LlmCycle,
    pool: BudgetPool,
    clock: Arc<ManualClock>,
}

impl Conversation {
    fn new(provider: impl LlmProvider + 'static) -> Self {
        Self::with_clock(provider, Arc::new(ManualClock::new()))
    }

    fn with_clock(provider: impl LlmProvider + 'static, clock: Arc<ManualClock>) -> Self {
        let pool = BudgetPool::new(Budget::new().with_tokens(1_000));
        let mut cycle = LlmCycle::new(provider, Arc::clone(&clock));
        cycle.settings_mut().request = ChatRequest::default().with_max_tokens(50);
        cycle.settings_mut().budgets = Budgets::new().with_pool(pool.clone());
        Self { cycle, pool, clock }
    }

    /// Asserts that this was spent and that nothing is reserved any more.
    #[track_caller]
    fn assert_spent(&self, tokens: u64, calls: u64) -> Spent {
        let spent = self.pool.spent();
        assert_eq!((spent.tokens, spent.model_calls), (tokens, calls));
        assert_eq!((self.cycle.spent(), self.cycle.usage().calls), (&spent, calls));
        assert!(self.pool.reserved().is_zero());
        spent
    }

    async fn run_with(&mut self, token: CancellationToken) {
        let begin = Begin::new([Message::user("Go")]);
        let options = TurnOptions::new().with_token(token);
        let _ = self.cycle.turn(begin).with_options(options).await;
    }
}

#[tokio::test]
async fn a_call_that_is_dropped_before_its_first_delta_has_cost_its_request() {
    let mut conversation = Conversation::new(ScriptedProvider::new([ScriptStep::hang()]));
    let mut waiting = Box::pin(conversation.cycle.turn("Go").run());
    assert!(waiting.as_mut().now_or_never().is_none());
    assert!(conversation.pool.reserved().tokens > 50, "while the call is in flight");
    drop(waiting);
    assert!(conversation.assert_spent(input(), 1).estimated);
    assert!(!conversation.cycle.usage().is_complete());

    // A future that was never polled has sent nothing.
    drop(conversation.cycle.turn("Go").run());
    conversation.assert_spent(input(), 1);
}

#[tokio::test]
async fn a_cancelled_call_has_cost_its_request_once_it_was_sent() {
    let mut conversation = Conversation::new(ScriptedProvider::new([ScriptStep::hang()]));
    let token = CancellationToken::new();
    token.cancel();
    conversation.run_with(token).await;
    conversation.assert_spent(0, 0);

    let token = CancellationToken::new();
    let mut waiting = Box::pin(conversation.run_with(token.clone()));
    assert!(waiting.as_mut().now_or_never().is_none());
    token.cancel();
    waiting.await;
    assert!(conversation.assert_spent(input(), 1).estimated);
}

#[tokio::test]
async fn a_call_that_runs_out_of_time_has_cost_its_request() {
    let mut conversation = Conversation::new(ScriptedProvider::new([ScriptStep::hang()]));
    conversation.cycle.settings_mut().budgets.turn = Budget::new().with_time(Duration::from_secs(5));
    let mut waiting = Box::pin(conversation.cycle.turn("Go").run());
    assert!(waiting.as_mut().now_or_never().is_none());
    conversation.clock.advance(Duration::from_secs(5));
    waiting.await.unwrap_err();
    let spent = conversation.assert_spent(input(), 1);
    assert_eq!((spent.estimated, spent.time()), (true, Duration::from_secs(5)));
}

#[tokio::test]
async fn a_failed_call_costs_something_only_if_a_server_may_have_worked_on_it() {
    for (kind, is_paid) in [
        (LlmErrorKind::Connect, false),
        (LlmErrorKind::InvalidRequest, false),
        (LlmErrorKind::RateLimit, false),
        (LlmErrorKind::Server, false),
        (LlmErrorKind::Timeout(TimeoutStage::Connect), false),
        (LlmErrorKind::Timeout(TimeoutStage::FirstByte), true),
        (LlmErrorKind::Timeout(TimeoutStage::Total), true),
        (LlmErrorKind::Truncated, true),
    ] {
        let step = ScriptStep::error(LlmError::new(kind, "no"));
        let mut conversation = Conversation::new(ScriptedProvider::new([step]));
        conversation.cycle.turn("Go").await.unwrap_err();
        let expected = if is_paid { (input(), 1) } else { (0, 0) };
        println!("{kind:?}");
        conversation.assert_spent(expected.0, expected.1);
    }
}

#[tokio::test]
async fn a_call_that_a_layer_holds_back_is_not_sent() {
    let limits = RateLimits::new().with_requests_per_minute(1);
    let provider = ScriptedProvider::new([ScriptStep::text("Hi."), ScriptStep::hang()]);
    let clock = Arc::new(ManualClock::new());
    let limited = RateLimit::new(provider, limits, Arc::clone(&clock) as _).unwrap();
    let mut conversation = Conversation::with_clock(limited, clock);
    conversation.cycle.turn("Go").await.unwrap();
    let before = conversation.pool.spent();
    let mut waiting = Box::pin(conversation.cycle.turn("Go").run());
    assert!(waiting.as_mut().now_or_never().is_none());
    drop(waiting);
    conversation.assert_spent(before.tokens, 1);
}

#[tokio::test]
async fn attempts_that_timed_out_count_and_the_wait_after_them_does_not() {
    let scheduled = |kind| {
        ReplyItem::Notice(Notice::RetryScheduled {
            attempt: 1,
            delay: Duration::from_secs(9),
            fault: Fault::new(kind, "no"),
        })
    };
    for (kind, calls) in [(FaultKind::Timeout, 1), (FaultKind::Connection, 0)] {
        let mut conversation = Conversation::new(StalledProvider::new(vec![scheduled(kind)]));
        let mut waiting = Box::pin(conversation.cycle.turn("Go").run());
        assert!(waiting.as_mut().now_or_never().is_none());
        drop(waiting);
        conversation.assert_spent(calls * input(), calls);
    }
}

/// A provider that sends these items and then hangs.
#[derive(Debug)]
struct StalledProvider(Mutex<Vec<ReplyItem>>);

impl StalledProvider {
    fn new(items: Vec<ReplyItem>) -> Self {
        Self(Mutex::new(items))
    }
}

impl LlmProvider for StalledProvider {
    fn open(&self, _: Call) -> ReplyStream {
        let items = std::mem::take(&mut *self.0.lock().unwrap());
        ReplyStream::new(stream::iter(items).chain(stream::pending()))
    }
}

#[tokio::test]
async fn usage_reported_at_the_start_does_not_hide_what_is_written_after_it() {
    let text = "Many words that nobody has counted yet. ".repeat(20);
    let items = vec![
        ReplyItem::Delta(ReplyDelta::Usage(Box::new(Usage::new(100, 1)))),
        ReplyItem::Delta(ReplyDelta::Text {
            choice: 0,
            text: text.as_str().into(),
        }),
    ];
    let mut conversation = Conversation::new(StalledProvider::new(items));
    let mut waiting = Box::pin(conversation.cycle.turn("Go").run());
    assert!(waiting.as_mut().now_or_never().is_none());
    drop(waiting);
    let written = HeuristicEstimator::default().text(&text);
    let spent = conversation.pool.spent();
    assert!(spent.estimated && spent.tokens >= 100 + written, "{spent:?}");
    assert_eq!(
        conversation.cycle.usage().total(),
        Some(101),
        "what the server has reported"
    );
}

#[tokio::test]
async fn a_text_lost_before_a_restart_counts_with_its_words() {
    let text = "Half of a long answer. ".repeat(10);
    let lost = ReplyDelta::Text {
        choice: 0,
        text: text.as_str().into(),
    };
    let restarted = Notice::Restarted {
        fault: Fault::new(FaultKind::Truncated, "cut"),
        usage: None,
    };
    let provider = RawProvider::new([vec![
        ReplyItem::Delta(lost),
        ReplyItem::Notice(restarted),
        ReplyItem::Delta(ReplyDelta::Usage(Box::new(Usage::new(10, 5)))),
        ReplyItem::End(Ok(())),
    ]]);
    let mut conversation = Conversation::new(provider);
    conversation.cycle.turn("Go").await.unwrap();
    let spent = conversation.pool.spent();
    let written = HeuristicEstimator::default().text(&text);
    assert!(spent.tokens >= 15 + input() + written, "{spent:?}");
    assert_eq!((spent.model_calls, spent.estimated), (2, true));
}
