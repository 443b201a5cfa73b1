//! Answers: each fits one question of one call for ever, and may be repeated.

use std::sync::{Arc, Mutex};

use agcore_chat::{Answer, Message, Question, QuestionId, QuestionKind, ToolCall, ToolOutcome};
use agcore_cycle::{
    CycleErrorKind, LlmCycle,
    machine::{Machine, MachineError},
};
use agcore_testkit::{
    clock::ManualClock,
    scripted::{ScriptStep, ScriptedProvider},
};

use crate::support::{FnExecutor, call, cycle};

/// Returns tools whose `pay` asks for approval, and the calls that ran.
fn paying() -> (Arc<FnExecutor>, Arc<Mutex<Vec<String>>>) {
    let paid: Arc<Mutex<Vec<String>>> = Arc::default();
    let log = Arc::clone(&paid);
    let tools = FnExecutor::new(&["pay"], move |work| {
        if work.resumed.is_none() {
            let question = Question::new(work.call.id.as_str(), 0, QuestionKind::Approval, "Pay?");
            return ToolOutcome::ask(question);
        }
        log.lock().unwrap().push(work.call.raw_input().to_owned());
        ToolOutcome::done("paid")
    });
    (tools, paid)
}

/// Returns a call like those of servers that count from zero in each reply.
fn pay(amount: u32) -> ToolCall {
    call("call_0", "pay", &format!("{{\"amount\":{amount}}}"))
}

async fn ask(cycle: &mut LlmCycle, tools: &Arc<FnExecutor>) -> QuestionId {
    let outcome = cycle.turn("Pay").with_tools(tools.clone()).await.unwrap();
    outcome.questions()[0].id.clone()
}

#[tokio::test]
async fn an_old_answer_never_fits_a_new_call() {
    type Change = fn(&mut LlmCycle);
    let changes: [Change; 3] = [
        |cycle| cycle.set_messages(Vec::new()).unwrap(),
        |cycle| {
            cycle
                .set_messages(vec![
                    Arc::new(Message::user("Hi")),
                    Arc::new(Message::assistant("Hello")),
                ])
                .unwrap();
        },
        |cycle| {
            cycle.abandon_turn().unwrap();
            cycle.clear_messages().unwrap();
        },
    ];
    for change in changes {
        let provider = ScriptedProvider::new([ScriptStep::calls([pay(40)]), ScriptStep::calls([pay(40)])]);
        let (tools, paid) = paying();
        let mut cycle = cycle(&provider);
        let old = ask(&mut cycle, &tools).await;
        change(&mut cycle);
        let new = ask(&mut cycle, &tools).await;
        assert_ne!(old, new);
        let before = cycle.machine().clone();
        let answers = [(new, Answer::approve()), (old.clone(), Answer::approve())];
        let error = cycle.resume(answers).with_tools(tools).await.unwrap_err();
        assert_eq!(error.kind(), CycleErrorKind::InvalidInput);
        assert_eq!(error.machine_error(), Some(&MachineError::UnknownQuestion(old)));
        assert_eq!(*cycle.machine(), before, "none of the answers count");
        assert!(paid.lock().unwrap().is_empty());
    }
}

#[tokio::test]
async fn a_copy_of_a_conversation_does_not_take_an_answer_for_another_call() {
    let (tools, _) = paying();
    let provider = ScriptedProvider::new([ScriptStep::calls([pay(40)])]);
    let mut first = cycle(&provider);
    let saved = serde_json::to_string(first.machine()).unwrap();
    let old = ask(&mut first, &tools).await;
    for (amount, is_same) in [(40, true), (4_000, false)] {
        let provider = ScriptedProvider::new([ScriptStep::calls([pay(amount)])]);
        let machine: Machine = serde_json::from_str(&saved).unwrap();
        let mut copy = LlmCycle::from_machine(provider, ManualClock::jumping(), machine);
        assert_eq!(ask(&mut copy, &tools).await == old, is_same, "{amount}");
    }
}

#[tokio::test]
async fn a_repeated_answer_is_distinguished_from_a_mistake_after_the_turn() {
    let provider = ScriptedProvider::new([
        ScriptStep::calls([pay(40)]),
        ScriptStep::text("Paid."),
        ScriptStep::text("Hello."),
        ScriptStep::calls([pay(50)]),
    ]);
    let (tools, paid) = paying();
    let mut cycle = cycle(&provider);
    let question = ask(&mut cycle, &tools).await;
    let yes = || [(question.clone(), Answer::approve())];
    cycle.resume(yes()).with_tools(tools.clone()).await.unwrap();
    // The next turn, a process, and a turn that waits for another answer do not change that.
    for step in 0..4 {
        match step {
            1 => drop(cycle.turn("Hi").await.unwrap()),
            2 => {
                let machine = serde_json::from_str(&serde_json::to_string(cycle.machine()).unwrap()).unwrap();
                cycle = LlmCycle::from_machine(Arc::new(provider.clone()), ManualClock::jumping(), machine);
            }
            3 => drop(ask(&mut cycle, &tools).await),
            _ => {}
        }
        let before = cycle.machine().clone();
        let error = cycle.resume(yes()).with_tools(tools.clone()).await.unwrap_err();
        assert_eq!(error.kind(), CycleErrorKind::AlreadyAnswered, "step {step}");
        let other = [(question.clone(), Answer::deny("no"))];
        let error = cycle.resume(other).with_tools(tools.clone()).await.unwrap_err();
        assert_eq!(error.kind(), CycleErrorKind::InvalidInput, "step {step}");
        assert_eq!(
            error.machine_error(),
            Some(&MachineError::AlreadyAnswered(question.clone()))
        );
        assert_eq!(*cycle.machine(), before);
    }
    assert_eq!(paid.lock().unwrap().len(), 1);
}

#[tokio::test]
async fn the_number_of_remembered_answers_is_bounded() {
    const TURNS: u32 = 40;
    let steps = (0..TURNS).flat_map(|turn| [ScriptStep::calls([pay(turn)]), ScriptStep::text("Paid.")]);
    let provider = ScriptedProvider::new(steps);
    let (tools, _) = paying();
    let mut cycle = cycle(&provider);
    let mut questions = Vec::new();
    for _ in 0..TURNS {
        let question = ask(&mut cycle, &tools).await;
        cycle
            .resume([(question.clone(), Answer::approve())])
            .with_tools(tools.clone())
            .await
            .unwrap();
        questions.push(question);
    }
    let known = questions
        .iter()
        .filter(|question| cycle.machine().answer_of(question).is_some());
    // 32 of earlier turns, and the one of the newest turn.
    assert_eq!(known.count(), 33);
    assert!(cycle.machine().answer_of(&questions[39]).is_some());
}
