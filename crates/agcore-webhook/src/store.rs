//! [`WebhookStore`]: the contract of stores of webhooks.

mod filter;
#[cfg(feature = "in-memory")]
mod in_memory;

use std::{fmt::Debug, time::Duration};

use agcore_chat::Actor;
use async_trait::async_trait;

use crate::{
    delivery::{Attempt, ClaimedDelivery, Delivery},
    error::WebhookError,
    webhook::{NewWebhook, Webhook, WebhookChange},
};

pub use self::filter::{DeliveryFilter, WebhookFilter};
#[cfg(feature = "in-memory")]
pub use self::in_memory::InMemoryWebhooks;

/// The number of messages of a webhook that stores keep: the last ones, whatever their state.
pub const KEPT_DELIVERIES: u64 = 10_000;

/// The number of messages of a webhook that processes send at the same time, so that a receiver that does not answer keeps no
/// messages of others back.
pub const MAX_IN_FLIGHT: u64 = 8;

/// A store of webhooks with the messages to them, which many processes share.
///
/// The time is that of the store: the server's for PostgreSQL, and that of the clock with which the store was opened otherwise.
///
/// # How each event is sent at least once
///
/// A message is stored in the transaction in which its run gets its status, for each webhook that [wants](Webhook::wants) it. So
/// there is no event without its message, and no message about what was not stored. A status that is stored again causes none,
/// and neither do the runs of parts of a thread, in which the agents of flows work: the run of the thread does. Each process then
/// does this again and again:
///
/// 1. [Claim](Self::claim_deliveries) messages that are due. No other process gets them until the claim expires.
/// 2. Send each of them.
/// 3. [Record](Self::record_attempt) what the receiver has answered.
///
/// A process that dies after 2 leaves its message to the next one, which sends it again with the same id. Messages are sent in the
/// order of their events at first, but those that are sent again come later.
///
/// Every implementation must pass the suite `agcore_testkit::stores::webhooks`.
#[async_trait]
pub trait WebhookStore: Debug + Send + Sync {
    /// Creates a webhook.
    ///
    /// # Errors
    /// [`AlreadyExists`](crate::WebhookErrorKind::AlreadyExists) if the tenant has a webhook with this id.
    /// [`InvalidInput`](crate::WebhookErrorKind::InvalidInput) if it is not acceptable. When the storage fails.
    async fn create_webhook(&self, webhook: NewWebhook) -> Result<Webhook, WebhookError>;

    /// Returns a webhook.
    ///
    /// # Errors
    /// When the storage fails.
    async fn webhook(&self, tenant: &str, id: &str) -> Result<Option<Webhook>, WebhookError>;

    /// Returns webhooks in the order of their ids.
    ///
    /// # Errors
    /// When the storage fails.
    async fn webhooks(&self, filter: &WebhookFilter) -> Result<Vec<Webhook>, WebhookError>;

    /// Changes a webhook whose `revision` was read. Returns the webhook as it is now.
    ///
    /// # Errors
    /// [`NotFound`](crate::WebhookErrorKind::NotFound) if there is no such webhook.
    /// [`Conflict`](crate::WebhookErrorKind::Conflict) if it has another revision.
    /// [`InvalidInput`](crate::WebhookErrorKind::InvalidInput) if the change is not acceptable. When the storage fails.
    async fn change_webhook(
        &self,
        tenant: &str,
        id: &str,
        revision: u64,
        change: WebhookChange,
    ) -> Result<Webhook, WebhookError>;

    /// Deletes a webhook with its messages. Returns whether there was one.
    ///
    /// # Errors
    /// When the storage fails.
    async fn delete_webhook(&self, tenant: &str, id: &str) -> Result<bool, WebhookError>;

    /// Stores a message to a webhook with which its owner tries it out, also if the webhook is paused or does not want tests. It is
    /// sent unless the webhook is paused.
    ///
    /// # Errors
    /// [`NotFound`](crate::WebhookErrorKind::NotFound) if there is no such webhook. When the storage fails.
    async fn test_webhook(&self, tenant: &str, id: &str) -> Result<Delivery, WebhookError>;

    /// Claims messages that are due, of all tenants: first those of webhooks to which the fewest are sent at the moment, so that a
    /// user with many keeps none of others back, and among these the one that has been due for longest. The holder is a new id. A
    /// claim expires after the length, which must be longer than it takes to send a message.
    ///
    /// Webhooks that are paused are left out, and so are messages of a webhook of which about [`MAX_IN_FLIGHT`] are claimed.
    /// Messages that cannot be read, because they were written by a newer version, keep no others from being claimed.
    ///
    /// Dropping the future leaves open whether messages were claimed. They are claimed again after the length.
    ///
    /// # Errors
    /// When the storage fails.
    async fn claim_deliveries(
        &self,
        holder: &str,
        length: Duration,
        limit: u64,
    ) -> Result<Vec<ClaimedDelivery>, WebhookError>;

    /// Records an attempt to deliver a message that was claimed. Returns `false` without a change if another process has claimed it
    /// by now, or it does not exist any more.
    ///
    /// What follows is decided by [`Delivery::after`]. If there is a reason to pause the webhook that
    /// [applies](crate::PauseReason::applies), it is paused as by [`Webhook::paused_for`], unless its URL was changed since the
    /// claim. The store keeps the last [`KEPT_DELIVERIES`], and deletes older ones now and then.
    ///
    /// # Errors
    /// When the storage fails.
    async fn record_attempt(&self, claimed: &ClaimedDelivery, attempt: Attempt) -> Result<bool, WebhookError>;

    /// Returns messages of a webhook, newest first, or none if there is no such webhook.
    ///
    /// # Errors
    /// When the storage fails.
    async fn deliveries(
        &self,
        tenant: &str,
        webhook: &str,
        filter: &DeliveryFilter,
    ) -> Result<Vec<Delivery>, WebhookError>;

    /// Has a message that was delivered or given up sent again, with the same id. A message that is pending is sent at once, unless
    /// a process is sending it. Returns the message as it is now.
    ///
    /// # Errors
    /// [`NotFound`](crate::WebhookErrorKind::NotFound) if there is no such message. When the storage fails.
    async fn replay(&self, tenant: &str, webhook: &str, delivery: &str) -> Result<Delivery, WebhookError>;

    /// Deletes all webhooks of a user with their messages, in all lines of business, and all messages to webhooks of others about
    /// threads of the user. Returns the number of webhooks.
    ///
    /// # Errors
    /// When the storage fails.
    async fn erase_webhooks(&self, owner: &Actor) -> Result<u64, WebhookError>;
}
