//! Runs that were claimed too often.

use std::sync::Arc;

use axum::{
    Json,
    extract::{Path, State},
    response::{IntoResponse, Response},
};
use http::{StatusCode, Uri};

use super::super::{query, sessions::PageQuery};
use crate::{
    api::{DeadLetterDetails, DeadLetterPage, DeadLetterView, RunView},
    problem::Problem,
    service::App,
};

/// `GET /tenants/{tenant}/dead-letters`: the dead letters, the oldest first.
pub(super) async fn list(
    State(app): State<Arc<App>>,
    Path(tenant): Path<String>,
    uri: Uri,
) -> Result<Json<DeadLetterPage>, Problem> {
    let PageQuery { cursor, limit } = query::parameters(&uri)?;
    let limit = query::page_size(limit)?;
    let after = cursor.as_deref().map(query::dead_letter_cursor).transpose()?;
    let letters = app.service.dead_letters(&tenant, after, limit).await?;
    let is_full = letters.len() as u64 >= limit;
    let last = letters.last().filter(|_| is_full);
    Ok(Json(DeadLetterPage {
        cursor: last.map(|letter| query::dead_letter_cursor_text(&letter.cursor())),
        dead_letters: letters.into_iter().map(DeadLetterView::from).collect(),
    }))
}

/// `GET /tenants/{tenant}/dead-letters/{thread}/{run}`: a dead letter with the state of its run.
pub(super) async fn show(
    State(app): State<Arc<App>>,
    Path((tenant, thread, run)): Path<(String, String, String)>,
) -> Result<Json<DeadLetterDetails>, Problem> {
    let (letter, found, owner) = app.service.dead_letter(&tenant, &thread, &run).await?;
    Ok(Json(DeadLetterDetails {
        letter: letter.into(),
        user_id: owner.user.to_string(),
        line: owner.line.as_deref().map(str::to_owned),
        created_at: found.created_at.to_string(),
    }))
}

/// `POST /tenants/{tenant}/dead-letters/{thread}/{run}/restart`: queues the run again.
pub(super) async fn restart(
    State(app): State<Arc<App>>,
    Path((tenant, thread, run)): Path<(String, String, String)>,
) -> Result<Response, Problem> {
    let service = Arc::clone(&app.service);
    let restart = async move { service.restart_dead(&tenant, &thread, &run).await };
    let run = app.service.carry_out(restart).await?;
    Ok((StatusCode::ACCEPTED, Json(RunView::from(run))).into_response())
}

/// `DELETE /tenants/{tenant}/dead-letters/{thread}/{run}`: discards a dead letter. The run stays failed.
pub(super) async fn discard(
    State(app): State<Arc<App>>,
    Path((tenant, thread, run)): Path<(String, String, String)>,
) -> Result<StatusCode, Problem> {
    let service = Arc::clone(&app.service);
    let discard = async move { service.discard_dead(&tenant, &thread, &run).await };
    app.service.carry_out(discard).await?;
    Ok(StatusCode::NO_CONTENT)
}
