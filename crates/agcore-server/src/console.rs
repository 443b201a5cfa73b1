//! The console: pages for people, with what the other routes offer.

mod cookies;
mod form;
mod guard;
mod reply;
mod convert;
mod visitor;
mod live;
mod follow;
mod runs;
mod exact;
mod answers;
mod inbox;
mod bulk;
mod chat;
mod branch;
mod cost;
mod schedules;
mod webhooks;
mod operations;
mod login;

use std::sync::Arc;

use axum::{
    Router, middleware,
    response::{IntoResponse, Redirect, Response},
    routing::{get, post},
};

use crate::service::App;

/// Returns the routes of the pages.
pub(crate) fn routes(app: &Arc<App>) -> Router<Arc<App>> {
    let enter = middleware::from_fn_with_state(Arc::clone(app), guard::enter);
    let greet = middleware::from_fn_with_state(Arc::clone(app), guard::greet);
    let inside = Router::new()
        .route("/console", get(home))
        .route("/console/runs", get(runs::list))
        .route("/console/runs/{thread}/{run}", get(runs::show))
        .route("/console/runs/{thread}/{run}/cancel", post(runs::cancel))
        .route("/console/runs/{thread}/{run}/events/{event}", get(runs::event))
        .route("/console/inbox", get(inbox::list))
        .route("/console/inbox/bulk", post(bulk::answer))
        .route("/console/inbox/{thread}/{run}", post(inbox::answer))
        .route("/console/cost", get(cost::show))
        .route("/console/chat", get(chat::new).post(chat::begin))
        .route("/console/chat/{thread}", get(chat::show).post(chat::send))
        .route("/console/chat/{thread}/branch", post(branch::branch))
        .route("/console/live/runs", get(live::runs))
        .route("/console/live/runs/{thread}/{run}", get(live::run))
        .route("/console/live/inbox", get(live::inbox))
        .route("/console/live/chat/{thread}", get(follow::chat))
        .merge(kept())
        .route("/console/{*rest}", get(guard::nothing))
        .layer(enter);
    let outside = Router::new()
        .route("/console/login", get(login::show).post(login::enter))
        .route("/console/logout", post(login::logout))
        .route("/console/view", post(login::view))
        .layer(greet);
    inside
        .merge(outside)
        .merge(operations::routes(app))
        .route("/console/assets/{name}", get(reply::file))
        .layer(middleware::from_fn(reply::protect))
}

/// Returns the routes of what the server keeps for users.
fn kept() -> Router<Arc<App>> {
    const SCHEDULE: &str = "/console/schedules/{schedule}";
    const WEBHOOK: &str = "/console/webhooks/{webhook}";
    Router::new()
        .route("/console/schedules", get(schedules::list))
        .route(&format!("{SCHEDULE}/run"), post(schedules::run))
        .route(&format!("{SCHEDULE}/pause"), post(schedules::pause))
        .route(&format!("{SCHEDULE}/resume"), post(schedules::resume))
        .route(
            &format!("{SCHEDULE}/delete"),
            get(schedules::ask).post(schedules::delete),
        )
        .route("/console/webhooks", get(webhooks::list))
        .route(WEBHOOK, get(webhooks::show))
        .route(&format!("{WEBHOOK}/pause"), post(webhooks::pause))
        .route(&format!("{WEBHOOK}/resume"), post(webhooks::resume))
        .route(&format!("{WEBHOOK}/test"), post(webhooks::test))
        .route(
            &format!("{WEBHOOK}/deliveries/{{delivery}}/replay"),
            post(webhooks::replay),
        )
        .route(&format!("{WEBHOOK}/delete"), get(webhooks::ask).post(webhooks::delete))
}

/// `GET /console`: leads to the runs.
async fn home() -> Response {
    Redirect::to("/console/runs").into_response()
}
