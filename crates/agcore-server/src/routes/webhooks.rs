//! The webhooks of a user.

use std::sync::Arc;

use agcore_chat::Actor;
use agcore_webhook::{DeliveryFilter, DeliveryState, WebhookChange};
use axum::{
    Extension, Json,
    body::Body,
    extract::{Path, State},
    response::{IntoResponse, Response},
};
use http::{HeaderMap, HeaderValue, StatusCode, Uri, header};
use serde::Deserialize;

use super::{body, query, sessions::PageQuery};
use crate::{
    api::{DeliveryPage, DeliveryView, NewWebhookBody, WebhookChangeBody, WebhookPage, WebhookView, WebhookWithSecret},
    problem::Problem,
    service::{App, OwnedWebhook},
};

/// `GET /webhooks`: the webhooks, in the order of their ids.
pub(super) async fn list(
    State(app): State<Arc<App>>,
    Extension(actor): Extension<Actor>,
    uri: Uri,
) -> Result<Json<WebhookPage>, Problem> {
    let PageQuery { cursor, limit } = query::parameters(&uri)?;
    let limit = query::page_size(limit)?;
    let (own, cursor) = app.service.own_webhooks(&actor, cursor, limit).await?;
    let webhooks = own.iter().map(WebhookView::from).collect();
    Ok(Json(WebhookPage { webhooks, cursor }))
}

/// `POST /webhooks`: creates a webhook. This answer has its secret.
pub(super) async fn create(
    State(app): State<Arc<App>>,
    Extension(actor): Extension<Actor>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let service = &app.service;
    let read = body::read(&headers, body, &service.limits, &*service.clock).await?;
    let NewWebhookBody {
        url,
        title,
        events,
        paused,
    } = body::parse(&read)?;
    let described = |new: agcore_webhook::NewWebhook| {
        let mut new = new.with_events(events);
        new.title = title;
        new.is_paused = paused;
        new
    };
    let created = service.create_webhook(&actor, url, described).await?;
    Ok(secret(StatusCode::CREATED, &WebhookWithSecret::from(&created)))
}

/// `GET /webhooks/{webhook}`: a webhook.
pub(super) async fn show(
    State(app): State<Arc<App>>,
    Extension(actor): Extension<Actor>,
    Path(webhook): Path<String>,
) -> Result<Json<WebhookView>, Problem> {
    let own = app.service.own_webhook(&actor, &webhook).await?;
    Ok(Json(own.webhook().into()))
}

/// `PATCH /webhooks/{webhook}`: changes, pauses or resumes a webhook.
pub(super) async fn change(
    State(app): State<Arc<App>>,
    Extension(actor): Extension<Actor>,
    Path(webhook): Path<String>,
    headers: HeaderMap,
    body: Body,
) -> Result<Json<WebhookView>, Problem> {
    let service = &app.service;
    let read = body::read(&headers, body, &service.limits, &*service.clock).await?;
    let wanted: WebhookChangeBody = body::parse(&read)?;
    let mut own = service.own_webhook(&actor, &webhook).await?;
    let mut change = WebhookChange::new();
    change.title = wanted.title.map(|title| Some(title).filter(|title| !title.is_empty()));
    change.url = wanted.url;
    change.events = wanted.events;
    change.is_paused = wanted.paused;
    own.change(wanted.revision, change).await?;
    Ok(Json(own.webhook().into()))
}

/// `DELETE /webhooks/{webhook}`: deletes a webhook with its messages.
pub(super) async fn delete(
    State(app): State<Arc<App>>,
    Extension(actor): Extension<Actor>,
    Path(webhook): Path<String>,
) -> Result<StatusCode, Problem> {
    app.service.own_webhook(&actor, &webhook).await?.delete().await?;
    Ok(StatusCode::NO_CONTENT)
}

/// `POST /webhooks/{webhook}/secret`: replaces the secret. This answer has the new one.
pub(super) async fn renew_secret(
    State(app): State<Arc<App>>,
    Extension(actor): Extension<Actor>,
    Path(webhook): Path<String>,
) -> Result<Response, Problem> {
    let mut own = app.service.own_webhook(&actor, &webhook).await?;
    own.renew_secret().await?;
    Ok(secret(StatusCode::OK, &WebhookWithSecret::from(own.webhook())))
}

/// `POST /webhooks/{webhook}/test`: sends a message that is about no run.
pub(super) async fn test(
    State(app): State<Arc<App>>,
    Extension(actor): Extension<Actor>,
    Path(webhook): Path<String>,
) -> Result<Response, Problem> {
    let own = app.service.own_webhook(&actor, &webhook).await?;
    Ok(accepted(own.test().await?.into()))
}

/// `GET /webhooks/{webhook}/deliveries`: the messages, newest first.
pub(super) async fn deliveries(
    State(app): State<Arc<App>>,
    Extension(actor): Extension<Actor>,
    Path(webhook): Path<String>,
    uri: Uri,
) -> Result<Json<DeliveryPage>, Problem> {
    let own = app.service.own_webhook(&actor, &webhook).await?;
    deliveries_of(&own, &uri).await
}

/// Returns a page of the messages to a webhook.
pub(super) async fn deliveries_of(webhook: &OwnedWebhook<'_>, uri: &Uri) -> Result<Json<DeliveryPage>, Problem> {
    let DeliveryQuery { state, cursor, limit } = query::parameters(uri)?;
    let limit = query::page_size(limit)?;
    let mut filter = DeliveryFilter::new().with_limit(limit);
    filter.state = state;
    filter.before = cursor;
    let found = webhook.deliveries(&filter).await?;
    let is_full = found.len() as u64 >= limit;
    let cursor = found.last().filter(|_| is_full).map(|delivery| delivery.id.clone());
    Ok(Json(DeliveryPage {
        deliveries: found.into_iter().map(DeliveryView::from).collect(),
        cursor,
    }))
}

/// `POST /webhooks/{webhook}/deliveries/{delivery}/replay`: sends a message again.
pub(super) async fn replay(
    State(app): State<Arc<App>>,
    Extension(actor): Extension<Actor>,
    Path((webhook, delivery)): Path<(String, String)>,
) -> Result<Response, Problem> {
    let own = app.service.own_webhook(&actor, &webhook).await?;
    Ok(accepted(own.replay(&delivery).await?.into()))
}

/// The parameters of a page of messages.
#[derive(Debug, Deserialize)]
struct DeliveryQuery {
    state: Option<DeliveryState>,
    cursor: Option<String>,
    limit: Option<u64>,
}

pub(super) fn accepted(delivery: DeliveryView) -> Response {
    (StatusCode::ACCEPTED, Json(delivery)).into_response()
}

/// Returns an answer with a secret, which nothing on the way may keep.
fn secret(status: StatusCode, webhook: &WebhookWithSecret) -> Response {
    let no_store = [(header::CACHE_CONTROL, HeaderValue::from_static("no-store"))];
    (status, no_store, Json(webhook)).into_response()
}
