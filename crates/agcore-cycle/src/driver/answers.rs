//! Answers of people to the questions of a turn, and calls whose outcome is unknown.

use std::sync::Arc;

use agcore_chat::{Answer, Question, QuestionId, QuestionKind, ToolCall, ToolExecutor, ToolOutcome};
use serde_json::Value;

use crate::{
    error::{CycleError, CycleErrorKind},
    machine::{Machine, MachineError, Outcome},
};

/// Returns the answers without those that were given before. If one of them cannot be used, none is.
pub(super) fn new_answers(
    machine: &Machine,
    answers: Vec<(QuestionId, Answer)>,
) -> Result<Vec<(QuestionId, Answer)>, CycleError> {
    let mut new: Vec<(QuestionId, Answer)> = Vec::with_capacity(answers.len());
    let (mut repeats_open_turn, mut repeated) = (answers.is_empty(), None);
    for (question, answer) in answers {
        let twice = new.iter().find(|(id, _)| *id == question).map(|(_, answer)| answer);
        match machine.answer_of(&question).or(twice) {
            Some(known) if *known != answer => return Err(MachineError::AlreadyAnswered(question).into()),
            Some(_) => {
                repeats_open_turn |= machine.is_answered_in_open_turn(&question);
                repeated = Some(question);
            }
            None if !machine.is_open() => return Err(MachineError::NoTurn.into()),
            None if machine.questions().any(|open| open.id == question) => new.push((question, answer)),
            None => return Err(MachineError::UnknownQuestion(question).into()),
        }
    }
    match repeated {
        Some(question) if new.is_empty() && !repeats_open_turn => {
            let message = format!("the question `{question}` was answered like this before, and its turn has ended");
            Err(CycleError::new(CycleErrorKind::AlreadyAnswered, message))
        }
        _ if !machine.is_open() => Err(MachineError::NoTurn.into()),
        _ => Ok(new),
    }
}

/// Decides what becomes of a call that was running when the process died: it runs again if its tool allows that, else a
/// person decides.
pub(super) fn settle_uncertain(tools: Option<&Arc<dyn ToolExecutor>>, call: &ToolCall) -> Outcome {
    if tools.is_some_and(|tools| tools.is_repeatable(call)) {
        return Outcome::Redo(call.id.as_str().into());
    }
    let question = uncertain_question(call);
    Outcome::tool(question.call_id.clone(), ToolOutcome::ask(question))
}

/// Asks whether a call that was running when the process died should run again.
fn uncertain_question(call: &ToolCall) -> Question {
    let prompt = format!(
        "The tool `{}` was running when the process stopped; it may or may not have taken effect. Run it again?",
        call.name
    );
    let input = call.raw_input();
    let arguments = serde_json::from_str(input).unwrap_or_else(|_| Value::from(input));
    let mut question = Question::new(call.id.as_str(), 0, QuestionKind::Uncertain, prompt)
        .with_tool(call.name.as_str())
        .with_arguments(arguments);
    question.id = format!("{}?uncertain", call.id).into();
    question
}
