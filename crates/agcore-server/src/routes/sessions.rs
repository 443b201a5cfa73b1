//! The sessions of a user.

pub(super) mod branch;
pub(super) mod state;

use std::sync::Arc;

use agcore_chat::Actor;
use agcore_session::{ApprovalStatus, RunFilter};
use axum::{
    Extension, Json,
    body::Body,
    extract::{Path, State},
};
use http::{HeaderMap, StatusCode, Uri};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::{body, query};
use crate::{
    api::{QuestionView, RunView, SessionChange, SessionDetails, SessionPage, SessionView},
    problem::Problem,
    service::App,
};

/// The longest title, in bytes.
const MAX_TITLE: usize = 1024;

#[derive(Deserialize)]
pub(super) struct PageQuery {
    pub(super) cursor: Option<String>,
    pub(super) limit: Option<u64>,
}

/// `GET /sessions`: the sessions, those changed last first.
pub(super) async fn list(
    State(app): State<Arc<App>>,
    Extension(actor): Extension<Actor>,
    uri: Uri,
) -> Result<Json<SessionPage>, Problem> {
    let PageQuery { cursor, limit } = query::parameters(&uri)?;
    let limit = query::page_size(limit)?;
    let cursor = cursor.as_deref().map(query::cursor).transpose()?;
    let (threads, last) = app.service.own_threads(&actor, cursor, limit, false).await?;
    let views = threads.iter().map(|own| SessionView::from(own.session().clone()));
    Ok(Json(SessionPage {
        cursor: last.as_ref().map(query::cursor_text),
        sessions: views.collect(),
    }))
}

/// `GET /sessions/{thread}`: a session with its runs and open questions.
pub(super) async fn show(
    State(app): State<Arc<App>>,
    Extension(actor): Extension<Actor>,
    Path(thread): Path<String>,
) -> Result<Json<SessionDetails>, Problem> {
    let own = app.service.own(&actor, &thread).await?;
    let runs = own.runs(&RunFilter::new().with_last(query::MAX_PAGE)).await?;
    let questions = own.questions(|all| all.with_status(ApprovalStatus::Open)).await?;
    let questions = questions.into_iter().map(|approval| QuestionView {
        interrupt_id: approval.id,
        run_id: approval.run,
        question: approval.question,
        asked_at: approval.asked_at.to_string(),
    });
    Ok(Json(SessionDetails {
        session: own.session().clone().into(),
        runs: runs.into_iter().map(RunView::from).collect(),
        questions: questions.collect(),
    }))
}

/// `PATCH /sessions/{thread}`: sets or removes the title.
pub(super) async fn rename(
    State(app): State<Arc<App>>,
    Extension(actor): Extension<Actor>,
    Path(thread): Path<String>,
    headers: HeaderMap,
    body: Body,
) -> Result<Json<SessionView>, Problem> {
    let service = &app.service;
    let read = body::read(&headers, body, &service.limits, &*service.clock).await?;
    let SessionChange { title } = body::parse(&read)?;
    let members: Map<String, Value> = body::parse(&read)?;
    if !members.contains_key("title") {
        return Err(Problem::invalid(
            "`title` is missing; send a text, or null to remove the title",
        ));
    }
    if title
        .as_ref()
        .is_some_and(|title| title.len() > MAX_TITLE || title.contains('\0'))
    {
        return Err(Problem::invalid(format!(
            "`title` must have at most {MAX_TITLE} bytes and no NUL character"
        )));
    }
    let own = service.own(&actor, &thread).await?;
    Ok(Json(own.rename(title.as_deref()).await?.into()))
}

/// `DELETE /sessions/{thread}`: erases a session with its parts and everything that belongs to it, except for its bill.
pub(super) async fn delete(
    State(app): State<Arc<App>>,
    Extension(actor): Extension<Actor>,
    Path(thread): Path<String>,
) -> Result<StatusCode, Problem> {
    app.service.erase(&actor, &thread).await?;
    Ok(StatusCode::NO_CONTENT)
}
