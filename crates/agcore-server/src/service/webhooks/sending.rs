//! Sending the messages of webhooks.
//!
//! Each process that executes runs does this, and none has to know of the others: a message that one has claimed is left to it,
//! until the claim expires.

use std::{
    panic::AssertUnwindSafe,
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use agcore_trace::set_parent;
use agcore_webhook::{Attempt, ClaimedDelivery, WebhookError};
use futures_util::FutureExt;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tracing::Instrument;

use crate::{
    run::RunJob,
    service::state::{Service, Webhooks},
    telemetry::span,
    webhooks::WebhookMessage,
};

/// The pause between two checks which messages are due.
const PAUSE: Duration = Duration::from_secs(5);

/// The pause after a check, also if messages are stored meanwhile.
const REST: Duration = Duration::from_millis(200);

/// The length of a claim.
const CLAIM: Duration = Duration::from_secs(60);

/// The number of messages that are claimed at once.
const PAGE: usize = 32;

/// The number of messages that a process sends at the same time. Waiting for an answer costs little, and receivers that do not
/// answer must not take all places.
const AT_ONCE: usize = 128;

/// The time after which a sender that does not return is left: less than a claim, so that no other process sends the message
/// meanwhile.
const PATIENCE: Duration = Duration::from_secs(30);

impl Service {
    /// Sends messages of webhooks when they are due, until the server stops.
    pub(crate) async fn send_webhooks(self: Arc<Self>) {
        let Some(webhooks) = &self.webhooks else { return };
        let places = Arc::new(Semaphore::new(AT_ONCE));
        loop {
            if let Err(error) = self.send_due(webhooks, &places).await {
                tracing::warn!(?error, "the messages of webhooks cannot be read at the moment");
            }
            let rested = async {
                self.clock.sleep(REST).await;
                tokio::select! {
                    () = webhooks.changed.notified() => {}
                    () = self.clock.sleep(PAUSE) => {}
                }
            };
            tokio::select! {
                () = self.stopping.cancelled() => return,
                () = self.parking.cancelled() => return,
                () = rested => {}
            }
        }
    }

    /// Begins to send the messages that are due. If there is no place for more of them, the next check follows the end of one.
    async fn send_due(self: &Arc<Self>, webhooks: &Webhooks, places: &Arc<Semaphore>) -> Result<(), WebhookError> {
        while !self.stopping.is_cancelled() {
            let count = places.available_permits().min(PAGE);
            if count == 0 {
                return Ok(());
            }
            let holder = self.new_id("sender");
            let claimed = webhooks.store.claim_deliveries(&holder, CLAIM, count as u64).await?;
            let is_last = claimed.len() < count;
            for claimed in claimed {
                // Only this task takes places, and the store may return fewer messages than wanted, not more.
                if let Ok(place) = Arc::clone(places).try_acquire_owned() {
                    webhooks.in_flight.fetch_add(1, Ordering::AcqRel);
                    self.tasks.spawn(Arc::clone(self).send_one(claimed, place));
                }
            }
            if is_last {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Sends a message, and records the result.
    async fn send_one(self: Arc<Self>, claimed: ClaimedDelivery, place: OwnedSemaphorePermit) {
        let Some(webhooks) = &self.webhooks else { return };
        tokio::select! {
            // The message is sent again when the claim expires.
            () = self.parking.cancelled() => {}
            attempt = self.send_claimed(webhooks, &claimed) => {
                let recording = AssertUnwindSafe(record(webhooks, &claimed, attempt)).catch_unwind();
                // The hook of panics reports it. The message is sent again when the claim expires.
                drop(recording.await);
            }
        }
        drop(place);
        webhooks.in_flight.fetch_sub(1, Ordering::AcqRel);
        webhooks.changed.notify_one();
        self.idle.notify_one();
    }

    async fn send_claimed(&self, webhooks: &Webhooks, claimed: &ClaimedDelivery) -> Attempt {
        let mut message = WebhookMessage::new(claimed, self.clock.now().into());
        let run = claimed.delivery.event.run.as_ref();
        let span = span::webhook(run.map(|run| &*run.run));
        let sending = async {
            if let Some(run) = run.filter(|_| agcore_trace::CAN_PROPAGATE && !span.is_disabled()) {
                let job = RunJob::new(claimed.delivery.event.owner.clone(), &*run.thread, &*run.run);
                // Before the span is entered. If the store fails, the message is sent without the trace.
                if let Some(trace) = self.trace_of(&job).await {
                    set_parent(&span, &trace);
                }
            }
            message.continue_trace(&span);
            webhooks.sender.send(message).instrument(span.clone()).await
        };
        let sending = AssertUnwindSafe(sending).catch_unwind();
        let sent = tokio::select! {
            sent = sending => sent,
            () = self.clock.sleep(PATIENCE) => {
                span::delivered(&span, None, false);
                let reason = format!("the message was not sent within {} s", PATIENCE.as_secs());
                return Attempt::failed(reason, PATIENCE);
            }
        };
        // The hook of panics has reported it.
        let attempt = sent.unwrap_or_else(|_| Attempt::failed("the message cannot be sent", Duration::ZERO));
        span::delivered(&span, attempt.status, attempt.is_success());
        attempt
    }
}

async fn record(webhooks: &Webhooks, claimed: &ClaimedDelivery, attempt: Attempt) {
    let (webhook, message) = (&*claimed.webhook.id, &*claimed.delivery.id);
    if !attempt.is_success() {
        let (status, reason) = (attempt.status, attempt.reason.as_deref());
        tracing::info!(
            webhook,
            message,
            status,
            reason,
            "a message of a webhook was not delivered"
        );
    }
    match webhooks.store.record_attempt(claimed, attempt).await {
        Ok(true) => {}
        // Another process has sent it as well, or it was deleted.
        Ok(false) => tracing::info!(webhook, message, "the result of a message is not recorded"),
        // It is sent again when the claim expires.
        Err(error) => tracing::warn!(webhook, message, ?error, "the result of a message cannot be recorded"),
    }
}
