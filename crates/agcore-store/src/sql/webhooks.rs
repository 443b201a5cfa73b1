//! Rows of webhooks and of the messages to them.

use std::fmt::Display;

use agcore_chat::Actor;
use agcore_webhook::{
    ClaimedDelivery, Delivery, DeliveryFilter, DeliveryState, EventKind, EventKinds, EventRun, NewWebhook, PauseReason,
    PreviousSecret, SigningSecret, Webhook, WebhookEvent, WebhookFilter, WebhookScope,
};

use super::{Conditions, Value, conditions::text, row::SqlRow};
use crate::error::{StoreError, StoreErrorKind};

/// The columns that [`read_webhook`] reads.
pub(crate) const WEBHOOK_COLUMNS: &str = "webhooks.tenant AS tenant, webhooks.id AS id, webhooks.\"user\" AS \"user\", webhooks.line AS line, scope, title, url, \
     events, secret, previous_secret, previous_until, paused, revision, created_at, updated_at";

/// The columns that [`read_delivery`] reads. Their names are not those of webhooks, so that one row can have both.
pub(crate) const DELIVERY_COLUMNS: &str = "webhook_deliveries.id AS message, kind, at, webhook_deliveries.\"user\" AS event_user, \
     webhook_deliveries.line AS event_line, thread, run, state, attempts, next_at, CAST(last AS text) AS last";

/// Reads a webhook.
pub(crate) fn read_webhook<R: SqlRow>(row: &R) -> Result<Webhook, R::Error> {
    let mut owner = Actor::new(row.text("tenant")?, row.text("user")?);
    owner.line = row.optional_text("line")?.map(Into::into);
    let secret = read_secret(row, "secret")?.ok_or_else(|| R::damaged("secret", "there is no value".to_owned()))?;
    let mut new = NewWebhook::new(row.text("id")?, row.prose("url")?, secret)
        .with_owner(owner)
        .with_scope(row.named("scope", WebhookScope::from_name)?)
        // The table allows no other numbers.
        .with_events(EventKinds::from_bits(u16::try_from(row.count("events")?).unwrap_or(u16::MAX)));
    new.title = row.optional_prose("title")?;
    let mut webhook = new.restore(row.time("created_at")?);
    let previous = read_secret(row, "previous_secret")?.zip(row.optional_time("previous_until")?);
    webhook.previous_secret = previous.map(|(secret, until)| PreviousSecret::new(secret, until));
    webhook.paused = match row.optional_text("paused")? {
        Some(_) => Some(row.named("paused", PauseReason::from_name)?),
        None => None,
    };
    webhook.revision = row.count("revision")?;
    webhook.updated_at = row.time("updated_at")?;
    Ok(webhook)
}

/// Reads a secret. The error does not contain it.
fn read_secret<R: SqlRow>(row: &R, column: &str) -> Result<Option<SigningSecret>, R::Error> {
    let secret = row.optional_text(column)?;
    let parsed = secret.as_deref().map(SigningSecret::parse).transpose();
    parsed.map_err(|_| R::damaged(column, "it is not a secret of a webhook".to_owned()))
}

/// Reads a message to a webhook of a tenant.
pub(crate) fn read_delivery<R: SqlRow>(row: &R, tenant: &str) -> Result<Delivery, R::Error> {
    let mut delivery = read_unsent(row, tenant)?;
    delivery.last = row.optional_json("last")?;
    Ok(delivery)
}

/// Reads a message that is to be sent, or was sent a moment ago. Its last attempt does not matter for that, so that it may be
/// damaged.
pub(crate) fn read_to_send<R: SqlRow>(row: &R, tenant: &str) -> Result<Delivery, R::Error> {
    let mut delivery = read_unsent(row, tenant)?;
    delivery.last = row.optional_json("last").unwrap_or_default();
    Ok(delivery)
}

/// Reads a message without its last attempt.
fn read_unsent<R: SqlRow>(row: &R, tenant: &str) -> Result<Delivery, R::Error> {
    let mut owner = Actor::new(tenant, row.text("event_user")?);
    owner.line = row.optional_text("event_line")?.map(Into::into);
    let mut event = WebhookEvent::test(row.time("at")?, owner);
    event.kind = row.named("kind", EventKind::from_name)?;
    let place = row.optional_text("thread")?.zip(row.optional_text("run")?);
    event.run = place.map(|(thread, run)| EventRun::new(thread, run));
    let mut delivery = Delivery::new(row.text("message")?, event);
    delivery.state = row.named("state", DeliveryState::from_name)?;
    // The table allows no other numbers.
    delivery.attempts = u32::try_from(row.count("attempts")?).unwrap_or(u32::MAX);
    delivery.next_at = row.optional_time("next_at")?;
    Ok(delivery)
}

/// Reads a message that was claimed, with its webhook. One that is damaged or was written by a newer version is `None`, so that it
/// keeps no other from being sent.
pub(crate) fn read_claimed<R>(row: &R, holder: &str) -> Option<ClaimedDelivery>
where
    R: SqlRow<Error: Display>,
{
    let read = || {
        let webhook = read_webhook(row)?;
        let delivery = read_to_send(row, webhook.tenant())?;
        Ok(ClaimedDelivery::new(webhook, delivery, holder))
    };
    let read: Result<_, R::Error> = read();
    read.inspect_err(|error| tracing::warn!(%error, "a message to a webhook cannot be read, and is not sent"))
        .ok()
}

/// Writes the last attempt to deliver a message as JSON.
pub(crate) fn attempt_json(message: &Delivery) -> Result<Option<String>, StoreError> {
    let written = message.last.as_ref().map(serde_json::to_string).transpose();
    written.map_err(|error| {
        let message = "cannot write the last attempt";
        StoreError::with_source(StoreErrorKind::Serialization, message, error)
    })
}

/// Returns the statement that stores a message about a run for each webhook that wants it. The values are the key of the session,
/// the run, the kind and its bit; the expressions are those of the database for a random text and the time. `locking` is the end of
/// the query.
///
/// Runs of parts of a session are left out: users know the whole only. The webhooks of the user and those of the tenant are looked
/// up separately, so that both are found by an index however many the tenant has.
pub(crate) fn storing(random: &str, now: &str, [session, run, kind, bit]: [&str; 4], locking: &str) -> String {
    let wanted = |scope: WebhookScope, condition: &str| {
        format!(
            "SELECT webhooks.webhook, sessions.\"user\", sessions.line, sessions.id AS thread \
             FROM sessions JOIN webhooks ON webhooks.tenant = sessions.tenant AND webhooks.scope = '{}'{condition} \
             WHERE sessions.session = {session} AND sessions.part_of IS NULL",
            scope.as_str()
        )
    };
    let of_owner = " AND webhooks.\"user\" = sessions.\"user\" AND webhooks.line IS NOT DISTINCT FROM sessions.line";
    let (own, all) = (wanted(WebhookScope::Owner, of_owner), wanted(WebhookScope::Tenant, ""));
    format!(
        "INSERT INTO webhook_deliveries (webhook, id, kind, at, \"user\", line, thread, run, state, next_at) \
         SELECT wanted.webhook, 'msg_' || {random}, {kind}, clock.now, wanted.\"user\", wanted.line, wanted.thread, {run}, 'pending', \
             clock.now \
         FROM (SELECT {now} AS now) AS clock CROSS JOIN ({own} UNION ALL {all}) AS wanted \
             JOIN webhooks ON webhooks.webhook = wanted.webhook \
         WHERE webhooks.paused IS NULL AND webhooks.events & {bit} <> 0 ORDER BY wanted.webhook {locking}"
    )
}

/// Returns the statement that stores a message with which the owner of the webhook with a key tries it out, and returns it.
pub(crate) fn storing_test(random: &str, now: &str, webhook: &str) -> String {
    let kind = EventKind::Test;
    format!(
        "INSERT INTO webhook_deliveries (webhook, id, kind, at, \"user\", line, state, next_at) \
         SELECT webhook, 'msg_' || {random}, '{kind}', clock.now, \"user\", line, 'pending', clock.now \
         FROM webhooks CROSS JOIN (SELECT {now} AS now) AS clock WHERE webhook = {webhook} RETURNING {DELIVERY_COLUMNS}"
    )
}

/// Returns whether the messages of a webhook that are too many are to be deleted after this one of them was sent. Finding them
/// reads all that are kept, so that this is left to one of sixteen messages: their ids are random.
pub(crate) fn trims(id: &str) -> bool {
    id.ends_with('0')
}

/// Returns the statement that deletes the messages of a webhook that are too many: all but this number.
pub(crate) fn trimming([webhook, kept]: [&str; 2]) -> String {
    format!(
        "DELETE FROM webhook_deliveries WHERE webhook = {webhook} AND delivery <= (\
             SELECT delivery FROM webhook_deliveries WHERE webhook = {webhook} ORDER BY delivery DESC LIMIT 1 OFFSET {kept})"
    )
}

/// Returns the condition of messages that can be claimed at a time. Those of newer versions wait for these.
pub(crate) fn due(now: &str) -> String {
    let known = EventKind::ALL.map(EventKind::as_str).join("', '");
    format!("next_at <= {now} AND (holder IS NULL OR held_until <= {now}) AND kind IN ('{known}')")
}

/// Returns a common table expression with the webhooks to which messages are to be sent, found by one look into the index for each.
/// Its last row is null.
pub(crate) fn waiting_webhooks() -> &'static str {
    "waiting (webhook) AS (\
     SELECT (SELECT webhook FROM webhook_deliveries WHERE next_at IS NOT NULL ORDER BY webhook LIMIT 1) \
     UNION ALL \
     SELECT (SELECT later.webhook FROM webhook_deliveries AS later \
         WHERE later.next_at IS NOT NULL AND later.webhook > waiting.webhook ORDER BY later.webhook LIMIT 1) \
     FROM waiting WHERE waiting.webhook IS NOT NULL)"
}

impl Conditions {
    /// Selects the webhooks that a filter selects.
    pub(crate) fn webhooks(filter: &WebhookFilter) -> Self {
        let all = Self::tenant(&filter.tenant);
        let all = match &filter.user {
            Some(user) => all.and(Self::new("\"user\" = ?", [text(user)])),
            None => all,
        };
        all.after("id", filter.after.as_deref())
    }

    /// Selects the messages of a webhook that a filter selects.
    pub(crate) fn deliveries((tenant, webhook): (&str, &str), filter: &DeliveryFilter) -> Self {
        let key = "webhook = (SELECT webhook FROM webhooks WHERE tenant = ? AND id = ?)";
        let mut all = Self::new(key, [text(tenant), text(webhook)]);
        let older = "delivery < (SELECT newer.delivery FROM webhook_deliveries AS newer \
                     WHERE newer.webhook = webhook_deliveries.webhook AND newer.id = ?)";
        let conditions: [(&str, Option<Value>); 3] = [
            ("id = ?", filter.id.as_deref().map(text)),
            ("state = ?", filter.state.map(|state| text(state.as_str()))),
            (older, filter.before.as_deref().map(text)),
        ];
        for (sql, value) in conditions {
            if let Some(value) = value {
                all = all.and(Self::new(sql, [value]));
            }
        }
        all
    }
}
