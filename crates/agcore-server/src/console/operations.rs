//! The pages of administrators. They show what the routes below `/api/v1/admin` return, and change the same.

mod guard;
mod convert;
mod overview;
mod tenants;
mod dead_letters;

use std::sync::Arc;

use axum::{
    Router, middleware,
    routing::{get, post},
};

use crate::service::App;

/// Returns the routes of the pages.
pub(super) fn routes(app: &Arc<App>) -> Router<Arc<App>> {
    const TENANT: &str = "/console/operations/tenants/{tenant}";
    const LETTER: &str = "/console/operations/tenants/{tenant}/dead-letters/{thread}/{run}";
    let administer = middleware::from_fn_with_state(Arc::clone(app), guard::administer);
    let operate = middleware::from_fn_with_state(Arc::clone(app), guard::operate);
    let administrators = Router::new()
        .route("/console/operations", get(overview::show))
        .route(TENANT, get(tenants::show))
        .route(&format!("{TENANT}/dead-letters"), get(dead_letters::list))
        .route(LETTER, get(dead_letters::show))
        .route(&format!("{LETTER}/restart"), post(dead_letters::restart))
        .route(
            &format!("{LETTER}/delete"),
            get(dead_letters::ask).post(dead_letters::discard),
        )
        .layer(administer);
    let operators = Router::new()
        .route("/console/operations/workers/{worker}", get(overview::worker))
        .route("/console/operations/workers/{worker}/drain", post(overview::drain))
        .route("/console/operations/workers/{worker}/undrain", post(overview::undrain))
        .route(&format!("{TENANT}/share"), post(tenants::set_share))
        .route(
            &format!("{TENANT}/share/delete"),
            get(tenants::ask_share).post(tenants::delete_share),
        )
        .route(&format!("{TENANT}/quotas"), post(tenants::set_quota))
        .route(
            &format!("{TENANT}/quotas/delete"),
            get(tenants::ask_quota).post(tenants::delete_quota),
        )
        .layer(operate);
    administrators.merge(operators)
}
