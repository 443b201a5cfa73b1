//! The page with the open questions, and answers to them.

use std::sync::Arc;

use agcore_chat::Actor;
use agcore_console::{Draft, InboxView, Notice, inbox_page};
use axum::{
    Extension,
    extract::{Path, State},
    response::Response,
};
use http::{StatusCode, Uri};
use serde::Deserialize;

use super::{
    answers::{Decision, draft, faster, find, give},
    chat, convert,
    form::Form,
    reply::{own, page, page_with, see},
    runs::answer as shown,
    visitor::Visitor,
};
use crate::{
    problem::Problem,
    routes::{parameters, question_cursor, question_cursor_text},
    service::App,
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
    form: Form,
) -> Response {
    let answered = async {
        let own_thread = app.service.own(&visitor.actor, &thread).await?;
        own_thread.run(&run).await?;
        let question = find(&own_thread, form.get("question")).await?;
        let back = own(form.get("back"));
        let given = match Decision::of(&form, &question) {
            Ok(decision) => give(&app, &visitor.actor, &thread, &[(&question.id, &decision)]).await,
            Err(problem) => Err(problem),
        };
        match given {
            Ok(()) if back.starts_with("/console/inbox") => Ok(see("/console/inbox?answered=1")),
            Ok(()) => Ok(see(back)),
            Err(problem) => {
                let refused = match faster(&problem, &question.id, &own_thread).await? {
                    Some((by, at)) => Refused::Elsewhere(by, at),
                    None => Refused::Draft(question.id, draft(&form, &problem)),
                };
                unanswered(&app, &visitor, (&thread, back), (problem.status(), refused)).await
            }
        }
    };
    let answered = Box::pin(answered).await;
    shown(&app, &visitor, answered).await
}

/// Why an answer was not taken.
enum Refused {
    /// Somebody was faster: by whom and when the question was answered.
    Elsewhere(String, String),
    /// The input for a question has to be corrected.
    Draft(String, Draft),
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
        report: Vec::new(),
    })
}

/// Returns the page from which an answer came, with the reason why it was not taken, beside what was entered.
async fn unanswered(
    app: &Arc<App>,
    visitor: &Visitor,
    (thread, back): (&str, &str),
    (status, refused): (StatusCode, Refused),
) -> Result<Response, Problem> {
    let (notice, entered) = match refused {
        Refused::Elsewhere(by, at) => (Some(Notice::Elsewhere(by, at)), None),
        Refused::Draft(question, draft) => (None, Some((question, draft))),
    };
    if back.starts_with("/console/chat/") {
        return chat::page_of(app, visitor, thread, (status, notice, entered)).await;
    }
    let mut view = inbox_view(app, &visitor.actor, None).await?;
    view.notice = notice;
    if let Some((question, draft)) = entered {
        let is_it = |card: &agcore_console::QuestionCard| card.thread == thread && card.id == question;
        if !view.questions.iter().any(is_it) {
            // It is on a later page, on which its card would be too far from the reason.
            let own = app.service.own(&visitor.actor, thread).await?;
            let card = convert::question(find(&own, &question).await?, own.session().title.clone());
            view.questions.insert(0, card);
        }
        let card = view.questions.iter_mut().find(|card| is_it(card));
        if let Some(card) = card {
            card.draft = Some(draft);
        }
    }
    Ok(page_with(status, inbox_page(&visitor.shell(app).await?, &view)))
}
