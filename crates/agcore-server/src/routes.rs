//! The routes of the server.

mod body;
mod query;
mod guard;
mod dialect;
mod runs;
mod events;
mod sessions;
mod history;
mod files;
mod usage;
mod catalog;
mod operations;

pub(crate) use self::guard::Peer;

use std::sync::Arc;

use axum::{
    Router, middleware,
    routing::{get, post},
};

use crate::{openapi, service::App};

/// Returns all routes.
pub(crate) fn router(app: Arc<App>) -> Router {
    let api = Router::new()
        .route("/run", post(runs::run))
        .route("/agents/{name}/run", post(runs::run_agent))
        .route("/runs/{thread}", post(runs::start))
        .route("/runs/{thread}/events", get(events::follow))
        .route("/runs/{thread}/{run}/cancel", post(runs::cancel))
        .route("/runs/{thread}/{run}/answers", post(runs::answer))
        .route("/history", get(history::history))
        .route("/sessions", get(sessions::list))
        .route(
            "/sessions/{thread}",
            get(sessions::show).patch(sessions::rename).delete(sessions::delete),
        )
        .route("/files", get(files::list).post(files::upload))
        .route("/files/{file}", axum::routing::delete(files::delete))
        .route("/usage", get(usage::usage))
        .route("/agents", get(catalog::agents))
        .route("/models", get(catalog::models))
        .method_not_allowed_fallback(operations::method)
        .layer(middleware::from_fn_with_state(Arc::clone(&app), guard::authenticate));
    let guarded = Router::new()
        .route("/metrics", get(operations::metrics))
        .layer(middleware::from_fn_with_state(Arc::clone(&app), guard::authenticate));
    Router::new()
        .nest("/api/v1/agent", api)
        .merge(guarded)
        .route("/health", get(operations::health))
        .route("/ready", get(operations::ready))
        .route("/openapi.json", get(openapi::document))
        .route("/docs", get(openapi::page))
        .method_not_allowed_fallback(operations::method)
        .fallback(operations::route)
        .layer(middleware::from_fn_with_state(Arc::clone(&app), guard::count))
        .layer(middleware::from_fn_with_state(Arc::clone(&app), guard::origin))
        .with_state(app)
}
