//! Webhooks about the runs of agents: signed messages, retries, and the contract of stores that many processes share. Checks of
//! what other programs send.
//!
//! ```
//! use agcore_chat::Actor;
//! use agcore_webhook::{EventKind, EventRun, NewWebhook, SigningSecret, WebhookEvent};
//!
//! let secret = SigningSecret::parse("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")?;
//! let now = "2026-07-03T12:00:00Z".parse()?;
//! let webhook = NewWebhook::new("w1", "https://example.com/hook", secret.clone()).store(now)?;
//! let event = WebhookEvent::new(EventKind::RunCompleted, now, Actor::local(), EventRun::new("thread", "run"));
//! assert!(webhook.wants(event.kind, &event.owner));
//!
//! // The sender puts these into the headers.
//! let body = event.body();
//! let signatures = webhook.signatures("msg_1", now, &body);
//! let timestamp = (now.as_millis() / 1000).to_string();
//! // The receiver checks them.
//! secret.verify(("msg_1", &timestamp, &signatures), body.as_bytes(), now)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | to | use |
//! |---|---|
//! | create and change a webhook | [`NewWebhook`], [`WebhookChange`] |
//! | choose the events | [`EventKinds`], [`WebhookScope`] |
//! | sign messages, and check those that were received | [`SigningSecret`] |
//! | check what GitHub, Stripe, Slack and other programs send | [`DeliveryCheck`] |
//! | keep webhooks with the messages that are to be sent | [`WebhookStore`] |
//! | see what has become of a message | [`Delivery`] |
//!
//! The crate sends nothing. `agcore-server` does. `InMemoryWebhooks` (feature `in-memory`) implements the contract for tests and
//! short-lived programs, and `agcore-store` for databases.
//!
//! # Features
//!
//! <!-- features -->
//!
//! | feature | description |
//! |---|---|
//! | `in-memory` (default) | A store that keeps everything in the memory of the process. |
//!
//! <!-- /features -->

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod error;
mod event;
mod secret;
mod incoming;
mod webhook;
mod delivery;
mod store;

pub use delivery::{Attempt, ClaimedDelivery, Delivery, DeliveryState, MAX_ATTEMPTS, MAX_REASON_BYTES, RETRIES};
pub use error::{WebhookError, WebhookErrorKind};
pub use event::{EventKind, EventKinds, EventRun, WebhookEvent};
pub use incoming::{
    CodeEncoding, DeliveryCheck, DeliveryHeaders, DeliveryPayload, DeliveryPlace, DeliveryRefusal, DeliveryScheme,
    DeliverySecret, Handshake, HmacScheme, MAX_DELIVERY_ID_BYTES, MAX_FORM_FIELDS, MIN_SECRET_BYTES, PayloadError,
};
pub use secret::{SigningSecret, TOLERANCE_SECONDS};
#[cfg(feature = "in-memory")]
pub use store::InMemoryWebhooks;
pub use store::{DeliveryFilter, KEPT_DELIVERIES, MAX_IN_FLIGHT, WebhookFilter, WebhookStore};
pub use webhook::{
    MAX_URL_BYTES, MAX_WEBHOOK_ID_BYTES, NewWebhook, PauseReason, PreviousSecret, Webhook, WebhookChange, WebhookScope,
};

#[doc(no_inline)]
pub use agcore_chat::{Actor, Clock, Timestamp, TimestampError};
