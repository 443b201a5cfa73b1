//! The pages of the webhooks of a user, and what their forms change.

use std::sync::Arc;

use agcore_chat::{Actor, Timestamp};
use agcore_console::{
    Change, ConfirmView, DeliveryRow, DeliveryState as Shown, PauseCause, WebhookRow, WebhookView, WebhooksView,
    confirm_page, encoded, webhook_page, webhooks_page,
};
use agcore_webhook::{Delivery, DeliveryFilter, DeliveryState, EventKind, PauseReason, Webhook, WebhookChange};
use axum::{
    Extension,
    extract::{Path, State},
    response::Response,
};
use http::Uri;
use serde::Deserialize;

use super::{
    form::Form,
    reply::{page, see},
    runs::answer,
    visitor::Visitor,
};
use crate::{problem::Problem, routes::parameters, service::App};

/// The number of webhooks on a page: their last messages are read one by one.
const WEBHOOKS: u64 = 20;

/// The number of messages on a page.
const MESSAGES: u64 = 50;

/// The address of the list.
const ROOT: &str = "/console/webhooks";

#[derive(Debug, Default, Deserialize)]
struct PageQuery {
    cursor: Option<String>,
    state: Option<String>,
}

/// `GET /console/webhooks`: the webhooks, in the order of their ids.
pub(super) async fn list(State(app): State<Arc<App>>, Extension(visitor): Extension<Visitor>, uri: Uri) -> Response {
    let shown = async {
        let PageQuery { cursor, .. } = parameters(&uri)?;
        let cursor = cursor.filter(|cursor| !cursor.is_empty());
        let service = &app.service;
        let (own, next) = service.own_webhooks(&visitor.actor, cursor.clone(), WEBHOOKS).await?;
        let mut webhooks = Vec::new();
        for webhook in &own {
            let found = service.own_webhook(&visitor.actor, &webhook.id).await?;
            let last = found.deliveries(&DeliveryFilter::new().with_limit(1)).await?;
            webhooks.push(WebhookRow {
                last: last.into_iter().next().map(delivery),
                ..row(webhook)
            });
        }
        let view = WebhooksView { webhooks, cursor, next };
        Ok(page(webhooks_page(&visitor.shell(&app).await?, &view)))
    };
    answer(&app, &visitor, shown.await).await
}

/// `GET /console/webhooks/{webhook}`: a webhook with its messages, newest first.
pub(super) async fn show(
    State(app): State<Arc<App>>,
    Extension(visitor): Extension<Visitor>,
    Path(webhook): Path<String>,
    uri: Uri,
) -> Response {
    let shown = async {
        let PageQuery { cursor, state } = parameters(&uri)?;
        let cursor = cursor.filter(|cursor| !cursor.is_empty());
        let only_failed = state.as_deref() == Some("failed");
        let own = app.service.own_webhook(&visitor.actor, &webhook).await?;
        let mut filter = DeliveryFilter::new().with_limit(MESSAGES);
        filter.state = only_failed.then_some(DeliveryState::Failed);
        filter.before.clone_from(&cursor);
        let found = own.deliveries(&filter).await?;
        let is_full = found.len() as u64 >= MESSAGES;
        let view = WebhookView {
            webhook: row(own.webhook()),
            next: found.last().filter(|_| is_full).map(|last| last.id.clone()),
            deliveries: found.into_iter().map(delivery).collect(),
            only_failed,
            cursor,
        };
        Ok(page(webhook_page(&visitor.shell(&app).await?, &view)))
    };
    answer(&app, &visitor, shown.await).await
}

/// `POST /console/webhooks/{webhook}/pause`: pauses a webhook.
pub(super) async fn pause(
    State(app): State<Arc<App>>,
    Extension(visitor): Extension<Visitor>,
    Path(webhook): Path<String>,
    _: Form,
) -> Response {
    let changed = set_paused(&app, &visitor.actor, &webhook, true).await;
    answer(&app, &visitor, changed).await
}

/// `POST /console/webhooks/{webhook}/resume`: resumes a webhook.
pub(super) async fn resume(
    State(app): State<Arc<App>>,
    Extension(visitor): Extension<Visitor>,
    Path(webhook): Path<String>,
    _: Form,
) -> Response {
    let changed = set_paused(&app, &visitor.actor, &webhook, false).await;
    answer(&app, &visitor, changed).await
}

async fn set_paused(app: &App, actor: &Actor, webhook: &str, is_paused: bool) -> Result<Response, Problem> {
    let mut change = WebhookChange::new();
    change.is_paused = Some(is_paused);
    app.service
        .own_webhook(actor, webhook)
        .await?
        .change(None, change)
        .await?;
    Ok(see(&address(webhook)))
}

/// `POST /console/webhooks/{webhook}/test`: sends a message that is about no run.
pub(super) async fn test(
    State(app): State<Arc<App>>,
    Extension(visitor): Extension<Visitor>,
    Path(webhook): Path<String>,
    _: Form,
) -> Response {
    let sent = async {
        app.service.own_webhook(&visitor.actor, &webhook).await?.test().await?;
        Ok(see(&address(&webhook)))
    };
    answer(&app, &visitor, sent.await).await
}

/// `POST /console/webhooks/{webhook}/deliveries/{delivery}/replay`: sends a message again.
pub(super) async fn replay(
    State(app): State<Arc<App>>,
    Extension(visitor): Extension<Visitor>,
    Path((webhook, delivery)): Path<(String, String)>,
    _: Form,
) -> Response {
    let sent = async {
        let own = app.service.own_webhook(&visitor.actor, &webhook).await?;
        own.replay(&delivery).await?;
        Ok(see(&address(&webhook)))
    };
    answer(&app, &visitor, sent.await).await
}

/// `GET /console/webhooks/{webhook}/delete`: asks whether a webhook is to be deleted.
pub(super) async fn ask(
    State(app): State<Arc<App>>,
    Extension(visitor): Extension<Visitor>,
    Path(webhook): Path<String>,
) -> Response {
    let shown = async {
        let own = app.service.own_webhook(&visitor.actor, &webhook).await?;
        let row = row(own.webhook());
        let back = row.address();
        let view = ConfirmView {
            change: Change::DeleteWebhook,
            action: format!("{back}/delete"),
            subject: row.title.into_iter().chain([row.url]).collect(),
            fields: Vec::new(),
            back,
        };
        Ok(page(confirm_page(&visitor.shell(&app).await?, &view)))
    };
    answer(&app, &visitor, shown.await).await
}

/// `POST /console/webhooks/{webhook}/delete`: deletes a webhook with its messages.
pub(super) async fn delete(
    State(app): State<Arc<App>>,
    Extension(visitor): Extension<Visitor>,
    Path(webhook): Path<String>,
    _: Form,
) -> Response {
    let deleted = async {
        app.service
            .own_webhook(&visitor.actor, &webhook)
            .await?
            .delete()
            .await?;
        Ok(see(ROOT))
    };
    answer(&app, &visitor, deleted.await).await
}

fn address(webhook: &str) -> String {
    format!("{ROOT}/{}", encoded(webhook))
}

fn row(webhook: &Webhook) -> WebhookRow {
    WebhookRow {
        id: webhook.id.clone(),
        title: webhook.title.clone(),
        url: webhook.url.clone(),
        events: webhook.events.iter().map(EventKind::as_str).collect(),
        paused: webhook.paused.map(|reason| match reason {
            PauseReason::Requested => PauseCause::Requested,
            PauseReason::Gone => PauseCause::Gone,
            _ => PauseCause::Failing,
        }),
        last: None,
    }
}

fn delivery(delivery: Delivery) -> DeliveryRow {
    let (status, reason) = delivery
        .last
        .map_or((None, None), |attempt| (attempt.status, attempt.reason));
    DeliveryRow {
        id: delivery.id,
        event: delivery.event.kind.as_str(),
        at: delivery.event.at.as_millis(),
        run: delivery.event.run.map(|run| (run.thread, run.run)),
        state: match delivery.state {
            DeliveryState::Pending => Shown::Pending,
            DeliveryState::Delivered => Shown::Delivered,
            _ => Shown::Failed,
        },
        attempts: delivery.attempts,
        next: delivery.next_at.map(Timestamp::as_millis),
        status,
        reason,
    }
}
