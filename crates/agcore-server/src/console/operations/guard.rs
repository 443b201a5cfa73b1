//! Access to the pages of administrators, and the log of what they change.

use std::sync::Arc;

use axum::{
    extract::{Request, State},
    middleware::Next,
    response::Response,
};

use crate::{
    auth::Administrator,
    console::{
        guard::{known, with_form_cookie},
        reply::{problem, problem_for_guest},
        visitor::{Guest, Operator},
    },
    problem::Problem,
    routes::{Audit, may_administer, may_operate, tenant_of},
    service::App,
    telemetry::span,
};

/// Lets administrators pass, to the tenants that they look after. For others, the pages do not exist.
pub(super) async fn administer(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    pass(&app, request, next, may_administer).await
}

/// Lets administrators of all tenants pass.
pub(super) async fn operate(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    pass(&app, request, next, may_operate).await
}

async fn pass(
    app: &Arc<App>,
    request: Request,
    next: Next,
    check: fn(&Administrator, Option<&str>) -> Result<(), Problem>,
) -> Response {
    let (mut parts, body) = request.into_parts();
    let (guest, is_new) = match known(app, &parts).await {
        Ok(known) => known,
        Err(response) => return response,
    };
    let visit = guest.visit().clone();
    let response = match &guest {
        Guest::User(_) => problem_for_guest(app, &guest, Problem::unknown("page")).await,
        Guest::Administrator(operator) => {
            let tenant = match tenant_of(&mut parts).await {
                Ok(tenant) => tenant,
                Err(found) => return problem(&operator.shell(app), &found),
            };
            span::sent_by_administrator(&operator.administrator.name, tenant.as_deref());
            let audit = Audit::of(&parts, &operator.administrator, tenant.clone());
            let response = match check(&operator.administrator, tenant.as_deref()) {
                Err(found) => problem(&operator.shell(app), &found),
                Ok(()) => {
                    parts.extensions.insert(operator.clone());
                    parts.extensions.insert(guest.clone());
                    next.run(Request::from_parts(parts, body)).await
                }
            };
            audit.answered(response.status());
            response
        }
    };
    with_form_cookie(response, &visit, is_new)
}

/// Returns an answer, or the page of its problem.
pub(super) async fn answer(app: &Arc<App>, operator: &Operator, result: Result<Response, Problem>) -> Response {
    match result {
        Ok(response) => response,
        Err(found) => problem(&operator.shell(app), &found),
    }
}
