//! The JSON forms of webhooks.

use agcore_webhook::{Attempt, Delivery, EventKind, EventKinds, PauseReason, Webhook};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

/// A webhook to create.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct NewWebhookBody {
    /// The URL to which messages are sent, beginning with `https://`.
    pub(crate) url: String,
    /// The title.
    pub(crate) title: Option<String>,
    /// The events that are sent; by default all events of runs.
    #[schemars(schema_with = "events")]
    #[serde(default)]
    pub(crate) events: EventKinds,
    /// Whether the webhook sends nothing until it is resumed.
    #[serde(default)]
    pub(crate) paused: bool,
}

/// A change of a webhook. Members that are missing stay as they are.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct WebhookChangeBody {
    /// The revision that was read. If the webhook has another one, nothing is changed.
    pub(crate) revision: Option<u64>,
    /// The new URL. Messages that wait are sent to it as well.
    pub(crate) url: Option<String>,
    /// The new title; an empty text removes it.
    pub(crate) title: Option<String>,
    /// The events that are sent.
    #[schemars(schema_with = "events")]
    #[serde(default)]
    pub(crate) events: Option<EventKinds>,
    /// `true` pauses the webhook, `false` resumes it. Messages that wait are sent then; events that happen meanwhile are not.
    pub(crate) paused: Option<bool>,
}

/// A webhook: a URL that is notified of the runs of its user.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WebhookView {
    /// The id of the webhook.
    pub(crate) webhook_id: String,
    /// The title.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) title: Option<String>,
    /// The URL to which messages are sent.
    pub(crate) url: String,
    /// The events that are sent.
    #[schemars(schema_with = "events")]
    pub(crate) events: EventKinds,
    /// Whether the webhook sends nothing until it is resumed.
    pub(crate) paused: bool,
    /// Why it is paused: `requested`; `gone`, because the receiver has answered with the status 410; or `failing`, because a
    /// message was given up.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) pause_reason: Option<&'static str>,
    /// The time until which the secret before the present one signs messages as well, as an RFC 3339 time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) previous_secret_until: Option<String>,
    /// A number that grows with each change.
    pub(crate) revision: u64,
    /// When the webhook was created.
    pub(crate) created_at: String,
    /// When it was changed last.
    pub(crate) updated_at: String,
}

/// A webhook with its secret, which is shown only when it is made.
#[derive(Serialize, JsonSchema)]
pub(crate) struct WebhookWithSecret {
    /// The webhook.
    #[serde(flatten)]
    pub(crate) webhook: WebhookView,
    /// The secret with which the receiver checks signatures: `whsec_` and the key in Base64.
    pub(crate) secret: String,
}

/// A page of webhooks.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WebhookPage {
    /// The webhooks, in the order of their ids.
    pub(crate) webhooks: Vec<WebhookView>,
    /// The place at which the next page begins; absent on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cursor: Option<String>,
}

/// A message to a webhook.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DeliveryView {
    /// The id of the message, which the receiver gets in the header `webhook-id`.
    pub(crate) delivery_id: String,
    /// The event: `run.completed`, `run.failed`, `run.cancelled`, `run.interrupted` or `webhook.test`.
    #[serde(rename = "type")]
    pub(crate) kind: &'static str,
    /// When the event has happened, as an RFC 3339 time.
    pub(crate) created_at: String,
    /// The thread of the run; absent for a test.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) thread_id: Option<String>,
    /// The run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) run_id: Option<String>,
    /// `pending`, `delivered` or `failed`.
    pub(crate) state: &'static str,
    /// The number of attempts to send it.
    pub(crate) attempts: u32,
    /// The time of the next attempt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) next_at: Option<String>,
    /// The last attempt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) last: Option<AttemptView>,
}

/// An attempt to send a message.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AttemptView {
    /// When it ended.
    pub(crate) at: String,
    /// The HTTP status of the answer; absent if there was none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) status: Option<u16>,
    /// The reason for a failure, if the status does not say it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<String>,
    /// How long it took, in milliseconds.
    pub(crate) millis: u64,
}

/// A page of messages.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DeliveryPage {
    /// The messages, newest first.
    pub(crate) deliveries: Vec<DeliveryView>,
    /// The place at which the next page begins; absent on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cursor: Option<String>,
}

impl From<&Webhook> for WebhookView {
    fn from(webhook: &Webhook) -> Self {
        Self {
            webhook_id: webhook.id.clone(),
            title: webhook.title.clone(),
            url: webhook.url.clone(),
            events: webhook.events,
            paused: webhook.paused.is_some(),
            pause_reason: webhook.paused.map(PauseReason::as_str),
            previous_secret_until: webhook.previous_secret.as_ref().map(|secret| secret.until.to_string()),
            revision: webhook.revision,
            created_at: webhook.created_at.to_string(),
            updated_at: webhook.updated_at.to_string(),
        }
    }
}

impl From<&Webhook> for WebhookWithSecret {
    fn from(webhook: &Webhook) -> Self {
        Self {
            webhook: webhook.into(),
            secret: webhook.secret.expose(),
        }
    }
}

impl From<Delivery> for DeliveryView {
    fn from(delivery: Delivery) -> Self {
        let (thread_id, run_id) = delivery.event.run.map(|run| (run.thread, run.run)).unzip();
        Self {
            delivery_id: delivery.id,
            kind: delivery.event.kind.as_str(),
            created_at: delivery.event.at.to_string(),
            thread_id,
            run_id,
            state: delivery.state.as_str(),
            attempts: delivery.attempts,
            next_at: delivery.next_at.map(|at| at.to_string()),
            last: delivery.last.map(AttemptView::from),
        }
    }
}

impl From<Attempt> for AttemptView {
    fn from(attempt: Attempt) -> Self {
        Self {
            at: attempt.at.to_string(),
            status: attempt.status,
            reason: attempt.reason,
            millis: attempt.millis,
        }
    }
}

fn events(_: &mut SchemaGenerator) -> Schema {
    let names = EventKind::ALL.map(EventKind::as_str);
    json_schema!({"type": "array", "items": {"enum": names}, "minItems": 1, "uniqueItems": true})
}
