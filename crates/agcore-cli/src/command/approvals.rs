//! `agcore approvals`: questions of suspended turns, answered from another process.

use std::{io, path::Path};

use agcore::{
    chat::{Answer, QuestionKind},
    session::ApprovalStatus,
};
use agcore_args::{ApprovalsCommand, ListApprovalsArgs};
use agcore_terminal::render::{Color, Palette, difference, sanitized_line};
use agcore_workbench::program_tools::{Previews, ToolFolder};
use serde_json::{Value, json};

use crate::{
    approve::call_text,
    exit::Failure,
    sessions::{OpenQuestion, Sessions, time},
    stdout::print,
};

/// Runs an `approvals` command.
///
/// # Errors
/// When there is no such question, it has another answer already, or the database cannot be read or written.
pub(crate) async fn run(command: &ApprovalsCommand, color: Color) -> Result<(), Failure> {
    let sessions = Sessions::open().await?;
    match command {
        ApprovalsCommand::List(args) => list(args, &sessions, color.palette(&io::stdout())).await,
        ApprovalsCommand::Allow(args) => answer(&args.ids, &Answer::approve(), &sessions).await,
        ApprovalsCommand::Deny(args) => answer(&args.ids, &Answer::deny(args.reason.as_str()), &sessions).await,
    }
}

async fn list(args: &ListApprovalsArgs, sessions: &Sessions, palette: Palette) -> Result<(), Failure> {
    let status = (!args.all).then_some(ApprovalStatus::Open);
    let questions = sessions.questions(status).await?;
    if args.json {
        let mut listed: Vec<Value> = Vec::new();
        for question in &questions {
            listed.push(described(question, change(question, sessions).await?));
        }
        return print(&format!("{:#}\n", json!({ "approvals": listed })));
    }
    if questions.is_empty() {
        return print("Nothing waits for approval.\n");
    }
    let mut listed = String::new();
    for question in &questions {
        listed += &line(question);
        if let Some(change) = change(question, sessions).await? {
            listed += &difference(&change, palette);
        }
    }
    print(&listed)
}

/// Returns what an open call would change in the folder of its session, as it is now, as a unified difference; `None` if it changes
/// no file.
async fn change(question: &OpenQuestion, sessions: &Sessions) -> Result<Option<String>, Failure> {
    let OpenQuestion { question, approval, .. } = question;
    if approval.status != ApprovalStatus::Open {
        return Ok(None);
    }
    let folder = sessions.folder_of(&approval.session).await?;
    let folder = folder.and_then(|folder| ToolFolder::at(Path::new(&folder), Vec::new()).ok());
    Ok(folder.and_then(|folder| Previews::new(&folder).difference(&question.tool, &question.arguments)))
}

async fn answer(keys: &[String], answer: &Answer, sessions: &Sessions) -> Result<(), Failure> {
    let known = sessions.questions(None).await?;
    // All of them are known before the first answer is stored.
    let found = keys
        .iter()
        .map(|key| find(&known, key))
        .collect::<Result<Vec<_>, _>>()?;
    for question in &found {
        check_answer(question, answer)?;
    }
    for question in &found {
        sessions.answer(question, answer).await.map_err(|failure| {
            let call = call_text(&question.question.tool, &question.question.arguments);
            Failure::task(format!("{}: {call}: {failure}", question.key))
        })?;
        let call = call_text(&question.question.tool, &question.question.arguments);
        print(&format!("{} is {}: {call}\n", question.key, verb(answer)))?;
    }
    let mut ids: Vec<&str> = found.iter().map(|question| &*question.approval.session).collect();
    ids.dedup();
    for id in ids {
        // A turn that has ended does not need the answer any more.
        if sessions.waits(id).await? {
            print(&format!(
                "To continue the session: agcore -p --resume {}\n",
                sanitized_line(id)
            ))?;
        }
    }
    Ok(())
}

fn verb(answer: &Answer) -> &'static str {
    match answer {
        Answer::Approve { .. } => "allowed",
        _ => "denied",
    }
}

/// Checks that a question can still have an answer. The same answer again changes nothing.
fn check_answer(question: &OpenQuestion, answer: &Answer) -> Result<(), Failure> {
    let approval = &question.approval;
    let given: Option<Answer> = approval
        .answer
        .clone()
        .and_then(|answer| serde_json::from_value(answer).ok());
    let needs_value = matches!(question.question.kind, QuestionKind::Input | QuestionKind::Client);
    let problem = match (approval.status, given) {
        (ApprovalStatus::Open, _) if needs_value && matches!(answer, Answer::Approve { .. }) => {
            "it waits for a value, which only its client can give; `agcore approvals deny` ends the wait".to_owned()
        }
        (ApprovalStatus::Withdrawn, _) => "it was withdrawn when its turn ended".to_owned(),
        (ApprovalStatus::Answered, Some(given)) if given != *answer => {
            let at = approval
                .closed_at
                .map_or_else(String::new, |at| format!(" at {}", time(at)));
            format!("it was {} already{at}, which cannot be changed", verb(&given))
        }
        _ => return Ok(()),
    };
    let call = call_text(&question.question.tool, &question.question.arguments);
    Err(Failure::task(format!("{}: {call}: {problem}", question.key)))
}

/// Finds a question by its id or the beginning of it.
fn find<'q>(known: &'q [OpenQuestion], start: &str) -> Result<&'q OpenQuestion, Failure> {
    let mut matches = known
        .iter()
        .filter(|question| !start.is_empty() && question.key.starts_with(start));
    match (matches.next(), matches.next()) {
        (Some(question), None) => Ok(question),
        (None, _) => Err(Failure::usage(format!(
            "there is no question whose ID begins with `{}`\n`agcore approvals list` lists the questions.",
            sanitized_line(start)
        ))),
        (Some(one), Some(other)) => Err(Failure::usage(format!(
            "several questions have an ID that begins with `{}`, such as {} and {}; write more of it",
            sanitized_line(start),
            one.key,
            other.key
        ))),
    }
}

fn line(question: &OpenQuestion) -> String {
    let OpenQuestion {
        key,
        question,
        approval,
    } = question;
    let call = call_text(&question.tool, &question.arguments);
    let reason = match question.kind {
        QuestionKind::Uncertain => "it was running when its process died, and may have taken effect".to_owned(),
        _ => question.reason.clone(),
    };
    let status = match approval.status {
        ApprovalStatus::Open => String::new(),
        status => format!(", {}", status.as_str()),
    };
    format!(
        "{key}  {call}\n              {}\n              session {}, {}{status}\n",
        sanitized_line(&reason),
        sanitized_line(&approval.session),
        time(approval.asked_at)
    )
}

/// Describes a question as JSON.
fn described(question: &OpenQuestion, change: Option<String>) -> Value {
    let OpenQuestion {
        key,
        question,
        approval,
    } = question;
    json!({
        "id": key,
        "session_id": approval.session,
        "call_id": question.call_id,
        "kind": question.kind,
        "tool": question.tool,
        "arguments": question.arguments,
        "change": change,
        "reason": question.reason,
        "status": approval.status,
        "answer": approval.answer,
        "asked_at": time(approval.asked_at),
        "closed_at": approval.closed_at.map(time),
    })
}
