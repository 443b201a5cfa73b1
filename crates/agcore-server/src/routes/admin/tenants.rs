//! Tenants with their runs and shares.

use std::sync::Arc;

use axum::{
    Extension, Json,
    body::Body,
    extract::{Path, State},
};
use http::{HeaderMap, StatusCode, Uri};

use super::super::{body, query, sessions::PageQuery};
use crate::{
    api::{ShareBody, TenantPage, TenantView},
    auth::Administrator,
    problem::Problem,
    service::App,
};

/// `GET /tenants`: the tenants of the administrator, in the order of their names.
pub(super) async fn list(
    State(app): State<Arc<App>>,
    Extension(administrator): Extension<Administrator>,
    uri: Uri,
) -> Result<Json<TenantPage>, Problem> {
    let PageQuery { cursor, limit } = query::parameters(&uri)?;
    let limit = query::page_size(limit)?;
    let (tenants, cursor) = app.service.tenants(&administrator.tenants, cursor, limit).await?;
    let tenants = tenants.into_iter().map(TenantView::from).collect();
    Ok(Json(TenantPage { tenants, cursor }))
}

/// `GET /tenants/{tenant}`: a tenant.
pub(super) async fn show(State(app): State<Arc<App>>, Path(tenant): Path<String>) -> Result<Json<TenantView>, Problem> {
    Ok(Json(app.service.tenant(&tenant).await?.into()))
}

/// `PUT /tenants/{tenant}/share`: sets the share in all workers.
pub(super) async fn set_share(
    State(app): State<Arc<App>>,
    Path(tenant): Path<String>,
    headers: HeaderMap,
    body: Body,
) -> Result<Json<TenantView>, Problem> {
    let service = &app.service;
    let read = body::read(&headers, body, &service.limits, &*service.clock).await?;
    let share: ShareBody = body::parse(&read)?;
    service.set_share(&tenant, share.into()).await?;
    Ok(Json(service.tenant(&tenant).await?.into()))
}

/// `DELETE /tenants/{tenant}/share`: deletes the share, so that the default applies.
pub(super) async fn delete_share(
    State(app): State<Arc<App>>,
    Path(tenant): Path<String>,
) -> Result<StatusCode, Problem> {
    app.service.delete_share(&tenant).await?;
    Ok(StatusCode::NO_CONTENT)
}
