//! Dropped turns: wherever a turn is dropped, what was read counts, nothing stays reserved, and the next turn works.

use std::{
    future::poll_fn,
    pin::{Pin, pin},
    sync::{Arc, Mutex},
    task::{Context, Poll, Waker},
    time::Duration,
};

use agcore_chat::{
    FinishReason, HeuristicEstimator, Role, TokenEstimator, Tool, ToolDefinition, ToolExecutor, ToolOutcome,
    ToolReport, ToolReports, ToolWork, Usage, validate_messages,
};
use agcore_cycle::{Budget, BudgetPool, Budgets, CycleTurn, LlmCycle, TurnOptions, machine::Begin};
use agcore_llm::{Call, LlmProvider, ReplyDelta, ReplyItem, ReplyStream, wire::CallFragment};
use agcore_testkit::clock::ManualClock;
use futures_core::Stream;
use futures_util::{StreamExt, stream};
use serde_json::json;

/// Between any two items, replies and tools pause.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Pause {
    /// For one poll.
    Poll,
    /// For one millisecond of the runtime's clock.
    Millisecond,
}

impl Pause {
    async fn wait(self) {
        match self {
            Self::Poll => tokio::task::yield_now().await,
            Self::Millisecond => tokio::time::sleep(Duration::from_millis(1)).await,
        }
    }
}

/// The part of a reply that a server has delivered in one call.
#[derive(Debug, Default, Clone)]
struct Delivered {
    /// The estimated tokens of the request.
    input: u64,
    text: String,
    usage: Option<Usage>,
}

impl Delivered {
    /// The least that the call has cost.
    fn tokens(&self) -> u64 {
        let written = || self.input + HeuristicEstimator::default().text(&self.text);
        self.usage.as_ref().and_then(Usage::total).unwrap_or_else(written)
    }
}

/// Streams replies item by item: three calls, then an answer. Keeps account of what it has delivered.
#[derive(Debug, Clone)]
struct Server {
    pause: Pause,
    calls: Arc<Mutex<Vec<Delivered>>>,
}

impl Server {
    fn new(pause: Pause) -> Self {
        Self {
            pause,
            calls: Arc::default(),
        }
    }

    fn calls(&self) -> Vec<Delivered> {
        self.calls.lock().unwrap().clone()
    }
}

fn text(text: &str) -> ReplyDelta {
    ReplyDelta::Text {
        choice: 0,
        text: text.into(),
    }
}

fn fragment(index: u32, name: Option<&str>, input: &str) -> ReplyDelta {
    let fragment = CallFragment {
        index: Some(index),
        id: name.map(|_| format!("call-{index}").into()),
        name: name.map(Into::into),
        input: Some(input.into()),
        ..CallFragment::default()
    };
    ReplyDelta::Call {
        choice: 0,
        fragment: Box::new(fragment),
    }
}

fn reply(has_results: bool, input: u64) -> Vec<ReplyDelta> {
    let finish = |reason| ReplyDelta::Finish { choice: 0, reason };
    let usage = |output| ReplyDelta::Usage(Box::new(Usage::new(input, output)));
    if has_results {
        return vec![
            text("All three "),
            text("are fine."),
            usage(20),
            finish(FinishReason::Stop),
        ];
    }
    let reasoning = ReplyDelta::Reasoning {
        choice: 0,
        text: "I have to look at three things before I can answer.".into(),
    };
    let mut deltas = vec![reasoning, text("Let me look.")];
    for index in 0..3 {
        deltas.push(fragment(index, Some("look"), "{\"at\":"));
        deltas.push(fragment(index, None, "\"something\"}"));
    }
    deltas.extend([usage(90), finish(FinishReason::ToolCalls)]);
    deltas
}

impl LlmProvider for Server {
    fn open(&self, call: Call) -> ReplyStream {
        let server = self.clone();
        let has_results = call
            .request
            .messages
            .last()
            .is_some_and(|last| last.role() == Role::Tool);
        let input = HeuristicEstimator::default().request(&call.request);
        let deltas = reply(has_results, input);
        let items = deltas.into_iter().map(ReplyItem::Delta).chain([ReplyItem::End(Ok(()))]);
        let started = {
            let calls = Arc::clone(&server.calls);
            stream::once(async move {
                calls.lock().unwrap().push(Delivered {
                    input,
                    ..Delivered::default()
                });
            })
            .filter_map(|()| async { None })
        };
        let items = stream::iter(items).then(move |item| {
            let server = server.clone();
            async move {
                server.pause.wait().await;
                let mut calls = server.calls.lock().unwrap();
                let call = calls.last_mut().unwrap();
                match &item {
                    ReplyItem::Delta(ReplyDelta::Text { text, .. } | ReplyDelta::Reasoning { text, .. }) => {
                        call.text.push_str(text);
                    }
                    ReplyItem::Delta(ReplyDelta::Call { fragment, .. }) => {
                        call.text.push_str(fragment.input.as_deref().unwrap_or_default());
                    }
                    ReplyItem::Delta(ReplyDelta::Usage(usage)) => call.usage = Some((**usage).clone()),
                    _ => {}
                }
                item
            }
        });
        ReplyStream::new(started.chain(items))
    }
}

/// Runs its calls one after the other, and pauses in each.
#[derive(Debug)]
struct SlowTools(Pause);

impl ToolExecutor for SlowTools {
    fn definitions(&self) -> Arc<[Tool]> {
        let parameters = json!({"type": "object", "properties": {"at": {"type": "string"}}});
        [Tool::from(ToolDefinition::new("look", "Looks at a thing.", parameters))].into()
    }

    fn execute(&self, work: Vec<ToolWork>) -> ToolReports {
        let pause = self.0;
        let report = move |work: ToolWork| async move {
            pause.wait().await;
            ToolReport::settled(work.call.id.as_str(), ToolOutcome::done("Fine."), Duration::ZERO)
        };
        stream::iter(work).then(report).boxed()
    }
}

/// A way to give up a turn after a number of polls or milliseconds.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Way {
    Future,
    Stream,
    TextStream,
    Timeout,
    Select,
}

impl Way {
    fn pause(self) -> Pause {
        match self {
            Self::Timeout => Pause::Millisecond,
            _ => Pause::Poll,
        }
    }

    /// Runs the turn for so long and drops it. Returns whether it ended before.
    async fn run(self, turn: CycleTurn<'_>, steps: u32) -> bool {
        match self {
            Self::Future => poll(pin!(turn.run()), steps),
            Self::Stream => poll_stream(pin!(turn.stream()), steps).await,
            Self::TextStream => poll_stream(pin!(turn.text_stream()), steps).await,
            Self::Timeout => {
                let limit = Duration::from_millis(steps.into());
                tokio::time::timeout(limit, turn).await.is_ok()
            }
            Self::Select => {
                let mut left = steps;
                let stop = poll_fn(|cx| {
                    cx.waker().wake_by_ref();
                    let is_over = left == 0;
                    left = left.saturating_sub(1);
                    if is_over { Poll::Ready(()) } else { Poll::Pending }
                });
                tokio::select! {
                    biased;
                    () = stop => false,
                    _ = turn => true,
                }
            }
        }
    }
}

fn poll(mut future: Pin<&mut impl Future>, polls: u32) -> bool {
    let cx = &mut Context::from_waker(Waker::noop());
    (0..polls).any(|_| future.as_mut().poll(cx).is_ready())
}

async fn poll_stream(mut stream: Pin<&mut impl Stream>, polls: u32) -> bool {
    for _ in 0..polls {
        let item = stream.as_mut().poll_next(&mut Context::from_waker(Waker::noop()));
        if matches!(item, Poll::Ready(None)) {
            return true;
        }
        // A stream polls its turn only after that was woken, which the runtime does for one that yields.
        tokio::task::yield_now().await;
    }
    false
}

/// A conversation with a shared pool, unless it is without budgets.
fn conversation(server: &Server, pool: Option<&BudgetPool>) -> LlmCycle {
    let mut cycle = LlmCycle::new(server.clone(), ManualClock::new());
    if let Some(pool) = pool {
        let budgets = Budgets::new().with_turn(Budget::new().with_tokens(500_000));
        cycle.settings_mut().budgets = budgets.with_pool(pool.clone());
    }
    cycle
}

fn options(way: Way) -> TurnOptions {
    TurnOptions::new().with_tools(Arc::new(SlowTools(way.pause())))
}

/// Drops a turn after these steps and checks all accounts. Returns whether the turn ended before.
async fn check(way: Way, steps: u32, is_budgeted: bool) -> bool {
    let server = Server::new(way.pause());
    let pool = BudgetPool::new(Budget::new().with_tokens(1_000_000));
    let mut cycle = conversation(&server, is_budgeted.then_some(&pool));
    let begin = Begin::new([agcore_chat::Message::user("Go")]);
    let ended = way.run(cycle.turn(begin).with_options(options(way)), steps).await;
    let place = format!("{way:?}, {steps} steps");

    let assert_counted = |cycle: &LlmCycle, place: &str| {
        let calls = server.calls();
        let reported = calls.iter().filter_map(|call| call.usage.as_ref());
        let reported: u64 = reported.filter_map(Usage::total).sum();
        assert_eq!(cycle.usage().calls, calls.len() as u64, "{place}");
        assert_eq!(cycle.usage().total().unwrap_or(0), reported, "{place}");
        assert!(pool.reserved().is_zero(), "{place}");
        if !is_budgeted {
            assert!(cycle.spent().is_zero(), "{place}");
            return;
        }
        let delivered: u64 = calls.iter().map(Delivered::tokens).sum();
        assert_eq!(cycle.spent(), &pool.spent(), "{place}");
        assert!(
            cycle.spent().tokens >= delivered,
            "{place}: {:?} of {delivered}",
            cycle.spent()
        );
        assert!(
            cycle.spent().tokens <= delivered + 60,
            "{place}: {:?} of {delivered}",
            cycle.spent()
        );
        assert_eq!(cycle.spent().model_calls, calls.len() as u64, "{place}");
        let is_known = calls.iter().all(|call| call.usage.is_some());
        assert_eq!(cycle.spent().estimated, !is_known, "{place}");
    };
    assert_counted(&cycle, &place);

    let outcome = cycle.turn("And now?").with_options(options(way)).await.unwrap();
    assert_eq!(outcome.text(), "All three are fine.", "{place}");
    validate_messages(cycle.messages()).unwrap();
    assert_counted(&cycle, &format!("{place}, after another turn"));
    ended
}

async fn check_all(way: Way) {
    for is_budgeted in [true, false] {
        let mut steps = 0;
        while !check(way, steps, is_budgeted).await {
            steps += 1;
            assert!(steps < 200, "the turn ends some time");
        }
        // A stream of text passes over everything else in one step.
        let least = if way == Way::TextStream { 5 } else { 15 };
        assert!(steps > least, "{way:?}: {steps} steps");
    }
}

#[tokio::test]
async fn a_future_dropped_after_any_poll_is_counted() {
    check_all(Way::Future).await;
}

#[tokio::test]
async fn a_stream_dropped_after_any_poll_is_counted() {
    check_all(Way::Stream).await;
    check_all(Way::TextStream).await;
}

#[tokio::test(start_paused = true)]
async fn a_turn_that_times_out_at_any_time_is_counted() {
    check_all(Way::Timeout).await;
}

#[tokio::test]
async fn a_turn_that_loses_a_select_at_any_time_is_counted() {
    check_all(Way::Select).await;
}
