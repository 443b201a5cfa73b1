//! Time budgets: they end calls and tools, and do not count time spent waiting for a person.

use std::{sync::Arc, time::Duration};

use agcore_chat::{
    Answer, ChatResponse, Clock, Question, QuestionKind, Tool, ToolExecutor, ToolOutcome, ToolReport, ToolReports,
    ToolWork, validate_messages,
};
use agcore_cycle::{Budget, BudgetPool, Budgets, LlmCycle, TurnOptions, budget::BudgetShortage};
use agcore_llm::{LlmError, LlmErrorKind, TimeoutStage, provider_fn};
use agcore_testkit::{
    clock::ManualClock,
    scripted::{ScriptStep, ScriptedProvider},
};
use futures_util::{FutureExt, StreamExt, stream};

use crate::{
    budget::{assert_refused, turn},
    support::{FnExecutor, NeverExecutor, call},
};

#[tokio::test]
async fn an_exhausted_time_budget_ends_calls_and_tools() {
    let clock = Arc::new(ManualClock::new());
    let budgets = Budgets::new().with_turn(Budget::new().with_time(Duration::from_secs(60)));
    let timed = |provider: &ScriptedProvider| {
        let mut cycle = LlmCycle::new(provider.clone(), Arc::clone(&clock));
        cycle.settings_mut().budgets = budgets.clone();
        cycle
    };
    let provider = ScriptedProvider::new([ScriptStep::hang()]);
    let mut calling = timed(&provider);
    let mut waiting = Box::pin(turn(&mut calling, None));
    assert!(waiting.as_mut().now_or_never().is_none());
    clock.advance(Duration::from_secs(59));
    assert!(waiting.as_mut().now_or_never().is_none());
    clock.advance(Duration::from_secs(1));
    let (outcome, reached) = waiting.await;
    assert_refused(outcome, "turn.time");
    assert_eq!(reached, ["turn.time"]);
    assert_eq!(calling.spent().time(), Duration::from_secs(60));

    let provider = ScriptedProvider::new([ScriptStep::calls([call("a", "wait", "{}")])]);
    let mut running = timed(&provider);
    let mut waiting = Box::pin(running.turn("Go").with_tools(Arc::new(NeverExecutor)).run());
    assert!(waiting.as_mut().now_or_never().is_none());
    clock.advance(Duration::from_secs(61));
    assert_refused(waiting.await, "turn.time");
    validate_messages(running.messages()).unwrap();
    assert!(running.messages()[2].text().contains("is unknown"), "the tool ran");
}

#[tokio::test]
async fn waiting_for_a_person_costs_neither_time_nor_another_call() {
    let clock = Arc::new(ManualClock::new());
    let asks = FnExecutor::new(&["send"], |work| match work.resumed {
        None => ToolOutcome::ask(Question::new("s", 1, QuestionKind::Approval, "Send?")),
        Some(_) => ToolOutcome::done("sent"),
    });
    let provider = ScriptedProvider::new([ScriptStep::calls([call("s", "send", "{}")]), ScriptStep::text("Sent.")]);
    let mut cycle = LlmCycle::new(provider, Arc::clone(&clock));
    let budget = Budget::new().with_time(Duration::from_secs(60)).with_tool_calls(1);
    cycle.settings_mut().budgets = Budgets::new().with_turn(budget);
    let outcome = cycle.turn("Go").with_tools(asks.clone()).await.unwrap();
    let question = outcome.questions()[0].id.clone();
    clock.advance(Duration::from_secs(3_600));
    let options = TurnOptions::new().with_tools(asks);
    let outcome = cycle
        .resume([(question, Answer::approve())])
        .with_options(options)
        .await
        .unwrap();
    assert_eq!(outcome.text(), "Sent.");
    assert_eq!((cycle.spent().time(), cycle.spent().tool_calls), (Duration::ZERO, 1));
}

const fn ms(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

/// A conversation whose model thinks for 9 seconds, with a pool.
fn slow(clock: &Arc<ManualClock>, pool: &BudgetPool) -> LlmCycle {
    let thinks = Arc::clone(clock);
    let provider = provider_fn(move |_| {
        let clock = Arc::clone(&thinks);
        async move {
            clock.sleep(ms(9_000)).await;
            Ok(ChatResponse::from_text("Done."))
        }
    });
    let mut cycle = LlmCycle::new(provider, Arc::clone(clock));
    cycle.settings_mut().budgets = Budgets::new().with_pool(pool.clone());
    cycle
}

#[tokio::test]
async fn turns_that_share_a_pool_use_its_time_together() {
    let clock = Arc::new(ManualClock::new());
    let pool = BudgetPool::new(Budget::new().with_time(ms(10_000)));
    let mut cycles: Vec<_> = (0..64).map(|_| slow(&clock, &pool)).collect();
    let mut turns: Vec<_> = cycles
        .iter_mut()
        .map(|cycle| Box::pin(cycle.turn("Go").run()))
        .collect();
    let mut poll_all = || {
        let mut ended = Vec::new();
        turns.retain_mut(|turn| match turn.as_mut().now_or_never() {
            Some(outcome) => {
                ended.push(outcome);
                false
            }
            None => true,
        });
        ended
    };
    assert!(poll_all().is_empty());
    // A 64th of 10 seconds.
    clock.advance(Duration::from_micros(156_249));
    assert!(poll_all().is_empty());
    assert_eq!(pool.time_left(), Some(Duration::from_micros(64)));
    clock.advance(Duration::from_micros(1));
    let ended = poll_all();
    assert_eq!(ended.len(), 64);
    for outcome in ended {
        assert_refused(outcome, "pool.time");
    }
    drop(turns);
    assert_eq!(
        (pool.spent().time(), pool.time_left()),
        (ms(10_000), Some(Duration::ZERO))
    );
    let sum: Duration = cycles.iter().map(|cycle| cycle.spent().time()).sum();
    assert_eq!(sum, ms(10_000));
    let refused = cycles[0].turn("Again").await.unwrap_err();
    assert!(
        refused.message().contains("the budget pool.time has 0 s left"),
        "{}",
        refused.message()
    );
}

#[tokio::test]
async fn a_turn_that_joins_a_pool_shortens_the_time_of_the_others() {
    let clock = Arc::new(ManualClock::new());
    let pool = BudgetPool::new(Budget::new().with_time(ms(10_000)));
    let (mut first, mut second, mut third) = (slow(&clock, &pool), slow(&clock, &pool), slow(&clock, &pool));
    let mut early = Box::pin(first.turn("Go").run());
    assert!(early.as_mut().now_or_never().is_none());
    clock.advance(ms(4_000));
    let mut late = Box::pin(second.turn("Go").run());
    assert!(late.as_mut().now_or_never().is_none() && early.as_mut().now_or_never().is_none());
    // One that is given up uses its time, but no more.
    let mut dropped = Box::pin(third.turn("Go").run());
    assert!(dropped.as_mut().now_or_never().is_none() && early.as_mut().now_or_never().is_none());
    clock.advance(ms(1_000));
    drop(dropped);
    assert_eq!(third.spent().time(), ms(1_000));
    assert!(late.as_mut().now_or_never().is_none() && early.as_mut().now_or_never().is_none());
    // 4 + 3 seconds are used; two turns share what is left.
    clock.advance(ms(1_499));
    assert!(late.as_mut().now_or_never().is_none() && early.as_mut().now_or_never().is_none());
    clock.advance(ms(1));
    assert_refused(early.await, "pool.time");
    assert_refused(late.await, "pool.time");
    assert_eq!(pool.spent().time(), ms(10_000));
}

#[tokio::test]
async fn more_time_for_a_pool_reaches_running_turns() {
    let clock = Arc::new(ManualClock::new());
    let pool = BudgetPool::new(Budget::new().with_time(ms(5_000)));
    let mut cycle = slow(&clock, &pool);
    let mut waiting = Box::pin(cycle.turn("Go").run());
    assert!(waiting.as_mut().now_or_never().is_none());
    pool.set_budget(Budget::new().with_time(ms(20_000)));
    clock.advance(ms(9_000));
    assert_eq!(waiting.await.unwrap().text(), "Done.");
    assert_eq!(pool.time_left(), Some(ms(11_000)));
}

#[tokio::test]
async fn a_provider_that_notices_the_end_of_the_time_first_reached_the_limit_too() {
    let clock = Arc::new(ManualClock::jumping());
    let thinks = Arc::clone(&clock);
    let provider = provider_fn(move |call| {
        let clock = Arc::clone(&thinks);
        async move {
            assert_eq!(call.deadline, Some(ms(5_000)));
            clock.sleep(ms(5_000)).await;
            Err(LlmError::new(
                LlmErrorKind::Timeout(TimeoutStage::Total),
                "the call exceeded its deadline",
            ))
        }
    });
    let mut cycle = LlmCycle::new(provider, clock);
    cycle.settings_mut().budgets = Budgets::new().with_turn(Budget::new().with_time(ms(5_000)));
    let (outcome, reached) = turn(&mut cycle, None).await;
    assert_refused(outcome, "turn.time");
    assert_eq!(reached, ["turn.time"]);
    assert_eq!((cycle.usage().calls, cycle.spent().model_calls), (1, 1));
}

/// Asks an approver that answers after an hour, then works for a second.
#[derive(Debug)]
struct Approver {
    clock: Arc<ManualClock>,
    /// Whether another call works all the time.
    is_busy: bool,
}

impl ToolExecutor for Approver {
    fn definitions(&self) -> Arc<[Tool]> {
        FnExecutor::echo(&["send"]).definitions()
    }

    fn reports_begin(&self) -> bool {
        self.is_busy
    }

    fn execute(&self, work: Vec<ToolWork>) -> ToolReports {
        let clock = Arc::clone(&self.clock);
        let id = agcore_chat::Text::from(work[0].call.id.as_str());
        let waits = |waiting| ToolReport::Waiting {
            call_id: id.clone(),
            waiting,
        };
        let others = work
            .iter()
            .skip(1)
            .map(|work| agcore_chat::Text::from(work.call.id.as_str()));
        let busy = self.is_busy.then(|| ToolReport::Began {
            calls: others.collect(),
        });
        let settled = work
            .iter()
            .map(|work| ToolReport::settled(work.call.id.as_str(), ToolOutcome::done("Sent."), ms(1_000)));
        let settled: Vec<_> = settled.collect();
        let before = busy.into_iter().chain([waits(true)]);
        let sleep = |time| {
            let clock = Arc::clone(&clock);
            stream::once(async move { clock.sleep(time).await }).filter_map(|()| async { None })
        };
        stream::iter(before.collect::<Vec<_>>())
            .chain(sleep(ms(3_600_000)))
            .chain(stream::iter([waits(false)]))
            .chain(sleep(ms(1_000)))
            .chain(stream::iter(settled))
            .boxed()
    }
}

#[tokio::test]
async fn waiting_for_an_approver_takes_no_time_unless_another_call_works() {
    for is_busy in [false, true] {
        let clock = Arc::new(ManualClock::new());
        let calls = [call("a", "send", "{}"), call("b", "send", "{}")];
        let calls = calls.into_iter().take(if is_busy { 2 } else { 1 });
        let provider = ScriptedProvider::new([ScriptStep::calls(calls), ScriptStep::text("Sent.")]);
        let pool = BudgetPool::new(Budget::new().with_time(ms(60_000)));
        let mut cycle = LlmCycle::new(provider, Arc::clone(&clock));
        let budget = Budget::new().with_time(ms(60_000));
        cycle.settings_mut().budgets = Budgets::new().with_turn(budget).with_pool(pool.clone());
        let tools = Arc::new(Approver {
            clock: Arc::clone(&clock),
            is_busy,
        });
        let mut waiting = Box::pin(cycle.turn("Go").with_tools(tools).run());
        assert!(waiting.as_mut().now_or_never().is_none());
        clock.advance(ms(3_599_999));
        let outcome = waiting.as_mut().now_or_never();
        if is_busy {
            assert_refused(outcome.unwrap(), ".time");
            continue;
        }
        assert!(outcome.is_none(), "the person has not answered yet");
        clock.advance(ms(1));
        assert!(waiting.as_mut().now_or_never().is_none());
        clock.advance(ms(1_000));
        assert_eq!(waiting.await.unwrap().text(), "Sent.");
        assert_eq!((cycle.spent().time(), pool.spent().time()), (ms(1_000), ms(1_000)));
    }
}

#[tokio::test]
async fn a_shortage_of_calls_reports_how_many_are_left() {
    let provider = ScriptedProvider::new([ScriptStep::calls([call("a", "look", "{}"), call("b", "look", "{}")])]);
    let mut cycle = LlmCycle::new(provider, ManualClock::new());
    cycle.settings_mut().budgets = Budgets::new().with_turn(Budget::new().with_tool_calls(1));
    let error = cycle
        .turn("Go")
        .with_tools(FnExecutor::echo(&["look"]))
        .await
        .unwrap_err();
    let source = std::error::Error::source(&error).unwrap();
    let shortage: &BudgetShortage = source.downcast_ref().unwrap();
    assert_eq!((shortage.needed, shortage.left), (2, 1));
}
