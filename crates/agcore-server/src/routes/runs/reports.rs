//! Runs and questions over all threads, and the timeline of a run.

use std::sync::Arc;

use agcore_chat::Actor;
use agcore_session::RunStatus;
use axum::{
    Extension, Json,
    extract::{Path, State},
};
use http::Uri;
use serde::Deserialize;

use crate::{
    api::{ListedQuestionView, ListedRunView, QuestionPage, RunPage, SpanView, TimelineView},
    problem::Problem,
    reports::RunQuery,
    routes::{query, sessions::PageQuery},
    service::App,
};

#[derive(Deserialize)]
struct ListQuery {
    status: Option<String>,
    agent: Option<String>,
    cursor: Option<String>,
    limit: Option<u64>,
}

#[derive(Deserialize)]
struct TimelineQuery {
    from: Option<usize>,
    limit: Option<u64>,
}

/// `GET /runs`: the runs over all threads.
pub(in crate::routes) async fn list(
    State(app): State<Arc<App>>,
    Extension(actor): Extension<Actor>,
    uri: Uri,
) -> Result<Json<RunPage>, Problem> {
    let asked: ListQuery = query::parameters(&uri)?;
    let status = asked.status.map(|status| {
        let names = RunStatus::ALL.map(RunStatus::as_str).join(", ");
        let unknown = || Problem::invalid(format!("`status` must be one of {names}"));
        RunStatus::from_name(&status).ok_or_else(unknown)
    });
    let query = RunQuery {
        status: status.transpose()?,
        agent: asked.agent,
        after: asked.cursor.as_deref().map(query::run_cursor).transpose()?,
        limit: query::page_size(asked.limit)?,
    };
    let (runs, last) = app.service.own_runs(&actor, query).await?;
    Ok(Json(RunPage {
        runs: runs.into_iter().map(ListedRunView::from).collect(),
        cursor: last.as_ref().map(query::run_cursor_text),
    }))
}

/// `GET /questions`: the open questions over all threads.
pub(in crate::routes) async fn questions(
    State(app): State<Arc<App>>,
    Extension(actor): Extension<Actor>,
    uri: Uri,
) -> Result<Json<QuestionPage>, Problem> {
    let PageQuery { cursor, limit } = query::parameters(&uri)?;
    let limit = query::page_size(limit)?;
    let after = cursor.as_deref().map(query::question_cursor).transpose()?;
    let (questions, last) = app.service.own_questions(&actor, after, limit).await?;
    Ok(Json(QuestionPage {
        questions: questions.into_iter().map(ListedQuestionView::from).collect(),
        cursor: last.as_ref().map(query::question_cursor_text),
    }))
}

/// `GET /runs/{thread}/{run}/timeline`: the spans of a run.
pub(in crate::routes) async fn timeline(
    State(app): State<Arc<App>>,
    Extension(actor): Extension<Actor>,
    Path((thread, run)): Path<(String, String)>,
    uri: Uri,
) -> Result<Json<TimelineView>, Problem> {
    let TimelineQuery { from, limit } = query::parameters(&uri)?;
    let limit = usize::try_from(query::page_size(limit)?).unwrap_or(usize::MAX);
    let from = from.unwrap_or(0);
    let own = app.service.own(&actor, &thread).await?;
    let timeline = app.service.timeline(&own, &run).await?;
    let total = timeline.spans.len();
    let next = from.saturating_add(limit);
    Ok(Json(TimelineView {
        run: timeline.report.into(),
        total,
        events: timeline.events,
        is_cut: timeline.is_cut,
        spans: timeline
            .spans
            .into_iter()
            .skip(from)
            .take(limit)
            .map(SpanView::from)
            .collect(),
        next: (next < total).then_some(next),
    }))
}
