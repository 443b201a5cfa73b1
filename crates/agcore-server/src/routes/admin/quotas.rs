//! The quotas of a tenant.

use std::sync::Arc;

use agcore_chat::Actor;
use agcore_session::quota::{Quota, QuotaScope, QuotaWindow};
use axum::{
    Json,
    body::Body,
    extract::{Path, State},
};
use http::{HeaderMap, StatusCode, Uri};
use serde::Deserialize;

use super::super::{body, query};
use crate::{
    api::{QuotaLimitsBody, QuotaList, QuotaView, TenantQuotaList, TenantQuotaView},
    problem::Problem,
    service::App,
};

#[derive(Deserialize)]
struct UserQuery {
    user: Option<String>,
}

/// `GET /tenants/{tenant}/quotas`: the quotas of the tenant itself, without those of every tenant in the settings.
pub(super) async fn list(
    State(app): State<Arc<App>>,
    Path(tenant): Path<String>,
) -> Result<Json<TenantQuotaList>, Problem> {
    let quotas = app.service.tenant_quotas(&tenant).await?;
    Ok(Json(TenantQuotaList {
        quotas: quotas.iter().map(TenantQuotaView::from).collect(),
    }))
}

/// `GET /tenants/{tenant}/quotas/usage`: the quotas that apply to a user, with the amounts that are used.
pub(super) async fn usage(
    State(app): State<Arc<App>>,
    Path(tenant): Path<String>,
    uri: Uri,
) -> Result<Json<QuotaList>, Problem> {
    let UserQuery { user } = query::parameters(&uri)?;
    let user = user.ok_or_else(|| Problem::invalid("the parameter `user` is missing; name the user"))?;
    let found = app.service.own_quotas(&Actor::new(tenant, user)).await?;
    let quotas = found.into_iter().map(QuotaView::from).collect();
    Ok(Json(QuotaList { quotas }))
}

/// `PUT /tenants/{tenant}/quotas/{scope}/{window}`: sets the quota of the tenant, or of each of its users.
pub(super) async fn set(
    State(app): State<Arc<App>>,
    Path((tenant, scope, window)): Path<(String, String, String)>,
    headers: HeaderMap,
    body: Body,
) -> Result<Json<TenantQuotaView>, Problem> {
    let quota = Quota::new(scope_of(&scope)?, window_of(&window)?);
    put(&app, &tenant, quota, &headers, body).await
}

/// `PUT /tenants/{tenant}/quotas/users/{user}/{window}`: sets the quota of a user.
pub(super) async fn set_of_user(
    State(app): State<Arc<App>>,
    Path((tenant, user, window)): Path<(String, String, String)>,
    headers: HeaderMap,
    body: Body,
) -> Result<Json<TenantQuotaView>, Problem> {
    let quota = Quota::new(QuotaScope::User(user), window_of(&window)?);
    put(&app, &tenant, quota, &headers, body).await
}

async fn put(
    app: &App,
    tenant: &str,
    mut quota: Quota,
    headers: &HeaderMap,
    body: Body,
) -> Result<Json<TenantQuotaView>, Problem> {
    let service = &app.service;
    let read = body::read(headers, body, &service.limits, &*service.clock).await?;
    let limits: QuotaLimitsBody = body::parse(&read)?;
    limits.apply_to(&mut quota)?;
    service.set_tenant_quota(tenant, &quota).await?;
    Ok(Json(TenantQuotaView::from(&quota)))
}

/// `DELETE /tenants/{tenant}/quotas/{scope}/{window}`: deletes the quota of the tenant, or of each of its users.
pub(super) async fn delete(
    State(app): State<Arc<App>>,
    Path((tenant, scope, window)): Path<(String, String, String)>,
) -> Result<StatusCode, Problem> {
    let (scope, window) = (scope_of(&scope)?, window_of(&window)?);
    app.service.delete_tenant_quota(&tenant, &scope, window).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// `DELETE /tenants/{tenant}/quotas/users/{user}/{window}`: deletes the quota of a user.
pub(super) async fn delete_of_user(
    State(app): State<Arc<App>>,
    Path((tenant, user, window)): Path<(String, String, String)>,
) -> Result<StatusCode, Problem> {
    let (scope, window) = (QuotaScope::User(user), window_of(&window)?);
    app.service.delete_tenant_quota(&tenant, &scope, window).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Reads a scope as the forms of the console send it: with the name of the user, if it is that of one.
///
/// # Errors
/// `invalid_request` if there is no such scope, or the name is missing.
#[cfg(feature = "console")]
pub(crate) fn quota_scope(name: &str, user: &str) -> Result<QuotaScope, Problem> {
    match (name, user) {
        ("user", "") => Err(Problem::invalid("the quota of one user needs the name of the user")),
        ("user", user) => Ok(QuotaScope::User(user.to_owned())),
        (name, _) => scope_of(name),
    }
}

/// Quotas of one user have a path of their own.
fn scope_of(name: &str) -> Result<QuotaScope, Problem> {
    let scope = QuotaScope::from_name(name, "").filter(|scope| scope.user().is_none());
    scope.ok_or_else(|| Problem::invalid("the scope of the quota must be `tenant` or `each_user`, or `users/NAME`"))
}

pub(crate) fn window_of(name: &str) -> Result<QuotaWindow, Problem> {
    let window = QuotaWindow::ALL.into_iter().find(|window| window.as_str() == name);
    window.ok_or_else(|| Problem::invalid("the period of the quota must be `minute`, `hour`, `day` or `month`"))
}
