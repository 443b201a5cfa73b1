//! The page of the schedules of a user, and what its forms change.

use std::sync::Arc;

use agcore_chat::{Actor, Timestamp};
use agcore_console::{
    Change, ConfirmView, LastOccurrence, ScheduleOutcome, ScheduleRow, ScheduleTiming, SchedulesView, confirm_page,
    encoded, schedules_page,
};
use agcore_schedule::{Occurrence, Outcome, Schedule, ScheduleChange, SkipReason, Timing};
use axum::{
    Extension,
    extract::{Path, State},
    response::Response,
};
use http::Uri;
use serde::Deserialize;

use super::{
    form::Form,
    reply::{page, see},
    runs::answer,
    visitor::Visitor,
};
use crate::{problem::Problem, routes::parameters, service::App};

/// The number of schedules on a page.
const SCHEDULES: u64 = 50;

/// The address of the list.
const ROOT: &str = "/console/schedules";

#[derive(Debug, Default, Deserialize)]
struct PageQuery {
    cursor: Option<String>,
}

/// `GET /console/schedules`: the schedules, in the order of their ids.
pub(super) async fn list(State(app): State<Arc<App>>, Extension(visitor): Extension<Visitor>, uri: Uri) -> Response {
    let shown = async {
        let PageQuery { cursor } = parameters(&uri)?;
        let cursor = cursor.filter(|cursor| !cursor.is_empty());
        let (own, next) = app
            .service
            .own_schedules(&visitor.actor, cursor.clone(), SCHEDULES)
            .await?;
        let view = SchedulesView {
            schedules: own.iter().map(|own| row(own.schedule())).collect(),
            cursor,
            next,
        };
        Ok(page(schedules_page(&visitor.shell(&app).await?, &view)))
    };
    answer(&app, &visitor, shown.await).await
}

/// `POST /console/schedules/{schedule}/pause`: pauses a schedule.
pub(super) async fn pause(
    State(app): State<Arc<App>>,
    Extension(visitor): Extension<Visitor>,
    Path(schedule): Path<String>,
    _: Form,
) -> Response {
    let changed = set_paused(&app, &visitor.actor, &schedule, true).await;
    answer(&app, &visitor, changed).await
}

/// `POST /console/schedules/{schedule}/resume`: resumes a schedule at its next time.
pub(super) async fn resume(
    State(app): State<Arc<App>>,
    Extension(visitor): Extension<Visitor>,
    Path(schedule): Path<String>,
    _: Form,
) -> Response {
    let changed = set_paused(&app, &visitor.actor, &schedule, false).await;
    answer(&app, &visitor, changed).await
}

async fn set_paused(app: &App, actor: &Actor, schedule: &str, is_paused: bool) -> Result<Response, Problem> {
    let mut change = ScheduleChange::new();
    change.is_paused = Some(is_paused);
    app.service
        .own_schedule(actor, schedule)
        .await?
        .change(None, change)
        .await?;
    Ok(see(ROOT))
}

/// `POST /console/schedules/{schedule}/run`: starts a run now, and leads to it.
pub(super) async fn run(
    State(app): State<Arc<App>>,
    Extension(visitor): Extension<Visitor>,
    Path(schedule): Path<String>,
    _: Form,
) -> Response {
    let (service, actor) = (Arc::clone(&app.service), visitor.actor.clone());
    let start = async move { service.own_schedule(&actor, &schedule).await?.run_now().await };
    let started = app.service.carry_out(start).await;
    let started = started.map(|run| see(&format!("/console/runs/{}/{}", encoded(&run.thread), encoded(&run.run))));
    answer(&app, &visitor, started).await
}

/// `GET /console/schedules/{schedule}/delete`: asks whether a schedule is to be deleted.
pub(super) async fn ask(
    State(app): State<Arc<App>>,
    Extension(visitor): Extension<Visitor>,
    Path(schedule): Path<String>,
) -> Response {
    let shown = async {
        let own = app.service.own_schedule(&visitor.actor, &schedule).await?;
        let row = row(own.schedule());
        let view = ConfirmView {
            change: Change::DeleteSchedule,
            action: format!("{}/delete", row.address()),
            subject: row.title.into_iter().chain([row.id]).collect(),
            fields: Vec::new(),
            back: ROOT.to_owned(),
        };
        Ok(page(confirm_page(&visitor.shell(&app).await?, &view)))
    };
    answer(&app, &visitor, shown.await).await
}

/// `POST /console/schedules/{schedule}/delete`: deletes a schedule. Runs that it has started continue.
pub(super) async fn delete(
    State(app): State<Arc<App>>,
    Extension(visitor): Extension<Visitor>,
    Path(schedule): Path<String>,
    _: Form,
) -> Response {
    let deleted = async {
        app.service
            .own_schedule(&visitor.actor, &schedule)
            .await?
            .delete()
            .await?;
        Ok(see(ROOT))
    };
    answer(&app, &visitor, deleted.await).await
}

fn row(schedule: &Schedule) -> ScheduleRow {
    ScheduleRow {
        id: schedule.id.clone(),
        title: schedule.title.clone(),
        timing: match &schedule.timing {
            Timing::Cron { expression, zone } => ScheduleTiming::Cron(expression.clone(), zone.clone()),
            Timing::Every { seconds, .. } => ScheduleTiming::Every(*seconds),
            Timing::At(at) => ScheduleTiming::Once(at.as_millis()),
            // A later version has stored it.
            _ => ScheduleTiming::Cron("?".to_owned(), String::new()),
        },
        is_paused: schedule.is_paused,
        next: schedule.next_at.map(Timestamp::as_millis),
        last: schedule.last.as_ref().map(last),
    }
}

fn last(occurrence: &Occurrence) -> LastOccurrence {
    LastOccurrence {
        at: occurrence.at.as_millis(),
        outcome: match occurrence.outcome {
            Outcome::Started => ScheduleOutcome::Started,
            Outcome::Skipped(SkipReason::Missed) => ScheduleOutcome::Missed,
            Outcome::Skipped(SkipReason::Overlap) => ScheduleOutcome::Overlap,
            Outcome::Skipped(_) => ScheduleOutcome::Refused,
        },
        run: occurrence.run.as_ref().map(|run| (run.thread.clone(), run.run.clone())),
        count: occurrence.count,
    }
}
