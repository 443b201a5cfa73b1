//! Recorded turns: order, failures, and going on in another process.

use std::sync::{Arc, Mutex};

use agcore_chat::{
    Answer, ChatResponse, EventKind, Fault, FaultKind, Question, QuestionKind, ToolOutcome, validate_messages,
};
use agcore_cycle::{
    Budget, Budgets, CycleError, CycleErrorKind, CycleSettings, LlmCycle, OutcomeRecorder, TurnOutcome,
    machine::{Changes, Limits, Machine, Outcome, Record},
};
use agcore_llm::provider_fn;
use agcore_testkit::{
    clock::ManualClock,
    scripted::{ScriptStep, ScriptedProvider},
};
use async_trait::async_trait;
use futures_util::FutureExt;
use tokio::sync::Semaphore;

use crate::{
    gate::{Fate, Gate},
    support::{call, cycle},
};

/// A journal in memory, one line of JSON for each write. Some writes may fail, panic, or take long.
#[derive(Default)]
struct Journal {
    lines: Mutex<Vec<String>>,
    writes: Mutex<usize>,
    fails_at: Option<usize>,
    panics: bool,
    permits: Option<Semaphore>,
}

impl Journal {
    fn lines(&self) -> Vec<String> {
        self.lines.lock().unwrap().clone()
    }

    /// Returns the state after these lines, and the events of the outcomes.
    fn fold(base: &Machine, lines: &[String]) -> (Machine, Vec<EventKind>) {
        let (mut machine, mut events) = (base.clone(), Vec::new());
        for line in lines {
            let record: Record<'_> = serde_json::from_str(line).unwrap();
            for outcome in record.outcomes() {
                let changes: Changes = machine.absorb(outcome.clone()).unwrap();
                events.extend(changes.events);
            }
        }
        (machine, events)
    }

    fn outcomes(&self) -> Vec<Vec<Outcome>> {
        let read = |line: &String| serde_json::from_str::<Record<'_>>(line).unwrap().outcomes().to_vec();
        self.lines().iter().map(read).collect()
    }
}

#[async_trait]
impl OutcomeRecorder for Journal {
    async fn record(&self, outcomes: &[Outcome]) -> Result<(), Fault> {
        if let Some(permits) = &self.permits {
            permits.acquire().await.unwrap().forget();
        }
        let write = {
            let mut writes = self.writes.lock().unwrap();
            *writes += 1;
            *writes - 1
        };
        if self.fails_at == Some(write) {
            assert!(!self.panics, "on purpose");
            return Err(Fault::new(FaultKind::Storage, "the disk is full"));
        }
        let line = serde_json::to_string(&Record::new(outcomes)).unwrap();
        self.lines.lock().unwrap().push(line);
        Ok(())
    }
}

/// Returns a model that calls three tools (one of them asks), then one more, and then answers.
fn provider() -> ScriptedProvider {
    ScriptedProvider::new([
        ScriptStep::calls([call("a", "add", "{}"), call("b", "send", "{}"), call("c", "add", "{}")]),
        ScriptStep::calls([call("a", "add", "{}")]),
        ScriptStep::text("Done."),
    ])
}

/// Returns tools whose `send` asks for approval before it begins.
fn tools() -> Arc<Gate> {
    Gate::new(&["add", "send"], |work| {
        if work.call.name == "send" && work.resumed.is_none() {
            let question = Question::new(work.call.id.as_str(), 0, QuestionKind::Approval, "Send?");
            return Fate::Refused(ToolOutcome::ask(question));
        }
        Fate::Runs(ToolOutcome::done("ok"))
    })
}

fn settings(journal: &Arc<Journal>) -> CycleSettings {
    let budgets = Budgets::new().with_turn(Budget::new().with_tool_calls(50));
    CycleSettings::new()
        .with_budgets(budgets)
        .with_recorder(journal.clone())
}

/// Begins the turn, or continues it, until it ends. Questions are answered with yes, except about uncertain calls.
async fn finish(cycle: &mut LlmCycle, tools: &Arc<Gate>) -> Result<TurnOutcome, CycleError> {
    let mut outcome = if cycle.machine().is_open() {
        cycle.resume([]).with_tools(tools.clone()).await?
    } else {
        cycle.turn("Go").with_tools(tools.clone()).await?
    };
    while !outcome.questions().is_empty() {
        let answers = outcome.questions().iter().map(|question| {
            let answer = match question.kind {
                QuestionKind::Uncertain => Answer::deny("leave it"),
                _ => Answer::approve(),
            };
            (question.id.clone(), answer)
        });
        let answers: Vec<_> = answers.collect();
        outcome = cycle.resume(answers).with_tools(tools.clone()).await?;
    }
    Ok(outcome)
}

#[tokio::test]
async fn every_prefix_is_a_state_from_which_the_turn_goes_on() {
    let journal = Arc::new(Journal::default());
    let mut recorded = cycle(&provider()).with_settings(settings(&journal));
    let base = recorded.machine().clone();
    finish(&mut recorded, &tools()).await.unwrap();
    let lines = journal.lines();
    assert!(lines.len() > 10, "{lines:#?}");
    assert_eq!(Journal::fold(&base, &lines).0, *recorded.machine());

    for end in 0..lines.len() {
        let (machine, _) = Journal::fold(&base, &lines[..end]);
        let saved: Machine = serde_json::from_str(&serde_json::to_string(&machine).unwrap()).unwrap();
        assert_eq!(saved, machine);
        let settled: Vec<String> = journal.outcomes()[..end]
            .iter()
            .flatten()
            .filter_map(|outcome| match outcome {
                Outcome::Tool {
                    call,
                    outcome: ToolOutcome::Done(_),
                    ..
                } => Some(call.to_string()),
                _ => None,
            })
            .collect();
        let rest = provider_fn(|_| async { Ok(ChatResponse::from_text("Done.")) });
        let other = Arc::new(Journal::default());
        let mut other_process =
            LlmCycle::from_machine(rest, ManualClock::jumping(), saved).with_settings(settings(&other));
        let tools = tools();
        let outcome = finish(&mut other_process, &tools).await.unwrap();
        assert_eq!(outcome.text(), "Done.", "after {end} writes");
        assert!(
            tools.runs().iter().all(|call| !settled.contains(call)),
            "{:?} of {settled:?}",
            tools.runs()
        );
        validate_messages(other_process.messages()).unwrap();
        assert_eq!(Journal::fold(&machine, &other.lines()).0, *other_process.machine());
    }
}

#[tokio::test]
async fn calls_that_begin_together_are_one_record() {
    let journal = Arc::new(Journal::default());
    let provider = ScriptedProvider::new([
        ScriptStep::calls([call("a", "add", "{}"), call("b", "add", "{}")]),
        ScriptStep::text("Done."),
    ]);
    let mut cycle = cycle(&provider).with_settings(settings(&journal));
    let tools = crate::support::FnExecutor::echo(&["add"]);
    cycle.turn("Go").with_tools(tools).await.unwrap();
    let outcomes = journal.outcomes();
    let starts: Vec<_> = outcomes
        .iter()
        .filter(|record| record.iter().any(|outcome| matches!(outcome, Outcome::Started(_))))
        .collect();
    let [[Outcome::Spent(_), Outcome::Started(calls)]] =
        starts.iter().map(|record| &record[..]).collect::<Vec<_>>()[..]
    else {
        panic!("{starts:?}")
    };
    assert_eq!(calls.len(), 2);
}

#[tokio::test]
async fn events_follow_the_record_of_what_they_report() {
    let journal = Arc::new(Journal::default());
    let mut cycle = cycle(&provider()).with_settings(settings(&journal));
    let base = cycle.machine().clone();
    let mut turn = cycle.turn("Go").with_tools(tools()).stream();
    let mut sent_events = 0;
    while let Some(event) = turn.next().await {
        let (_, recorded) = Journal::fold(&base, &journal.lines());
        // Deltas, progress and the suspension itself are not part of the records.
        let at = recorded.iter().skip(sent_events).position(|kind| *kind == event.kind);
        let is_preview = matches!(
            &event.kind,
            EventKind::Text(agcore_chat::TextEvent::Text(_) | agcore_chat::TextEvent::ToolArguments { .. })
                | EventKind::Person(agcore_chat::PersonEvent::Suspended(_))
        );
        assert!(is_preview || at == Some(0), "{event:?} before its record: {recorded:?}");
        sent_events += usize::from(!is_preview);
    }
    assert!(sent_events > 5);
}

#[tokio::test]
async fn a_failed_record_ends_the_run_before_anything_is_done_about_it() {
    let counted = Arc::new(Journal::default());
    let mut whole = cycle(&provider()).with_settings(settings(&counted));
    finish(&mut whole, &tools()).await.unwrap();
    for panics in [false, true] {
        for fails_at in 0..counted.lines().len() {
            let journal = Arc::new(Journal {
                fails_at: Some(fails_at),
                panics,
                ..Journal::default()
            });
            let (provider, tools) = (provider(), tools());
            let mut cycle = cycle(&provider).with_settings(settings(&journal));
            let base = cycle.machine().clone();
            let error = finish(&mut cycle, &tools).await.unwrap_err();
            assert_eq!(error.kind(), CycleErrorKind::Storage, "write {fails_at}: {error}");
            let (recorded, _) = Journal::fold(&base, &journal.lines());
            assert_eq!(recorded, *cycle.machine(), "write {fails_at}");
            // Nothing ran whose start was not recorded.
            let started = journal
                .outcomes()
                .into_iter()
                .flatten()
                .filter_map(|outcome| match outcome {
                    Outcome::Started(calls) => Some(calls.len()),
                    _ => None,
                });
            assert!(tools.runs().len() <= started.sum(), "write {fails_at}");

            // The store works again.
            let outcome = finish(&mut cycle, &tools).await.unwrap();
            assert_eq!(outcome.text(), "Done.", "write {fails_at}");
            assert_eq!(Journal::fold(&base, &journal.lines()).0, *cycle.machine());
            let mut runs = tools.runs();
            runs.sort_unstable();
            let once = runs.len();
            runs.dedup();
            assert_eq!(runs.len(), once, "no call ran twice");
            assert_eq!(provider.requests().len(), 3, "write {fails_at}: no reply was lost");
        }
    }
}

#[tokio::test]
async fn nothing_happens_while_a_record_is_written() {
    let journal = Arc::new(Journal {
        permits: Some(Semaphore::new(0)),
        ..Journal::default()
    });
    let permits = journal.permits.as_ref().unwrap();
    let (provider, tools) = (provider(), tools());
    let mut cycle = cycle(&provider).with_settings(settings(&journal));
    let base = cycle.machine().clone();
    // Each time, the turn is dropped while it records.
    for write in 0..200 {
        let (requests, runs) = (provider.requests().len(), tools.runs().len());
        let mut turn = Box::pin(finish(&mut cycle, &tools));
        let polled = turn.as_mut().now_or_never();
        assert!(polled.is_none() || write > 0);
        assert_eq!(
            (provider.requests().len(), tools.runs().len()),
            (requests, runs),
            "write {write}"
        );
        permits.add_permits(1);
        let done = turn.as_mut().now_or_never();
        drop(turn);
        if let Some(outcome) = done {
            assert_eq!(outcome.unwrap().text(), "Done.");
            break;
        }
        assert!(write < 199, "the turn does not continue");
    }
    // Each outcome was recorded once, and the machine is what the records say.
    assert_eq!(Journal::fold(&base, &journal.lines()).0, *cycle.machine());
    assert_eq!(provider.requests().len(), 3);
}

#[tokio::test]
async fn changed_limits_are_recorded() {
    let journal = Arc::new(Journal::default());
    let mut cycle = cycle(&ScriptedProvider::new([ScriptStep::text("Hi.")])).with_settings(settings(&journal));
    let base = cycle.machine().clone();
    cycle.settings_mut().limits = Limits::new().with_max_tool_turns(3);
    cycle.turn("Hello").await.unwrap();
    let (machine, _) = Journal::fold(&base, &journal.lines());
    assert_eq!(machine.limits().max_tool_turns, 3);
    assert_eq!(machine, *cycle.machine());
}

#[tokio::test]
async fn an_abandoned_turn_is_recorded_with_the_next_one() {
    let journal = Arc::new(Journal::default());
    let mut cycle = cycle(&ScriptedProvider::new([
        ScriptStep::calls([call("b", "send", "{}")]),
        ScriptStep::text("Hi."),
    ]))
    .with_settings(settings(&journal));
    let base = cycle.machine().clone();
    cycle.turn("Go").with_tools(tools()).await.unwrap();
    assert!(cycle.abandon_turn().unwrap());
    cycle.turn("Hello").await.unwrap();
    assert_eq!(Journal::fold(&base, &journal.lines()).0, *cycle.machine());
}

#[tokio::test]
async fn a_turn_may_have_a_recorder_of_its_own() {
    let (common, own) = (Arc::new(Journal::default()), Arc::new(Journal::default()));
    let provider = ScriptedProvider::new([ScriptStep::text("Hi."), ScriptStep::text("Hi.")]);
    let mut cycle = cycle(&provider).with_settings(settings(&common));
    cycle.turn("Hello").with_recorder(own.clone()).await.unwrap();
    assert!(common.lines().is_empty() && !own.lines().is_empty());
    cycle.turn("Hello").await.unwrap();
    assert!(!common.lines().is_empty());
}

/// Returns the tokens that the turns so far have used.
fn tokens(cycle: &LlmCycle) -> (u64, u64) {
    (cycle.usage().calls, cycle.spent().model_calls)
}

#[tokio::test]
async fn a_call_that_was_cancelled_is_counted_although_its_record_failed() {
    let journal = Arc::new(Journal {
        fails_at: Some(1),
        ..Journal::default()
    });
    let budgets = Budgets::new().with_turn(Budget::new().with_model_calls(50));
    let settings = CycleSettings::new()
        .with_budgets(budgets)
        .with_recorder(journal.clone());
    let provider = ScriptedProvider::new([ScriptStep::text("half").then_hang(), ScriptStep::text("Hi.")]);
    let mut cycle = cycle(&provider).with_settings(settings);
    let base = cycle.machine().clone();
    let token = tokio_util::sync::CancellationToken::new();
    let mut turn = cycle.turn("Go").with_token(token.clone()).stream();
    while let Some(event) = turn.next().await {
        if matches!(event.kind, EventKind::Text(_)) {
            token.cancel();
        }
    }
    assert_eq!(turn.finish().await.unwrap_err().kind(), CycleErrorKind::Storage);
    cycle.turn("Hello").await.unwrap();
    assert_eq!(tokens(&cycle), (2, 2));
    assert_eq!(Journal::fold(&base, &journal.lines()).0, *cycle.machine());
}

#[tokio::test]
async fn what_was_used_is_counted_when_a_turn_is_given_up_while_it_is_recorded() {
    let journal = Arc::new(Journal {
        permits: Some(Semaphore::new(1)),
        ..Journal::default()
    });
    let mut cycle = cycle(&provider()).with_settings(settings(&journal));
    let base = cycle.machine().clone();
    let mut turn = Box::pin(cycle.turn("Go").with_tools(tools()).run());
    assert!(turn.as_mut().now_or_never().is_none(), "the record of the reply waits");
    drop(turn);
    assert!(cycle.abandon_turn().unwrap());
    assert_eq!(tokens(&cycle), (1, 1));
    journal.permits.as_ref().unwrap().add_permits(100);
    cycle.turn("Hello").with_tools(tools()).await.unwrap();
    assert_eq!(Journal::fold(&base, &journal.lines()).0, *cycle.machine());
}
