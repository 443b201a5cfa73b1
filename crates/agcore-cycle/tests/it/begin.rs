//! Calls begin when their executor says so: before that, nothing is unknown about them.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use agcore_chat::{
    Answer, EventKind, Question, QuestionKind, Tool, ToolEvent, ToolExecutor, ToolOutcome, ToolReport, ToolReports,
    ToolWork,
};
use agcore_cycle::{Budget, BudgetPool, Budgets, CycleErrorKind, CycleSettings, LlmCycle};
use agcore_testkit::scripted::{ScriptStep, ScriptedProvider};
use futures_util::{FutureExt, StreamExt, stream};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::{
    gate::{Fate, Gate, began},
    support::{call, cycle, event_name, lines},
};

/// Returns a model that calls these tools, with ids like the names, and then answers.
fn calls(names: &[&str]) -> ScriptedProvider {
    let calls: Vec<_> = names.iter().map(|name| call(name, name, "{}")).collect();
    ScriptedProvider::new([ScriptStep::calls(calls), ScriptStep::text("Done.")])
}

/// Returns an executor whose `add` runs, whose `send` waits for an approval, and whose `wait` never ends.
fn gate() -> Arc<Gate> {
    Gate::new(&["add", "send", "wait", "deny"], |work| match work.call.name.as_str() {
        "add" => Fate::Runs(ToolOutcome::done("3")),
        "deny" => Fate::Refused(ToolOutcome::error("denied")),
        "wait" => Fate::Hangs,
        _ => Fate::Waits,
    })
}

#[tokio::test]
async fn a_call_that_waits_for_an_approval_was_not_run_when_the_turn_is_cancelled() {
    let (provider, gate, token) = (calls(&["add", "send", "wait"]), gate(), CancellationToken::new());
    let mut cycle = cycle(&provider);
    let mut turn = cycle
        .turn("Go")
        .with_tools(gate.clone())
        .with_token(token.clone())
        .stream();
    let mut events = Vec::new();
    while let Some(event) = turn.next().await {
        if let EventKind::Tool(ToolEvent::Completed { call_id, output, .. }) = &event.kind {
            events.push(format!("{call_id}: {output}"));
        }
        if event_name(&event) == "tool.completed" {
            token.cancel();
        }
    }
    let error = turn.finish().await.unwrap_err();
    assert_eq!(error.kind(), CycleErrorKind::Cancelled);
    assert_eq!(gate.runs(), ["add", "wait"]);
    let expected = [
        "add: 3",
        "send: This call was not run: the turn ended before it started.",
        "wait: The outcome of this call is unknown: it was interrupted while it ran. It may or may not have taken effect.",
    ];
    assert_eq!(events, expected);
    assert!(
        lines(&cycle)[3].starts_with("tool: This call was not run"),
        "{:?}",
        lines(&cycle)
    );
}

#[tokio::test]
async fn a_call_that_waits_for_an_approval_was_not_run_when_time_runs_out() {
    let (provider, gate) = (calls(&["send", "wait"]), gate());
    let budgets = Budgets::new().with_turn(Budget::new().with_time(Duration::from_secs(60)));
    let mut cycle = cycle(&provider).with_settings(CycleSettings::new().with_budgets(budgets));
    let error = cycle.turn("Go").with_tools(gate.clone()).await.unwrap_err();
    assert_eq!(error.kind(), CycleErrorKind::LimitReached);
    assert!(
        lines(&cycle)[2].starts_with("tool: This call was not run"),
        "{:?}",
        lines(&cycle)
    );
    assert!(lines(&cycle)[3].starts_with("tool: The outcome of this call is unknown"));
}

#[tokio::test]
async fn a_call_that_never_began_is_not_uncertain() {
    let (provider, waiting) = (calls(&["send", "wait"]), gate());
    let mut cycle = cycle(&provider);
    let mut turn = Box::pin(cycle.turn("Go").with_tools(waiting.clone()).run());
    assert!(turn.as_mut().now_or_never().is_none());
    drop(turn);
    let uncertain: Vec<_> = cycle.machine().uncertain().map(|call| call.id.clone()).collect();
    assert_eq!(uncertain, ["wait"]);

    // It runs when the turn continues, without a question.
    let runs = Gate::new(&["send", "wait"], |_| Fate::Runs(ToolOutcome::done("ok")));
    let outcome = cycle.resume([]).with_tools(runs.clone()).await.unwrap();
    assert_eq!(runs.runs(), ["send"]);
    let [question] = outcome.questions() else {
        panic!("{outcome:?}")
    };
    assert_eq!((&*question.call_id, question.kind), ("wait", QuestionKind::Uncertain));
    // The person who is asked sees which call it is.
    assert_eq!(
        (&*question.tool, question.arguments.to_string().as_str()),
        ("wait", "{}")
    );
}

#[tokio::test]
async fn observers_know_a_call_before_it_begins() {
    let (provider, gate) = (calls(&["send"]), gate());
    let mut cycle = cycle(&provider);
    let mut turn = cycle.turn("Go").with_tools(gate).stream();
    let mut names = Vec::new();
    while names.last().is_none_or(|name| name != "tool.requested") {
        names.push(event_name(&turn.next().await.unwrap()));
    }
    assert!(!names.contains(&"tool.completed".to_owned()));
}

#[tokio::test]
async fn only_calls_that_begin_count_against_budgets() {
    for with_pool in [false, true] {
        let pool = BudgetPool::new(Budget::new().with_tool_calls(5));
        let mut budgets = Budgets::new().with_turn(Budget::new().with_tool_calls(5));
        if with_pool {
            budgets = budgets.with_pool(pool.clone());
        }
        let provider = calls(&["add", "deny"]);
        let mut cycle = cycle(&provider).with_settings(CycleSettings::new().with_budgets(budgets));
        cycle.turn("Go").with_tools(gate()).await.unwrap();
        assert_eq!(cycle.spent().tool_calls, 1);
        assert_eq!(pool.spent().tool_calls, u64::from(with_pool));
        assert_eq!(pool.reserved().tool_calls, 0);
    }
}

#[tokio::test]
async fn calls_that_would_not_fit_a_budget_are_not_handed_over() {
    let (provider, gate) = (calls(&["add", "add"]), gate());
    let budgets = Budgets::new().with_turn(Budget::new().with_tool_calls(1));
    let mut cycle = cycle(&provider).with_settings(CycleSettings::new().with_budgets(budgets));
    cycle.turn("Go").with_tools(gate.clone()).await.unwrap_err();
    assert!(gate.runs().is_empty());
}

#[tokio::test]
async fn a_call_may_ask_before_it_begins() {
    let provider = calls(&["send"]);
    let budgets = Budgets::new().with_turn(Budget::new().with_tool_calls(5));
    let mut cycle = cycle(&provider).with_settings(CycleSettings::new().with_budgets(budgets));
    let gate = Gate::new(&["send"], |work| match &work.resumed {
        None => Fate::Refused(ToolOutcome::ask(Question::new(
            "send",
            0,
            QuestionKind::Approval,
            "Send?",
        ))),
        Some(resumed) => {
            assert_eq!(resumed.0.id, "send?0".into());
            Fate::Runs(ToolOutcome::done("sent"))
        }
    });
    let outcome = cycle.turn("Go").with_tools(gate.clone()).await.unwrap();
    assert_eq!(cycle.spent().tool_calls, 0);
    let answer = (outcome.questions()[0].id.clone(), Answer::approve());
    cycle.resume([answer]).with_tools(gate.clone()).await.unwrap();
    assert_eq!((gate.runs().len(), cycle.spent().tool_calls), (1, 1));
}

/// An executor that sends these reports, and keeps which were taken.
struct Reports(Vec<ToolReport>, Arc<Mutex<usize>>);

impl ToolExecutor for Reports {
    fn definitions(&self) -> Arc<[Tool]> {
        Arc::default()
    }

    fn execute(&self, _: Vec<ToolWork>) -> ToolReports {
        let taken = Arc::clone(&self.1);
        stream::iter(self.0.clone())
            .inspect(move |_| *taken.lock().unwrap() += 1)
            .boxed()
    }

    fn reports_begin(&self) -> bool {
        true
    }
}

#[tokio::test]
async fn a_call_that_was_given_up_never_runs() {
    let handoff = ToolOutcome::Divert {
        content: "over to billing".into(),
        data: json!("billing"),
    };
    let settled = |call: &str, outcome| ToolReport::settled(call, outcome, Duration::ZERO);
    // `b` may begin only after the handoff of `a`, while `c` still runs.
    let reports = vec![
        began(&["a", "c"]),
        settled("a", handoff),
        began(&["b"]),
        settled("b", ToolOutcome::done("it ran")),
    ];
    let taken = Arc::default();
    let provider = calls(&["a", "b", "c"]);
    let mut cycle: LlmCycle = cycle(&provider);
    let tools = Arc::new(Reports(reports, Arc::clone(&taken)));
    cycle.turn("Go").with_tools(tools).await.unwrap();
    assert_eq!(
        *taken.lock().unwrap(),
        3,
        "the executor is not polled after it was about to run `b`"
    );
    let lines = lines(&cycle);
    assert!(lines[3].starts_with("tool: This call was not run"), "{lines:?}");
    assert!(
        lines[4].starts_with("tool: The outcome of this call is unknown"),
        "{lines:?}"
    );
}

#[tokio::test]
async fn a_call_that_runs_again_gets_the_arguments_that_a_person_edited() {
    let (provider, waiting) = (calls(&["wait"]), gate());
    let mut cycle = cycle(&provider);
    let mut turn = Box::pin(cycle.turn("Go").with_tools(waiting.clone()).run());
    assert!(turn.as_mut().now_or_never().is_none());
    drop(turn);
    let outcome = cycle.resume([]).with_tools(waiting).await.unwrap();
    let question = outcome.questions()[0].id.clone();
    let edited = serde_json::json!({"n": 1}).as_object().cloned().unwrap();
    let answer = Answer::edited(edited);
    let expected = answer.clone();
    let again = Gate::new(&["wait"], move |work| {
        let (question, answer) = *work.resumed.clone().unwrap();
        assert_eq!((question.kind, &answer), (QuestionKind::Uncertain, &expected));
        Fate::Runs(ToolOutcome::done("ok"))
    });
    cycle
        .resume([(question, answer)])
        .with_tools(again.clone())
        .await
        .unwrap();
    assert_eq!(again.runs(), ["wait"]);
}
