//! The first page of administrators, and the pages of workers.

use std::sync::Arc;

use agcore_console::{OperationsView, WorkerView, encoded, operations_page, worker_page};
use axum::{
    Extension,
    extract::{Path, State},
    response::Response,
};
use http::Uri;
use serde::Deserialize;

use super::{convert, guard::answer};
use crate::{
    console::{
        form::Form,
        reply::{page, see},
        visitor::Operator,
    },
    problem::Problem,
    routes::parameters,
    service::App,
};

/// The number of tenants on a page.
const TENANTS: u64 = 50;

#[derive(Debug, Default, Deserialize)]
pub(super) struct PageQuery {
    pub(super) cursor: Option<String>,
}

/// `GET /console/operations`: the state of the server, its workers, and the queues of tenants.
pub(super) async fn show(State(app): State<Arc<App>>, Extension(operator): Extension<Operator>, uri: Uri) -> Response {
    let shown = async {
        let PageQuery { cursor } = parameters(&uri)?;
        let cursor = cursor.filter(|cursor| !cursor.is_empty());
        let service = &app.service;
        let tenants = &operator.administrator.tenants;
        let (tenants, next) = service.tenants(tenants, cursor.clone(), TENANTS).await?;
        let workers = match operator.administrator.manages_all() {
            true => Some(service.workers().await?.into_iter().map(convert::worker).collect()),
            false => None,
        };
        let problem = service.ready().await.err();
        let view = OperationsView {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            problem: problem.map(|problem| problem.detail().to_owned()),
            workers,
            tenants: tenants.into_iter().map(convert::tenant).collect(),
            cursor,
            next,
        };
        Ok(page(operations_page(&operator.shell(&app), &view)))
    };
    answer(&app, &operator, shown.await).await
}

/// `GET /console/operations/workers/{worker}`: a process with the runs that it has.
pub(super) async fn worker(
    State(app): State<Arc<App>>,
    Extension(operator): Extension<Operator>,
    Path(worker): Path<String>,
) -> Response {
    let shown = async {
        let (worker, held) = app.service.worker(&worker).await?;
        let view = WorkerView {
            worker: convert::worker(worker),
            leases: held.into_iter().map(convert::lease).collect(),
        };
        Ok(page(worker_page(&operator.shell(&app), &view)))
    };
    answer(&app, &operator, shown.await).await
}

/// `POST /console/operations/workers/{worker}/drain`: asks a process to claim no more runs.
pub(super) async fn drain(
    State(app): State<Arc<App>>,
    Extension(operator): Extension<Operator>,
    Path(worker): Path<String>,
    _: Form,
) -> Response {
    let drained = set(&app, &worker, true).await;
    answer(&app, &operator, drained).await
}

/// `POST /console/operations/workers/{worker}/undrain`: takes that back.
pub(super) async fn undrain(
    State(app): State<Arc<App>>,
    Extension(operator): Extension<Operator>,
    Path(worker): Path<String>,
    _: Form,
) -> Response {
    let drained = set(&app, &worker, false).await;
    answer(&app, &operator, drained).await
}

async fn set(app: &App, worker: &str, drains: bool) -> Result<Response, Problem> {
    app.service.drain_worker(worker, drains).await?;
    Ok(see(&format!("/console/operations/workers/{}", encoded(worker))))
}
