//! Time budgets: they end calls and tools, and do not count time spent waiting for a person.

use std::{sync::Arc, time::Duration};

use agcore_chat::{Answer, Question, QuestionKind, ToolOutcome, validate_messages};
use agcore_cycle::{Budget, Budgets, LlmCycle, TurnOptions};
use agcore_testkit::{
    clock::ManualClock,
    scripted::{ScriptStep, ScriptedProvider},
};
use futures_util::FutureExt;

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
        None => ToolOutcome::Ask(Question::new("s", 1, QuestionKind::Approval, "Send?")),
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
