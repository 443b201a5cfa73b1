//! The page with the open questions, and answers to them.

use std::sync::Arc;

use agcore_agui::RunAgentInput;
use agcore_chat::{Actor, Question, QuestionKind};
use agcore_console::{InboxView, Notice, inbox_page};
use agcore_session::Approval;
use axum::{
    Extension,
    body::Body,
    extract::{Path, State},
    response::Response,
};
use http::{HeaderMap, StatusCode, Uri};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    chat, convert,
    form::Form,
    guard::refused,
    reply::{own, page, page_with, see},
    runs::answer as shown,
    visitor::Visitor,
};
use crate::{
    problem::{Problem, ProblemCode},
    routes::{begin, input_problem, parameters, question_cursor, question_cursor_text},
    service::{App, OwnedThread},
};

/// The number of questions on a page.
const QUESTIONS: u64 = 50;

#[derive(Debug, Default, Deserialize)]
struct InboxQuery {
    cursor: Option<String>,
    answered: Option<String>,
}

/// `GET /console/inbox`: the open questions.
pub(super) async fn list(State(app): State<Arc<App>>, Extension(visitor): Extension<Visitor>, uri: Uri) -> Response {
    let list = async {
        let query: InboxQuery = parameters(&uri)?;
        let mut view = inbox_view(&app, &visitor.actor, query.cursor).await?;
        view.notice = query.answered.map(|_| Notice::Answered);
        Ok(page(inbox_page(&visitor.shell(&app).await?, &view)))
    };
    shown(&app, &visitor, list.await).await
}

/// `POST /console/inbox/{thread}/{run}`: answers a question.
pub(super) async fn answer(
    State(app): State<Arc<App>>,
    Extension(visitor): Extension<Visitor>,
    Path((thread, run)): Path<(String, String)>,
    headers: HeaderMap,
    body: Body,
) -> Response {
    let form = match Form::read(&app, &visitor.visit, &headers, body).await {
        Ok(form) => form,
        Err(error) => return refused(&app, &visitor, error).await,
    };
    let answered = async {
        let own_thread = app.service.own(&visitor.actor, &thread).await?;
        own_thread.run(&run).await?;
        let question = find(&own_thread, form.get("question")).await?;
        let back = own(form.get("back"));
        match give(&app, &visitor.actor, &question, &form).await {
            Ok(()) if back.starts_with("/console/inbox") => Ok(see("/console/inbox?answered=1")),
            Ok(()) => Ok(see(back)),
            Err(problem) => {
                let (status, notice) = notice_of(&problem, &question.id, &own_thread).await?;
                unanswered(&app, &visitor, (&thread, back), (status, notice)).await
            }
        }
    };
    shown(&app, &visitor, answered.await).await
}

/// Returns the open questions that are asked for.
pub(super) async fn inbox_view(app: &App, actor: &Actor, cursor: Option<String>) -> Result<InboxView, Problem> {
    let after = cursor.as_deref().map(question_cursor).transpose()?;
    let (questions, last) = app.service.own_questions(actor, after, QUESTIONS).await?;
    let cards = questions
        .into_iter()
        .map(|listed| convert::question(listed.approval, listed.title));
    Ok(InboxView {
        questions: cards.collect(),
        cursor,
        next: last.as_ref().map(question_cursor_text),
        notice: None,
    })
}

async fn find(thread: &OwnedThread<'_>, id: &str) -> Result<Approval, Problem> {
    let all = thread.questions(|all| all).await?;
    all.into_iter()
        .find(|asked| asked.id == id)
        .ok_or_else(|| Problem::unknown("question"))
}

/// Answers a question, so that its run continues, in the way of the API.
async fn give(app: &App, actor: &Actor, approval: &Approval, form: &Form) -> Result<(), Problem> {
    let question: Option<Question> = serde_json::from_value(approval.question.clone()).ok();
    let entry = match form.get("decision") {
        "allow" => json!({"status": "resolved", "payload": {"approved": true}}),
        "deny" => {
            let message = Some(form.text("reason")).filter(|reason| !reason.trim().is_empty());
            json!({"status": "resolved", "payload": {"approved": false, "message": message}})
        }
        "answer" => json!({"status": "resolved", "payload": value_of(form, question.as_ref())?}),
        "decline" => json!({"status": "cancelled"}),
        _ => return Err(Problem::invalid("the form has no decision; choose one of its buttons")),
    };
    let mut entry = entry;
    entry["interruptId"] = json!(approval.id);
    let run = app.service.new_id("run");
    let input = json!({"threadId": approval.session, "runId": run, "messages": [], "resume": [entry]});
    let input = RunAgentInput::from_value(input, &app.service.input_limits()).map_err(input_problem)?;
    begin(app, actor, None, input).await.map(drop)
}

/// Returns the value that a user has entered: JSON if the question asks for a certain form, otherwise the text as it is.
fn value_of(form: &Form, question: Option<&Question>) -> Result<Value, Problem> {
    let text = form.text("value");
    let needs_json = question.is_none_or(|question| question.schema.is_some());
    match serde_json::from_str(&text) {
        Ok(value) if needs_json => Ok(value),
        Ok(value @ (Value::Object(_) | Value::Array(_)))
            if question.is_some_and(|asked| asked.kind == QuestionKind::Client) =>
        {
            Ok(value)
        }
        Err(error) if needs_json && text.trim_start().starts_with(['{', '[', '"']) => {
            Err(Problem::invalid(format!("the answer is not JSON: {error}")))
        }
        _ => Ok(Value::String(text)),
    }
}

/// Returns how a page explains that an answer was not taken.
async fn notice_of(
    problem: &Problem,
    question: &str,
    thread: &OwnedThread<'_>,
) -> Result<(StatusCode, Notice), Problem> {
    if problem.code() != ProblemCode::AlreadyAnswered {
        return Ok((problem.status(), Notice::Refused(problem.detail().to_owned())));
    }
    let asked = find(thread, question).await?;
    let by = asked
        .answered_by
        .map_or_else(|| "–".to_owned(), |by| by.user.to_string());
    let at = asked.closed_at.map_or_else(|| "–".to_owned(), |at| at.to_string());
    Ok((problem.status(), Notice::Elsewhere(by, at)))
}

/// Returns the page from which an answer came, with the reason why it was not taken.
async fn unanswered(
    app: &Arc<App>,
    visitor: &Visitor,
    (thread, back): (&str, &str),
    (status, notice): (StatusCode, Notice),
) -> Result<Response, Problem> {
    if back.starts_with("/console/chat/") {
        return chat::page_of(app, visitor, thread, (status, Some(notice))).await;
    }
    let mut view = inbox_view(app, &visitor.actor, None).await?;
    view.notice = Some(notice);
    Ok(page_with(status, inbox_page(&visitor.shell(app).await?, &view)))
}
