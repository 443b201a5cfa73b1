//! Checks of every request of an administrator: credentials, tenants, and the log of changes.

use std::sync::Arc;

use axum::{
    extract::{FromRequestParts, RawPathParams, Request, State},
    middleware::Next,
    response::{IntoResponse, Response},
};
use http::{Method, StatusCode, request::Parts};

use super::super::guard::{client_of, user_of};
use crate::{
    auth::Administrator,
    problem::{Problem, ProblemCode},
    service::App,
    telemetry::span,
};

/// The longest part of a path that is logged, in characters.
const MAX_PATH: usize = 1024;

/// Lets administrators pass, to the tenants that they look after. For others, a tenant does not exist.
pub(in crate::routes) async fn administer(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    pass(&app, request, next, may_administer).await
}

/// # Errors
/// `not_found` if the administrator does not look after the tenant.
pub(crate) fn may_administer(administrator: &Administrator, tenant: Option<&str>) -> Result<(), Problem> {
    match tenant {
        Some(tenant) if !administrator.manages(tenant) => Err(Problem::unknown("tenant")),
        _ => Ok(()),
    }
}

/// Lets administrators of all tenants pass.
pub(in crate::routes) async fn operate(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    pass(&app, request, next, may_operate).await
}

/// # Errors
/// `not_found` if the administrator does not look after the tenant, and `forbidden` if not after all of them.
pub(crate) fn may_operate(administrator: &Administrator, tenant: Option<&str>) -> Result<(), Problem> {
    match tenant {
        _ if administrator.manages_all() => Ok(()),
        Some(tenant) if !administrator.manages(tenant) => Err(Problem::unknown("tenant")),
        Some(_) => {
            let detail = "only administrators of all tenants change shares and quotas, which limit a tenant";
            Err(Problem::new(ProblemCode::Forbidden, detail))
        }
        None => {
            let detail = "only administrators of all tenants look after workers, because these work for all tenants";
            Err(Problem::new(ProblemCode::Forbidden, detail))
        }
    }
}

async fn pass(
    app: &App,
    request: Request,
    next: Next,
    check: impl Fn(&Administrator, Option<&str>) -> Result<(), Problem>,
) -> Response {
    // Without the body, which cannot be shared between threads.
    let (mut parts, body) = request.into_parts();
    let administrator = match administrator_of(app, &parts).await {
        Ok(administrator) => administrator,
        Err(problem) => return problem.into_response(),
    };
    let tenant = match tenant_of(&mut parts).await {
        Ok(tenant) => tenant,
        Err(problem) => return problem.into_response(),
    };
    span::sent_by_administrator(&administrator.name, tenant.as_deref());
    let audit = Audit::of(&parts, &administrator, tenant.clone());
    let response = match check(&administrator, tenant.as_deref()) {
        Err(problem) => problem.into_response(),
        Ok(()) => {
            parts.extensions.insert(administrator);
            next.run(Request::from_parts(parts, body)).await
        }
    };
    audit.answered(response.status());
    response
}

async fn administrator_of(app: &App, request: &Parts) -> Result<Administrator, Problem> {
    let client = client_of(request);
    for authenticator in &app.administrators {
        if let Some(administrator) = authenticator.administrator(&client).await? {
            return Ok(administrator);
        }
    }
    if user_of(app, &client).await?.is_some() {
        let detail = "the credentials are those of a user; these routes are for administrators";
        return Err(Problem::new(ProblemCode::Forbidden, detail));
    }
    let detail = "the request has no credentials of an administrator; send a token with `Authorization: Bearer`";
    Err(Problem::new(ProblemCode::Unauthenticated, detail))
}

/// Returns the tenant in the path, if the route has one.
pub(crate) async fn tenant_of(request: &mut Parts) -> Result<Option<String>, Problem> {
    let parameters = RawPathParams::from_request_parts(request, &()).await;
    let parameters = parameters.map_err(|_| Problem::invalid("the path is not encoded UTF-8"))?;
    let found = parameters.iter().find(|(name, _)| *name == "tenant");
    Ok(found.map(|(_, tenant)| tenant.to_owned()))
}

/// The part of a request of an administrator that is logged when this is dropped, also if the client has not waited for the answer.
pub(crate) struct Audit {
    administrator: String,
    method: Method,
    path: String,
    tenant: Option<String>,
    /// The status of the answer; `None` if the client left before there was one.
    status: Option<StatusCode>,
}

impl Audit {
    pub(crate) fn of(request: &Parts, administrator: &Administrator, tenant: Option<String>) -> Self {
        // Without the query, and so encoded that it has no control characters.
        let path = request.uri.path();
        Self {
            administrator: administrator.name.clone(),
            method: request.method.clone(),
            path: path.chars().take(MAX_PATH).collect(),
            tenant,
            status: None,
        }
    }

    /// Logs the request with the status of its answer.
    pub(crate) fn answered(mut self, status: StatusCode) {
        self.status = Some(status);
    }
}

impl Drop for Audit {
    /// Logs a change, also one that was refused. It is a warning, because servers log those by default. The body is not part of
    /// this: it may contain secrets.
    fn drop(&mut self) {
        if matches!(self.method, Method::GET | Method::HEAD) {
            return;
        }
        let Self {
            administrator,
            method,
            path,
            tenant,
            status,
        } = self;
        let what = match status {
            // Pages lead to others after a change.
            Some(status) if status.is_success() || status.is_redirection() => "an administrator has made a change",
            Some(_) => "a change by an administrator was refused",
            None => "an administrator has left before a change was answered; it may have been made",
        };
        let status = status.map(|status| status.as_u16());
        tracing::warn!(administrator, %method, path, tenant, status, "{what}");
    }
}
