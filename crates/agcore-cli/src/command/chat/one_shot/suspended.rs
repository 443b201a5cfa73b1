//! Turns of single messages that are open: suspended until questions are answered, or interrupted.

use std::io::{self, Write};

use agcore::AgentSession;
use agcore_terminal::render::uncertain_line;

use crate::{
    approve::call_text,
    exit::{Failure, FailureKind},
    input,
    sessions::{Sessions, answers_of, question_key},
    turn::Input,
};

/// Returns what continues a session without a new message: an open turn with the answers that were given since, else standard
/// input.
///
/// # Errors
/// When no turn is open and there is no message, or the turn waits and no answer was given.
pub(in crate::command::chat) async fn continuation(
    sessions: &Sessions,
    session: &AgentSession,
) -> Result<Input, Failure> {
    if session.is_suspended().await {
        let answers = answers_of(sessions, session).await?;
        if answers.is_empty() {
            report_questions(session).await?;
            return Err(Failure::new(
                FailureKind::Suspended,
                "the turn waits for answers, and none was given yet",
            ));
        }
        return Ok(Input::Answers(answers));
    }
    if session.is_interrupted().await {
        for call in session.uncertain_calls().await {
            note(&uncertain_line(&call))?;
        }
        return Ok(Input::Answers(Vec::new()));
    }
    Ok(input::message(None).await?.into())
}

/// Ends an interrupted turn because of a new message, and reports that. In a copy of a session, a turn that waits for answers ends,
/// too: the session keeps it.
///
/// # Errors
/// When the turn waits for answers, which the message would withdraw, standard error is closed, or the state of the turn is
/// damaged.
pub(in crate::command::chat) async fn end_open_turn(session: &AgentSession, is_copy: bool) -> Result<(), Failure> {
    let is_suspended = session.is_suspended().await;
    if is_suspended && !is_copy {
        report_questions(session).await?;
        return Err(Failure::new(
            FailureKind::Suspended,
            "the message was not sent, because the last turn waits for these answers: answer them first, or pass --fork to send the \
             message to a copy of the session",
        ));
    }
    if !is_suspended && !session.is_interrupted().await {
        return Ok(());
    }
    note("The last turn did not end. What it had finished is kept; the new message ends it.")?;
    for call in session.uncertain_calls().await {
        note(&uncertain_line(&call))?;
    }
    session.abandon_turn().await?;
    Ok(())
}

/// Reports how a turn that did not end can be continued.
///
/// # Errors
/// When standard error is closed.
pub(in crate::command::chat) async fn report_unfinished(
    session: &AgentSession,
    failure: &Failure,
) -> Result<(), Failure> {
    if failure.kind() == FailureKind::Suspended {
        // The question of a flow is not one of the session, and its message describes how to answer it.
        if !session.is_suspended().await {
            return Ok(());
        }
        report_questions(session).await?;
        return note(&format!(
            "To continue after the answers: agcore -p --resume {}",
            session.id()
        ));
    }
    match session.is_interrupted().await {
        true => note(&format!("To continue this turn: agcore -p --resume {}", session.id())),
        false => Ok(()),
    }
}

/// Lists the questions of a turn and the commands that answer them.
async fn report_questions(session: &AgentSession) -> Result<(), Failure> {
    for question in session.questions().await {
        let key = question_key(session.id(), &question.id.0);
        let call = call_text(&question.tool, &question.arguments);
        note(&format!("Waits for approval {key}: {call}"))?;
    }
    note("To answer: agcore approvals allow ID, or agcore approvals deny ID")
}

fn note(text: &str) -> Result<(), Failure> {
    writeln!(io::stderr(), "{text}").map_err(|error| Failure::output(&error))
}
