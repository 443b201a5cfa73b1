//! The processes that execute runs.

use std::sync::Arc;

use axum::{
    Json,
    extract::{Path, State},
};

use crate::{
    api::{LeaseView, WorkerDetails, WorkerList, WorkerView},
    problem::Problem,
    service::App,
};

/// `GET /workers`: the processes that report, those that were started first come first.
pub(super) async fn list(State(app): State<Arc<App>>) -> Result<Json<WorkerList>, Problem> {
    let workers = app.service.workers().await?;
    Ok(Json(WorkerList {
        workers: workers.into_iter().map(WorkerView::from).collect(),
    }))
}

/// `GET /workers/{worker}`: a process with the runs that it has.
pub(super) async fn show(
    State(app): State<Arc<App>>,
    Path(worker): Path<String>,
) -> Result<Json<WorkerDetails>, Problem> {
    let (worker, held) = app.service.worker(&worker).await?;
    Ok(Json(WorkerDetails {
        worker: worker.into(),
        leases: held.into_iter().map(LeaseView::from).collect(),
    }))
}

/// `POST /workers/{worker}/drain`: asks a process to claim no more runs.
pub(super) async fn drain(
    State(app): State<Arc<App>>,
    Path(worker): Path<String>,
) -> Result<Json<WorkerView>, Problem> {
    Ok(Json(app.service.drain_worker(&worker, true).await?.into()))
}

/// `DELETE /workers/{worker}/drain`: takes that back.
pub(super) async fn undrain(
    State(app): State<Arc<App>>,
    Path(worker): Path<String>,
) -> Result<Json<WorkerView>, Problem> {
    Ok(Json(app.service.drain_worker(&worker, false).await?.into()))
}
