//! The sessions of a user.

use std::sync::Arc;

use agcore_chat::Actor;
use agcore_memory::session::{ApprovalFilter, ApprovalStatus, RunFilter, SessionCursor, SessionFilter};
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
    problem::{Problem, ProblemCode},
    service::{App, is_thread},
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
    let mut filter = SessionFilter::owned_by(actor).with_limit(limit);
    if let Some(cursor) = cursor {
        filter = filter.after(query::cursor(&cursor)?);
    }
    let sessions = app.service.store.sessions(&filter).await?;
    let is_full = u64::try_from(sessions.len()).is_ok_and(|count| count == limit);
    let last = sessions.last().filter(|_| is_full).map(SessionCursor::of);
    Ok(Json(SessionPage {
        cursor: last.as_ref().map(query::cursor_text),
        sessions: sessions.into_iter().filter(is_thread).map(SessionView::from).collect(),
    }))
}

/// `GET /sessions/{thread}`: a session with its runs and open questions.
pub(super) async fn show(
    State(app): State<Arc<App>>,
    Extension(actor): Extension<Actor>,
    Path(thread): Path<String>,
) -> Result<Json<SessionDetails>, Problem> {
    let service = &app.service;
    let session = service.session(&actor, &thread).await?;
    let runs = service
        .store
        .runs(&actor.tenant, &thread, &RunFilter::new().with_last(query::MAX_PAGE))
        .await?;
    let filter = ApprovalFilter::owned_by(actor)
        .with_session(&*thread)
        .with_status(ApprovalStatus::Open);
    let questions = service
        .store
        .approvals(&filter)
        .await?
        .into_iter()
        .map(|approval| QuestionView {
            interrupt_id: approval.id,
            run_id: approval.run,
            question: approval.question,
            asked_at: approval.asked_at.to_string(),
        });
    Ok(Json(SessionDetails {
        session: session.into(),
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
    service.session(&actor, &thread).await?;
    service.store.rename(&actor.tenant, &thread, title.as_deref()).await?;
    Ok(Json(service.session(&actor, &thread).await?.into()))
}

/// `DELETE /sessions/{thread}`: erases a session with its parts and everything that belongs to it, except for its bill.
pub(super) async fn delete(
    State(app): State<Arc<App>>,
    Extension(actor): Extension<Actor>,
    Path(thread): Path<String>,
) -> Result<StatusCode, Problem> {
    let service = &app.service;
    let lock = service.admission.of(&actor, &thread);
    let _guard = lock.lock().await;
    service.session(&actor, &thread).await?;
    if !service.active.of_session(&actor, &thread).is_empty() {
        let detail = "a run is active on this thread; cancel it, and delete the thread when the run has ended";
        return Err(Problem::new(ProblemCode::SessionBusy, detail));
    }
    service.store.erase_session(&actor.tenant, &thread).await?;
    Ok(StatusCode::NO_CONTENT)
}
