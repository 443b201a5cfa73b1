//! [`Delivery`]: a message to a webhook, and what has become of it.

mod retry;

use std::time::Duration;

use agcore_chat::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{
    event::WebhookEvent,
    webhook::{PauseReason, Webhook},
};

pub use self::retry::{MAX_ATTEMPTS, RETRIES};

/// The maximum length of the reason for a failed attempt that stores keep, in bytes.
pub const MAX_REASON_BYTES: usize = 300;

/// A message to a webhook.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Delivery {
    /// The id, which the receiver gets as `webhook-id`: `msg_` and random digits. It is the same for every attempt, so that the
    /// receiver can recognize a message that it has already.
    pub id: String,
    /// The event.
    pub event: WebhookEvent,
    /// The state.
    pub state: DeliveryState,
    /// The number of attempts since the message was created or replayed.
    pub attempts: u32,
    /// The time of the next attempt, while the message is pending.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_at: Option<Timestamp>,
    /// The last attempt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last: Option<Attempt>,
}

/// The state of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum DeliveryState {
    /// The message is to be sent, or sent again.
    Pending,
    /// The receiver has accepted it.
    Delivered,
    /// It was given up.
    Failed,
}

impl DeliveryState {
    /// All states.
    pub const ALL: [Self; 3] = [Self::Pending, Self::Delivered, Self::Failed];

    /// Returns the name under which stores keep the state: `pending`, `delivered` or `failed`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Delivered => "delivered",
            Self::Failed => "failed",
        }
    }

    /// Returns the state with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == name)
    }
}

/// An attempt to deliver a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Attempt {
    /// The time, set by the store when the attempt is recorded.
    pub at: Timestamp,
    /// The status of the answer, if there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// The reason for the failure, if the status alone does not state it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// How long it took, in milliseconds.
    pub millis: u64,
    /// How long the receiver wants the sender to wait, from the header `Retry-After`.
    #[serde(skip)]
    pub retry_after: Option<Duration>,
}

impl Attempt {
    /// Creates an attempt that got an answer.
    pub fn answered(status: u16, took: Duration) -> Self {
        Self {
            at: Timestamp::default(),
            status: Some(status),
            reason: None,
            millis: u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
            retry_after: None,
        }
    }

    /// Creates an attempt without an answer. The reason is cut to [`MAX_REASON_BYTES`].
    pub fn failed(reason: impl Into<String>, took: Duration) -> Self {
        let mut reason: String = reason.into();
        if reason.len() > MAX_REASON_BYTES {
            let end = (0..=MAX_REASON_BYTES).rev().find(|end| reason.is_char_boundary(*end));
            reason.truncate(end.unwrap_or(0));
        }
        Self {
            status: None,
            reason: Some(reason),
            ..Self::answered(0, took)
        }
    }

    /// Sets how long the receiver wants the sender to wait.
    #[must_use]
    pub fn with_retry_after(mut self, wait: Option<Duration>) -> Self {
        self.retry_after = wait;
        self
    }

    /// Returns whether the receiver has accepted the message: with a status from 200 to 299. Redirects are not followed.
    pub fn is_success(&self) -> bool {
        self.status.is_some_and(|status| (200..300).contains(&status))
    }

    /// Returns whether the receiver wants no more messages: whether its status was 410.
    pub fn is_gone(&self) -> bool {
        self.status == Some(410)
    }
}

impl Delivery {
    /// Creates a message that is to be sent at once. For implementations of [`WebhookStore`](crate::WebhookStore).
    pub fn new(id: impl Into<String>, event: WebhookEvent) -> Self {
        Self {
            id: id.into(),
            next_at: Some(event.at),
            event,
            state: DeliveryState::Pending,
            attempts: 0,
            last: None,
        }
    }

    /// Returns the message after an attempt at a time, and the reason to pause its webhook, if there is one now. `jitter` is a
    /// random number from 0 to 1. For implementations of [`WebhookStore`](crate::WebhookStore).
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use agcore_chat::{Actor, Timestamp};
    /// use agcore_webhook::{Attempt, Delivery, DeliveryState, WebhookEvent};
    ///
    /// let now = Timestamp::from_millis(0);
    /// let delivery = Delivery::new("msg_1", WebhookEvent::test(now, Actor::local()));
    /// let (delivery, _) = delivery.after(Attempt::answered(503, Duration::from_millis(20)), now, 0.5);
    /// assert_eq!((delivery.state, delivery.next_at), (DeliveryState::Pending, Some(Timestamp::from_millis(5_000))));
    /// let (delivery, _) = delivery.after(Attempt::answered(204, Duration::from_millis(20)), now, 0.5);
    /// assert_eq!((delivery.state, delivery.attempts), (DeliveryState::Delivered, 2));
    /// ```
    #[must_use]
    pub fn after(&self, attempt: Attempt, now: Timestamp, jitter: f64) -> (Self, Option<PauseReason>) {
        let mut after = self.clone();
        after.attempts = self.attempts.saturating_add(1);
        let wait = retry::wait(after.attempts, attempt.retry_after, jitter);
        let pause = match wait {
            _ if attempt.is_success() => {
                (after.state, after.next_at) = (DeliveryState::Delivered, None);
                None
            }
            _ if attempt.is_gone() => Some(PauseReason::Gone),
            None => Some(PauseReason::Failing),
            Some(wait) => {
                let wait = i64::try_from(wait.as_millis()).unwrap_or(i64::MAX);
                after.next_at = Some(Timestamp::from_millis(now.as_millis().saturating_add(wait)));
                None
            }
        };
        if pause.is_some() {
            (after.state, after.next_at) = (DeliveryState::Failed, None);
        }
        after.last = Some(Attempt { at: now, ..attempt });
        (after, pause)
    }

    /// Returns the message as it is sent again from the beginning. For implementations of
    /// [`WebhookStore`](crate::WebhookStore).
    #[must_use]
    pub fn replayed(&self, now: Timestamp) -> Self {
        Self {
            state: DeliveryState::Pending,
            attempts: 0,
            next_at: Some(now),
            ..self.clone()
        }
    }
}

/// A message that a process has claimed, with its webhook as it was then.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ClaimedDelivery {
    /// The webhook.
    pub webhook: Webhook,
    /// The message.
    pub delivery: Delivery,
    /// The holder: a new id for each claim.
    pub holder: String,
}

impl ClaimedDelivery {
    /// Creates a claim. For implementations of [`WebhookStore`](crate::WebhookStore).
    pub fn new(webhook: Webhook, delivery: Delivery, holder: impl Into<String>) -> Self {
        Self {
            webhook,
            delivery,
            holder: holder.into(),
        }
    }
}
