//! Calls that begin in the record of their reply, and calls that may be repeated.

use std::sync::{Arc, Mutex};

use agcore_chat::{
    EventKind, Fault, FaultKind, QuestionKind, Tool, ToolCall, ToolEvent, ToolExecutor, ToolOutcome, ToolReports,
    ToolWork,
};
use agcore_cycle::{
    Budget, Budgets, CycleErrorKind, CycleSettings, Hook, Hooks, LlmCycle, OutcomeRecorder,
    machine::{Machine, Outcome},
};
use agcore_testkit::scripted::{ScriptStep, ScriptedProvider};
use async_trait::async_trait;
use futures_util::FutureExt;

use crate::{
    gate::{Fate, Gate},
    support::{call, cycle},
};

/// Tools that begin at once. Calls of `look` may be repeated.
#[derive(Clone)]
struct AtOnce(Arc<Gate>);

impl AtOnce {
    fn new(decide: impl Fn(&ToolWork) -> Fate + Send + Sync + 'static) -> Arc<Self> {
        Arc::new(Self(Gate::new(&["add", "look"], decide)))
    }
}

impl ToolExecutor for AtOnce {
    fn definitions(&self) -> Arc<[Tool]> {
        self.0.definitions()
    }

    fn execute(&self, work: Vec<ToolWork>) -> ToolReports {
        self.0.execute(work)
    }

    fn reports_begin(&self) -> bool {
        true
    }

    fn begins_at_once(&self, _: &[ToolWork]) -> bool {
        true
    }

    fn is_repeatable(&self, call: &ToolCall) -> bool {
        call.name == "look"
    }
}

/// A hook that does nothing.
struct Watch;

impl Hook for Watch {}

/// Keeps the outcomes of each write. One write may fail.
#[derive(Default)]
struct Journal {
    writes: Mutex<Vec<Vec<Outcome>>>,
    fails_at: Mutex<Option<usize>>,
}

impl Journal {
    fn failing_at(write: usize) -> Arc<Self> {
        Arc::new(Self {
            fails_at: Mutex::new(Some(write)),
            ..Self::default()
        })
    }

    /// Returns what each write contains.
    fn names(&self) -> Vec<String> {
        let name = |outcome: &Outcome| {
            let json = serde_json::to_value(outcome).unwrap();
            json.as_object().unwrap().keys().next().unwrap().clone()
        };
        let writes = self.writes.lock().unwrap();
        writes
            .iter()
            .map(|write| write.iter().map(name).collect::<Vec<_>>().join(" "))
            .collect()
    }

    fn fold(&self, mut machine: Machine) -> Machine {
        for outcome in self.writes.lock().unwrap().iter().flatten() {
            machine.absorb(outcome.clone()).unwrap();
        }
        machine
    }
}

#[async_trait]
impl OutcomeRecorder for Journal {
    async fn record(&self, outcomes: &[Outcome]) -> Result<(), Fault> {
        let mut writes = self.writes.lock().unwrap();
        if *self.fails_at.lock().unwrap() == Some(writes.len()) {
            *self.fails_at.lock().unwrap() = None;
            return Err(Fault::new(FaultKind::Storage, "the disk is full"));
        }
        writes.push(outcomes.to_vec());
        Ok(())
    }
}

fn provider() -> ScriptedProvider {
    ScriptedProvider::new([
        ScriptStep::calls([call("a", "add", "{}"), call("b", "look", "{}")]),
        ScriptStep::text("Done."),
    ])
}

fn recorded(provider: &ScriptedProvider, journal: &Arc<Journal>) -> LlmCycle {
    cycle(provider).with_settings(CycleSettings::new().with_recorder(journal.clone()))
}

fn runs() -> Arc<AtOnce> {
    AtOnce::new(|_| Fate::Runs(ToolOutcome::done("ok")))
}

#[tokio::test]
async fn calls_begin_in_the_record_of_their_reply() {
    let (journal, provider) = (Arc::new(Journal::default()), provider());
    let mut cycle = recorded(&provider, &journal);
    let base = cycle.machine().clone();
    cycle.turn("Go").with_tools(runs()).await.unwrap();
    assert_eq!(journal.names(), ["begun", "reply started", "tool", "tool", "reply"]);
    assert_eq!(journal.fold(base), *cycle.machine());
}

#[tokio::test]
async fn calls_that_pass_hooks_begin_after_them() {
    let (journal, provider) = (Arc::new(Journal::default()), provider());
    let mut cycle = recorded(&provider, &journal).with_hooks(Hooks::new([Arc::new(Watch) as _]));
    cycle.turn("Go").with_tools(runs()).await.unwrap();
    assert!(
        journal.names().iter().all(|write| write != "reply started"),
        "{:?}",
        journal.names()
    );
}

#[tokio::test]
async fn calls_without_a_budget_do_not_begin_with_their_reply() {
    let (journal, provider) = (Arc::new(Journal::default()), provider());
    let settings = CycleSettings::new()
        .with_budgets(Budgets::new().with_turn(Budget::new().with_tool_calls(1)))
        .with_recorder(journal.clone());
    let mut cycle = cycle(&provider).with_settings(settings);
    let tools = runs();
    drop(cycle.turn("Go").with_tools(tools.clone()).await);
    assert!(tools.0.runs().is_empty());
    assert!(
        !journal.names().iter().any(|write| write.contains("started")),
        "{:?}",
        journal.names()
    );
}

#[tokio::test]
async fn a_reply_survives_the_failure_to_record_it_with_its_calls() {
    let (journal, provider) = (Journal::failing_at(1), provider());
    let mut cycle = recorded(&provider, &journal);
    let base = cycle.machine().clone();
    let tools = runs();
    let error = cycle.turn("Go").with_tools(tools.clone()).await.unwrap_err();
    assert_eq!(error.kind(), CycleErrorKind::Storage);
    assert!(tools.0.runs().is_empty());
    let outcome = cycle.resume([]).with_tools(tools.clone()).await.unwrap();
    assert_eq!((outcome.text(), provider.requests().len()), ("Done.".into(), 2));
    assert_eq!(tools.0.runs(), ["a", "b"]);
    assert_eq!(journal.names()[1], "reply");
    assert_eq!(journal.fold(base), *cycle.machine());
}

#[tokio::test]
async fn interrupted_calls_are_repeated_if_their_tool_allows_it() {
    let (journal, provider) = (Arc::new(Journal::default()), provider());
    let mut dead = recorded(&provider, &journal);
    let base = dead.machine().clone();
    let hangs = AtOnce::new(|_| Fate::Hangs);
    let mut turn = Box::pin(dead.turn("Go").with_tools(hangs.clone()).run());
    assert!((&mut turn).now_or_never().is_none());
    drop(turn);
    assert_eq!(hangs.0.runs().len(), 2);

    let restored = journal.fold(base);
    assert_eq!(restored.uncertain().count(), 2);
    let other = agcore_testkit::clock::ManualClock::jumping();
    let mut other = LlmCycle::from_machine(provider.clone(), other, restored);
    let tools = runs();
    let mut turn = other.resume([]).with_tools(tools.clone()).stream();
    let mut repeated = Vec::new();
    while let Some(event) = turn.next().await {
        if let EventKind::Tool(ToolEvent::Repeated { call_id, .. }) = event.kind {
            repeated.push(call_id.to_string());
        }
    }
    let outcome = turn.finish().await.unwrap();
    let [question] = outcome.questions() else {
        panic!("{outcome:?}")
    };
    assert_eq!((&*question.call_id, question.kind), ("a", QuestionKind::Uncertain));
    assert_eq!((repeated, tools.0.runs()), (vec!["b".to_owned()], vec!["b".to_owned()]));
}

#[tokio::test]
async fn a_reply_with_nothing_but_unreadable_calls_is_answered_with_errors() {
    let unreadable = [
        r#"{"kind":"#,
        "```json\n{}\n```",
        r#""x""#,
        "[1]",
        r#"{"kind":"\ud83d"}"#,
    ];
    for arguments in unreadable {
        for count in [1, 2] {
            let calls = (0..count).map(|number| call(&format!("c{number}"), "add", arguments));
            let provider = ScriptedProvider::new([ScriptStep::calls(calls), ScriptStep::text("Done.")]);
            let journal = Arc::new(Journal::default());
            let mut cycle = recorded(&provider, &journal);
            let base = cycle.machine().clone();
            let tools = runs();
            let outcome = cycle.turn("Go").with_tools(tools.clone()).await.unwrap();
            assert_eq!(
                (outcome.text(), tools.0.runs().len()),
                ("Done.".into(), 0),
                "{arguments}"
            );
            assert_eq!(journal.names(), ["begun", "reply", "reply"], "{arguments}");
            assert_eq!(journal.fold(base), *cycle.machine());
        }
    }
}
