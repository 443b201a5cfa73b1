//! The schedules of all users of a tenant.

use std::sync::Arc;

use agcore_schedule::ScheduleChange;
use axum::{
    Json,
    body::Body,
    extract::{Path, State},
};
use http::{HeaderMap, StatusCode, Uri};
use serde::Deserialize;

use super::super::{body, query};
use crate::{
    api::{PauseBody, TenantSchedulePage, TenantScheduleView},
    problem::Problem,
    service::App,
};

/// The parameters of a page of what belongs to the users of a tenant.
#[derive(Deserialize)]
pub(super) struct OwnersQuery {
    pub(super) user: Option<String>,
    pub(super) cursor: Option<String>,
    pub(super) limit: Option<u64>,
}

/// `GET /tenants/{tenant}/schedules`: the schedules of all users or of one, in the order of their ids.
pub(super) async fn list(
    State(app): State<Arc<App>>,
    Path(tenant): Path<String>,
    uri: Uri,
) -> Result<Json<TenantSchedulePage>, Problem> {
    let OwnersQuery { user, cursor, limit } = query::parameters(&uri)?;
    let limit = query::page_size(limit)?;
    let (found, cursor) = app.service.tenant_schedules(&tenant, user, cursor, limit).await?;
    let schedules = found.iter().map(|found| found.schedule().into()).collect();
    Ok(Json(TenantSchedulePage { schedules, cursor }))
}

/// `PATCH /tenants/{tenant}/schedules/{schedule}`: pauses or resumes a schedule.
pub(super) async fn change(
    State(app): State<Arc<App>>,
    Path((tenant, schedule)): Path<(String, String)>,
    headers: HeaderMap,
    body: Body,
) -> Result<Json<TenantScheduleView>, Problem> {
    let service = &app.service;
    let read = body::read(&headers, body, &service.limits, &*service.clock).await?;
    let PauseBody { paused, revision } = body::parse(&read)?;
    let mut found = service.tenant_schedule(&tenant, &schedule).await?;
    let mut change = ScheduleChange::new();
    change.is_paused = Some(paused);
    found.change(revision, change).await?;
    Ok(Json(found.schedule().into()))
}

/// `DELETE /tenants/{tenant}/schedules/{schedule}`: deletes a schedule. Runs that it has started are not affected.
pub(super) async fn delete(
    State(app): State<Arc<App>>,
    Path((tenant, schedule)): Path<(String, String)>,
) -> Result<StatusCode, Problem> {
    app.service.tenant_schedule(&tenant, &schedule).await?.delete().await?;
    Ok(StatusCode::NO_CONTENT)
}
