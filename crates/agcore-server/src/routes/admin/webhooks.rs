//! The webhooks of all users of a tenant, and those for all of its runs.

use std::sync::Arc;

use agcore_webhook::WebhookChange;
use axum::{
    Json,
    body::Body,
    extract::{Path, State},
    response::Response,
};
use http::{HeaderMap, StatusCode, Uri};

use super::{
    super::{
        body, query,
        webhooks::{accepted, deliveries_of},
    },
    schedules::OwnersQuery,
};
use crate::{
    api::{DeliveryPage, PauseBody, TenantWebhookPage, TenantWebhookView},
    problem::Problem,
    service::App,
};

/// `GET /tenants/{tenant}/webhooks`: the webhooks of all users or of one, in the order of their ids.
pub(super) async fn list(
    State(app): State<Arc<App>>,
    Path(tenant): Path<String>,
    uri: Uri,
) -> Result<Json<TenantWebhookPage>, Problem> {
    let OwnersQuery { user, cursor, limit } = query::parameters(&uri)?;
    let limit = query::page_size(limit)?;
    let (found, cursor) = app.service.tenant_webhooks(&tenant, user, cursor, limit).await?;
    let webhooks = found.iter().map(TenantWebhookView::from).collect();
    Ok(Json(TenantWebhookPage { webhooks, cursor }))
}

/// `PATCH /tenants/{tenant}/webhooks/{webhook}`: pauses or resumes a webhook.
pub(super) async fn change(
    State(app): State<Arc<App>>,
    Path((tenant, webhook)): Path<(String, String)>,
    headers: HeaderMap,
    body: Body,
) -> Result<Json<TenantWebhookView>, Problem> {
    let service = &app.service;
    let read = body::read(&headers, body, &service.limits, &*service.clock).await?;
    let PauseBody { paused, revision } = body::parse(&read)?;
    let mut found = service.tenant_webhook(&tenant, &webhook).await?;
    let mut change = WebhookChange::new();
    change.is_paused = Some(paused);
    found.change(revision, change).await?;
    Ok(Json(found.webhook().into()))
}

/// `DELETE /tenants/{tenant}/webhooks/{webhook}`: deletes a webhook with its messages.
pub(super) async fn delete(
    State(app): State<Arc<App>>,
    Path((tenant, webhook)): Path<(String, String)>,
) -> Result<StatusCode, Problem> {
    app.service.tenant_webhook(&tenant, &webhook).await?.delete().await?;
    Ok(StatusCode::NO_CONTENT)
}

/// `GET /tenants/{tenant}/webhooks/{webhook}/deliveries`: the messages, newest first, such as those that were given up.
pub(super) async fn deliveries(
    State(app): State<Arc<App>>,
    Path((tenant, webhook)): Path<(String, String)>,
    uri: Uri,
) -> Result<Json<DeliveryPage>, Problem> {
    let found = app.service.tenant_webhook(&tenant, &webhook).await?;
    deliveries_of(&found, &uri).await
}

/// `POST /tenants/{tenant}/webhooks/{webhook}/deliveries/{delivery}/replay`: sends a message again.
pub(super) async fn replay(
    State(app): State<Arc<App>>,
    Path((tenant, webhook, delivery)): Path<(String, String, String)>,
) -> Result<Response, Problem> {
    let found = app.service.tenant_webhook(&tenant, &webhook).await?;
    Ok(accepted(found.replay(&delivery).await?.into()))
}
