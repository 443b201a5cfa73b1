//! Branches of threads.

use std::sync::Arc;

use agcore_chat::Actor;
use axum::{
    Extension, Json,
    body::Body,
    extract::{Path, State},
};
use http::{HeaderMap, StatusCode};

use super::super::body;
use crate::{
    api::{BranchBody, SessionView},
    problem::Problem,
    service::{App, BranchPoint},
};

/// `POST /sessions/{thread}/branches`: creates a thread that continues from a message of this one.
pub(in crate::routes) async fn create(
    State(app): State<Arc<App>>,
    Extension(actor): Extension<Actor>,
    Path(thread): Path<String>,
    headers: HeaderMap,
    body: Body,
) -> Result<(StatusCode, Json<SessionView>), Problem> {
    let service = Arc::clone(&app.service);
    let read = body::read(&headers, body, &service.limits, &*service.clock).await?;
    let BranchBody {
        thread_id,
        after,
        before,
    } = body::parse(&read)?;
    let point = match (after, before) {
        (None, None) => BranchPoint::End,
        (Some(message), None) => BranchPoint::After(message),
        (None, Some(message)) => BranchPoint::Before(message),
        (Some(_), Some(_)) => return Err(Problem::invalid("send either `after` or `before`, not both")),
    };
    let id = thread_id.unwrap_or_else(|| service.new_id("thread"));
    let branching = Arc::clone(&service);
    let branch = async move { branching.branch(&actor, &thread, id, &point).await };
    let session = service.carry_out(branch).await?;
    Ok((StatusCode::CREATED, Json(session.into())))
}
