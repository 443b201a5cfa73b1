//! Suspended turns: saved, resumed elsewhere, and resumed after a crash.

use std::sync::{Arc, Mutex};

use agcore_chat::{Answer, Question, QuestionKind, ToolOutcome};
use agcore_cycle::{CycleErrorKind, LlmCycle, TurnOptions, machine::Machine};
use agcore_testkit::{
    clock::ManualClock,
    scripted::{ScriptStep, ScriptedProvider},
};

use crate::support::{FnExecutor, NeverExecutor, call, cycle, event_name, lines};

/// Returns tools that record their runs; `send` asks for approval first.
fn asking(runs: &Arc<Mutex<Vec<String>>>) -> Arc<FnExecutor> {
    let runs = Arc::clone(runs);
    FnExecutor::new(&["send", "add"], move |work| {
        if work.call.name == "send" && work.resumed.is_none() {
            return ToolOutcome::ask(Question::new(
                work.call.id.as_str(),
                1,
                QuestionKind::Approval,
                "Send it?",
            ));
        }
        if let Some((_, Answer::Deny { message, .. })) = work.resumed.as_deref() {
            return ToolOutcome::error(message.as_str());
        }
        runs.lock().unwrap().push(work.call.id.clone());
        ToolOutcome::done("ok")
    })
}

#[tokio::test]
async fn a_suspended_turn_resumes_elsewhere_without_running_calls_twice() {
    let provider = ScriptedProvider::new([
        ScriptStep::calls([call("a", "add", "{}"), call("b", "send", "{}"), call("c", "send", "{}")]),
        ScriptStep::text("Sent one."),
    ]);
    let runs = Arc::default();
    let mut first = cycle(&provider);
    let outcome = first.turn("Go").with_tools(asking(&runs)).await.unwrap();
    let ids: Vec<_> = outcome.questions().iter().map(|question| question.id.clone()).collect();
    assert_eq!(ids.len(), 2);

    // First one answer, then the other, each in a new process.
    let reload = |cycle: &LlmCycle| -> LlmCycle {
        let saved = serde_json::to_string(cycle.machine()).unwrap();
        let machine: Machine = serde_json::from_str(&saved).unwrap();
        LlmCycle::from_machine(Arc::new(provider.clone()), Arc::new(ManualClock::jumping()), machine)
    };
    let options = || TurnOptions::new().with_tools(asking(&runs));
    let mut second = reload(&first);
    let outcome = second
        .resume([(ids[0].clone(), Answer::approve())])
        .with_options(options())
        .await
        .unwrap();
    assert_eq!(outcome.questions().len(), 1);
    let mut third = reload(&second);
    let answers = [
        (ids[0].clone(), Answer::approve()),
        (ids[1].clone(), Answer::deny("not today")),
    ];
    let outcome = third.resume(answers).with_options(options()).await.unwrap();
    assert_eq!(outcome.text(), "Sent one.");
    assert_eq!(*runs.lock().unwrap(), ["a", "b"]);
    assert_eq!(lines(&third)[2..5], ["tool: ok", "tool: ok", "tool: not today"]);
    let error = third
        .resume([(ids[0].clone(), Answer::approve())])
        .with_options(options())
        .await
        .unwrap_err();
    assert_eq!(error.kind(), CycleErrorKind::AlreadyAnswered);
}

#[tokio::test]
async fn rejects_a_different_answer_to_an_answered_question() {
    let provider = ScriptedProvider::new([ScriptStep::calls([call("b", "send", "{}"), call("c", "send", "{}")])]);
    let runs = Arc::default();
    let mut cycle = cycle(&provider);
    let outcome = cycle.turn("Go").with_tools(asking(&runs)).await.unwrap();
    let id = outcome.questions()[0].id.clone();
    let options = || TurnOptions::new().with_tools(asking(&runs));
    cycle
        .resume([(id.clone(), Answer::approve())])
        .with_options(options())
        .await
        .unwrap();
    cycle
        .resume([(id.clone(), Answer::approve())])
        .with_options(options())
        .await
        .unwrap();
    let error = cycle
        .resume([(id, Answer::deny("no"))])
        .with_options(options())
        .await
        .unwrap_err();
    assert!(error.to_string().contains("already been answered"), "{error}");
}

#[tokio::test]
async fn a_call_that_was_running_in_a_crash_becomes_a_question() {
    let provider = ScriptedProvider::new([ScriptStep::calls([call("a", "wait", "{}")]), ScriptStep::text("Fine.")]);
    let mut first = cycle(&provider);
    let mut turn = first.turn("Hello").with_tools(Arc::new(NeverExecutor)).stream();
    while let Some(event) = turn.next().await {
        if event_name(&event) == "tool.started" {
            break;
        }
    }
    drop(turn);
    let machine: Machine = serde_json::from_value(serde_json::to_value(first.machine()).unwrap()).unwrap();
    let mut second = LlmCycle::from_machine(Arc::new(provider), Arc::new(ManualClock::jumping()), machine);
    let options = || TurnOptions::new().with_tools(FnExecutor::echo(&["wait"]));
    let outcome = second.resume([]).with_options(options()).await.unwrap();
    let [question] = outcome.questions() else {
        panic!("expected one question")
    };
    assert_eq!(question.kind, QuestionKind::Uncertain);
    let outcome = second
        .resume([(question.id.clone(), Answer::deny("no"))])
        .with_options(options())
        .await
        .unwrap();
    assert_eq!(outcome.text(), "Fine.");
}
