//! The events of tool calls: `Requested` for each call of the model, `Started` only when its tool runs, `Completed` at
//! the end.

use std::sync::Arc;

use agcore_chat::{
    Answer, EventKind, PersonEvent, Question, QuestionKind, StreamEvent, ToolCall, ToolEvent, ToolExecutor,
    ToolOutcome, TurnEvent,
};
use agcore_cycle::{
    Budget, Budgets, CycleSettings, CycleTurn, Hook, HookContext, Hooks, LlmCycle, ToolVerdict, machine::Machine,
};
use agcore_testkit::{
    clock::ManualClock,
    scripted::{ScriptStep, ScriptedProvider},
};
use async_trait::async_trait;
use tokio_util::sync::CancellationToken;

use crate::{
    gate::{Fate, Gate},
    support::{FnExecutor, call, cycle},
};

/// Returns a model that makes these calls, with ids like the names of the tools, and then answers.
fn calls(names: &[&str]) -> ScriptedProvider {
    let calls: Vec<ToolCall> = names.iter().map(|name| call(name, name, "{}")).collect();
    ScriptedProvider::new([ScriptStep::calls(calls), ScriptStep::text("Done.")])
}

/// Returns the line of an event about a call, a person, or the end of the turn.
fn line(event: &StreamEvent) -> Option<String> {
    Some(match &event.kind {
        EventKind::Tool(ToolEvent::Requested { call_id, name, .. }) => {
            assert_eq!(**call_id, **name);
            format!("requested {call_id}")
        }
        EventKind::Tool(ToolEvent::Started { call_id, name }) => {
            assert_eq!(**call_id, **name);
            format!("started {call_id}")
        }
        EventKind::Tool(ToolEvent::Repeated { call_id, .. }) => format!("repeated {call_id}"),
        EventKind::Tool(ToolEvent::Completed { call_id, is_error, .. }) => {
            format!("{} {call_id}", if *is_error { "failed" } else { "completed" })
        }
        EventKind::Person(PersonEvent::Asked(question)) => format!("asked {}", question.call_id),
        EventKind::Person(PersonEvent::Answered { .. }) => "answered".to_owned(),
        EventKind::Person(PersonEvent::Suspended(_)) => "suspended".to_owned(),
        EventKind::Turn(TurnEvent::BudgetReached { .. }) => "limit".to_owned(),
        EventKind::Turn(TurnEvent::Complete { .. }) => "end".to_owned(),
        _ => return None,
    })
}

/// Runs a turn, and returns its events.
async fn events(turn: CycleTurn<'_>) -> Vec<String> {
    let (mut stream, mut lines) = (turn.stream(), Vec::new());
    while let Some(event) = stream.next().await {
        lines.extend(line(&event));
    }
    lines
}

/// Runs a turn with these calls, and returns its events.
async fn events_of(names: &[&str], tools: Arc<dyn ToolExecutor>) -> Vec<String> {
    let provider = calls(names);
    let mut cycle = cycle(&provider);
    events(cycle.turn("Go").with_tools(tools)).await
}

#[tokio::test]
async fn calls_side_by_side() {
    let gate = Gate::new(&["a", "b"], |_| Fate::Runs(ToolOutcome::done("ok")));
    let found = events_of(&["a", "b"], gate).await;
    let expected = [
        "requested a",
        "requested b",
        "started a",
        "started b",
        "completed a",
        "completed b",
        "end",
    ];
    assert_eq!(found, expected);
}

#[tokio::test]
async fn an_executor_that_does_not_report_starts_its_whole_batch() {
    let found = events_of(&["a", "b"], FnExecutor::echo(&["a", "b"])).await;
    let expected = [
        "requested a",
        "requested b",
        "started a",
        "started b",
        "completed a",
        "completed b",
        "end",
    ];
    assert_eq!(found, expected);
}

#[tokio::test]
async fn a_call_that_its_executor_refuses_never_starts() {
    let gate = Gate::new(&["refund", "look"], |work| match work.call.name.as_str() {
        "refund" => Fate::Refused(ToolOutcome::error("denied")),
        _ => Fate::Runs(ToolOutcome::done("ok")),
    });
    let found = events_of(&["refund", "look"], gate).await;
    let expected = [
        "requested refund",
        "requested look",
        "failed refund",
        "started look",
        "completed look",
        "end",
    ];
    assert_eq!(found, expected);
}

#[tokio::test]
async fn calls_that_cannot_be_read_or_have_no_tools_never_start() {
    let gate = Gate::new(&["a"], |_| Fate::Runs(ToolOutcome::done("ok")));
    let broken = ScriptStep::calls([call("a", "a", r#"{"kind":"#)]);
    let provider = ScriptedProvider::new([broken, ScriptStep::text("Done.")]);
    let mut cycle = cycle(&provider);
    let found = events(cycle.turn("Go").with_tools(gate)).await;
    assert_eq!(found, ["requested a", "failed a", "end"]);

    let provider = calls(&["a"]);
    let mut cycle = crate::support::cycle(&provider);
    assert_eq!(events(cycle.turn("Go")).await, ["requested a", "failed a", "end"]);
}

/// Blocks the calls of `refund`.
struct NoRefunds;

#[async_trait]
impl Hook for NoRefunds {
    async fn pre_tool(&self, _: &HookContext<'_>, call: &ToolCall) -> ToolVerdict {
        match call.name.as_str() {
            "refund" => ToolVerdict::Block("no refunds today".to_owned()),
            _ => ToolVerdict::Continue,
        }
    }
}

#[tokio::test]
async fn a_call_that_a_hook_blocks_never_starts() {
    let gate: Arc<dyn ToolExecutor> = Gate::new(&["refund", "look"], |_| Fate::Runs(ToolOutcome::done("ok")));
    for tools in [gate, FnExecutor::echo(&["refund", "look"])] {
        let provider = calls(&["refund", "look"]);
        let budgets = Budgets::new().with_turn(Budget::new().with_tool_calls(5));
        let mut cycle = cycle(&provider)
            .with_settings(CycleSettings::new().with_budgets(budgets))
            .with_hooks(Hooks::new([Arc::new(NoRefunds) as _]));
        let found = events(cycle.turn("Go").with_tools(tools)).await;
        let expected = [
            "requested refund",
            "requested look",
            "failed refund",
            "started look",
            "completed look",
            "end",
        ];
        assert_eq!(found, expected);
        // What a hook blocks costs nothing.
        assert_eq!(cycle.spent().tool_calls, 1);
    }
}

#[tokio::test]
async fn a_call_without_a_budget_never_starts() {
    let gate: Arc<dyn ToolExecutor> = Gate::new(&["a", "b"], |_| Fate::Runs(ToolOutcome::done("ok")));
    for tools in [gate, FnExecutor::echo(&["a", "b"])] {
        let provider = calls(&["a", "b"]);
        let budgets = Budgets::new().with_turn(Budget::new().with_tool_calls(1));
        let mut cycle = cycle(&provider).with_settings(CycleSettings::new().with_budgets(budgets));
        let found = events(cycle.turn("Go").with_tools(tools)).await;
        assert_eq!(
            found,
            ["requested a", "requested b", "limit", "failed a", "failed b", "end"]
        );
    }
}

#[tokio::test]
async fn a_call_that_is_cancelled_while_it_waits_never_starts() {
    let gate = Gate::new(&["send", "look"], |work| match work.call.name.as_str() {
        "send" => Fate::Waits,
        _ => Fate::Runs(ToolOutcome::done("ok")),
    });
    let (provider, token) = (calls(&["send", "look"]), CancellationToken::new());
    let mut cycle = cycle(&provider);
    let turn = cycle.turn("Go").with_tools(gate).with_token(token.clone());
    let (mut stream, mut found) = (turn.stream(), Vec::new());
    while let Some(event) = stream.next().await {
        found.extend(line(&event));
        if found.last().is_some_and(|last| last == "completed look") {
            token.cancel();
        }
    }
    let expected = [
        "requested send",
        "requested look",
        "started look",
        "completed look",
        "failed send",
        "end",
    ];
    assert_eq!(found, expected);
}

/// Returns tools whose `pay` asks a question of this kind before it runs, or after it began.
fn asking(begins_first: bool) -> Arc<Gate> {
    Gate::new(&["pay"], move |work| match &work.resumed {
        Some(_) => Fate::Runs(ToolOutcome::done("paid")),
        None => {
            let question = Question::new("pay", 0, QuestionKind::Approval, "Pay?");
            match begins_first {
                true => Fate::Runs(ToolOutcome::ask(question)),
                false => Fate::Refused(ToolOutcome::ask(question)),
            }
        }
    })
}

/// Saves and restores a conversation, as if its process had ended.
fn restarted(cycle: &LlmCycle, provider: &ScriptedProvider) -> LlmCycle {
    let saved = serde_json::to_string(cycle.machine()).unwrap();
    let machine: Machine = serde_json::from_str(&saved).unwrap();
    LlmCycle::from_machine(provider.clone(), ManualClock::jumping(), machine)
}

#[tokio::test]
async fn a_call_that_waits_for_an_approval_starts_when_it_is_approved_even_in_another_process() {
    let provider = calls(&["pay"]);
    let mut first = cycle(&provider);
    let found = events(first.turn("Go").with_tools(asking(false))).await;
    assert_eq!(found, ["requested pay", "asked pay", "suspended"]);

    let mut second = restarted(&first, &provider);
    let question = second.machine().questions().next().unwrap().id.clone();
    let resumed = second.resume([(question, Answer::approve())]);
    let found = events(resumed.with_tools(asking(false))).await;
    // The model has requested the call once.
    assert_eq!(found, ["answered", "started pay", "completed pay", "end"]);
}

#[tokio::test]
async fn a_call_that_is_denied_by_a_person_never_starts() {
    let provider = calls(&["pay"]);
    let mut cycle = cycle(&provider);
    events(cycle.turn("Go").with_tools(asking(false))).await;
    let question = cycle.machine().questions().next().unwrap().id.clone();
    let denying = Gate::new(&["pay"], |_| Fate::Refused(ToolOutcome::error("denied")));
    let found = events(cycle.resume([(question, Answer::deny("no"))]).with_tools(denying)).await;
    assert_eq!(found, ["answered", "failed pay", "end"]);
}

#[tokio::test]
async fn a_call_that_asks_while_it_runs_starts_again_with_the_answer() {
    let provider = calls(&["pay"]);
    let mut cycle = cycle(&provider);
    let found = events(cycle.turn("Go").with_tools(asking(true))).await;
    assert_eq!(found, ["requested pay", "started pay", "asked pay", "suspended"]);
    let question = cycle.machine().questions().next().unwrap().id.clone();
    let found = events(cycle.resume([(question, Answer::approve())]).with_tools(asking(true))).await;
    assert_eq!(found, ["answered", "started pay", "completed pay", "end"]);
}
