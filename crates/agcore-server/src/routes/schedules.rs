//! The schedules of a user.

use std::sync::Arc;

use agcore_chat::Actor;
use agcore_schedule::{KEPT_OCCURRENCES, NewSchedule, ScheduleChange};
use axum::{
    Extension, Json,
    body::Body,
    extract::{Path, State},
    response::{IntoResponse, Response},
};
use http::{HeaderMap, StatusCode, Uri};

use super::{body, query, runs::accepted, sessions::PageQuery};
use crate::{
    api::{NewScheduleBody, OccurrenceList, ScheduleChangeBody, SchedulePage, ScheduleView},
    problem::Problem,
    service::App,
};

/// `GET /schedules`: the schedules, in the order of their ids.
pub(super) async fn list(
    State(app): State<Arc<App>>,
    Extension(actor): Extension<Actor>,
    uri: Uri,
) -> Result<Json<SchedulePage>, Problem> {
    let PageQuery { cursor, limit } = query::parameters(&uri)?;
    let limit = query::page_size(limit)?;
    let (own, cursor) = app.service.own_schedules(&actor, cursor, limit).await?;
    let schedules = own.iter().map(|own| own.schedule().into()).collect();
    Ok(Json(SchedulePage { schedules, cursor }))
}

/// `POST /schedules`: creates a schedule.
pub(super) async fn create(
    State(app): State<Arc<App>>,
    Extension(actor): Extension<Actor>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let service = &app.service;
    let read = body::read(&headers, body, &service.limits, &*service.clock).await?;
    let new: NewScheduleBody = body::parse(&read)?;
    let mut schedule = NewSchedule::new(service.new_id("schedule"), new.timing, new.input)
        .with_catch_up(new.catch_up)
        .with_overlap(new.overlap);
    schedule.title = new.title;
    schedule.is_paused = new.paused;
    let own = service.create_schedule(&actor, schedule).await?;
    Ok((StatusCode::CREATED, Json(ScheduleView::from(own.schedule()))).into_response())
}

/// `GET /schedules/{schedule}`: a schedule.
pub(super) async fn show(
    State(app): State<Arc<App>>,
    Extension(actor): Extension<Actor>,
    Path(schedule): Path<String>,
) -> Result<Json<ScheduleView>, Problem> {
    let own = app.service.own_schedule(&actor, &schedule).await?;
    Ok(Json(own.schedule().into()))
}

/// `PATCH /schedules/{schedule}`: changes, pauses or resumes a schedule.
pub(super) async fn change(
    State(app): State<Arc<App>>,
    Extension(actor): Extension<Actor>,
    Path(schedule): Path<String>,
    headers: HeaderMap,
    body: Body,
) -> Result<Json<ScheduleView>, Problem> {
    let service = &app.service;
    let read = body::read(&headers, body, &service.limits, &*service.clock).await?;
    let wanted: ScheduleChangeBody = body::parse(&read)?;
    let mut own = service.own_schedule(&actor, &schedule).await?;
    let mut change = ScheduleChange::new();
    change.title = wanted.title.map(|title| Some(title).filter(|title| !title.is_empty()));
    change.timing = wanted.timing;
    change.job = wanted.input;
    change.catch_up = wanted.catch_up;
    change.overlap = wanted.overlap;
    change.is_paused = wanted.paused;
    own.change(wanted.revision, change).await?;
    Ok(Json(own.schedule().into()))
}

/// `DELETE /schedules/{schedule}`: deletes a schedule. Runs that it has started are not affected.
pub(super) async fn delete(
    State(app): State<Arc<App>>,
    Extension(actor): Extension<Actor>,
    Path(schedule): Path<String>,
) -> Result<StatusCode, Problem> {
    app.service.own_schedule(&actor, &schedule).await?.delete().await?;
    Ok(StatusCode::NO_CONTENT)
}

/// `POST /schedules/{schedule}/run`: starts a run now.
pub(super) async fn run(
    State(app): State<Arc<App>>,
    Extension(actor): Extension<Actor>,
    Path(schedule): Path<String>,
) -> Result<Response, Problem> {
    let service = Arc::clone(&app.service);
    let start = async move { service.own_schedule(&actor, &schedule).await?.run_now().await };
    Ok(accepted(app.service.carry_out(start).await?))
}

/// `GET /schedules/{schedule}/occurrences`: what has become of the last times, newest first.
pub(super) async fn occurrences(
    State(app): State<Arc<App>>,
    Extension(actor): Extension<Actor>,
    Path(schedule): Path<String>,
) -> Result<Json<OccurrenceList>, Problem> {
    let own = app.service.own_schedule(&actor, &schedule).await?;
    let occurrences = own.occurrences(KEPT_OCCURRENCES.min(query::MAX_PAGE)).await?;
    Ok(Json(OccurrenceList {
        occurrences: occurrences.into_iter().map(Into::into).collect(),
    }))
}
