//! The routes for operators and developers, and requests for which there is no route.

use std::sync::Arc;

use axum::{
    Json,
    extract::State,
    response::{IntoResponse, Response},
};
use http::header;
use serde_json::{Value, json};

use crate::{
    problem::{Problem, ProblemCode},
    service::App,
};

/// `GET /health`: whether the process answers. Asks neither the database nor a vendor.
pub(super) async fn health() -> Json<Value> {
    Json(json!({"status": "ok"}))
}

/// `GET /ready`: whether the server takes requests and reaches its database.
pub(super) async fn ready(State(app): State<Arc<App>>) -> Result<Json<Value>, Problem> {
    app.service.ready().await?;
    Ok(Json(json!({"status": "ready"})))
}

/// `GET /ready` of a worker: whether it reaches its database, and keeps its leases.
pub(super) async fn worker_ready(State(app): State<Arc<App>>) -> Result<Json<Value>, Problem> {
    let service = &app.service;
    if service.stopping.is_cancelled() {
        return Err(Problem::new(ProblemCode::ShuttingDown, "the worker is shutting down"));
    }
    if !service.leasing.is_answered(service.clock.monotonic()) {
        let detail =
            "the database has not answered for the length of a lease; the runs of this worker continue elsewhere";
        return Err(Problem::new(ProblemCode::StoreUnavailable, detail));
    }
    let (slots, free) = service.leasing.places();
    Ok(Json(json!({
        "status": "ready",
        "slots": slots,
        "freeSlots": free,
        "runs": service.active.len(),
        "claims": service.leasing.claims(),
    })))
}

/// `GET /metrics`: what the server counts, in the text form of Prometheus. Where administrators look after tenants, users do not
/// see the metrics of the program: these name the agents, models and tools of all tenants.
pub(super) async fn metrics(State(app): State<Arc<App>>) -> Response {
    numbers(app.service.metrics.text(app.administrators.is_empty()))
}

/// `GET /metrics` of a worker, which has no users: all that it counts.
pub(super) async fn worker_metrics(State(app): State<Arc<App>>) -> Response {
    numbers(app.service.metrics.text(true))
}

fn numbers(text: String) -> Response {
    let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    ([(header::CONTENT_TYPE, kind)], text).into_response()
}

/// `GET /openapi.json`: the document.
pub(super) async fn document(State(app): State<Arc<App>>) -> Response {
    let headers = [(header::CONTENT_TYPE, "application/json")];
    (headers, app.description.document.clone()).into_response()
}

/// `GET /docs`: a page that shows the document. It loads nothing.
pub(super) async fn page(State(app): State<Arc<App>>) -> Response {
    let policy = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'";
    let headers = [
        (header::CONTENT_TYPE, "text/html; charset=utf-8"),
        (header::CONTENT_SECURITY_POLICY, policy),
    ];
    (headers, app.description.page.clone()).into_response()
}

/// Answers requests for paths that do not exist.
pub(super) async fn route() -> Response {
    Problem::new(ProblemCode::NotFound, "there is no such path; see /docs").into_response()
}

/// Answers requests with a method that a path does not have.
pub(super) async fn method() -> Response {
    let detail = "the path exists, but not with this method; see /docs";
    Problem::new(ProblemCode::MethodNotAllowed, detail).into_response()
}
