//! Webhooks: signed messages about the runs of agents, their retries, and the stores from which many processes send them.
//!
//! ```
//! use agcore::webhook::{SigningSecret, WebhookErrorKind};
//!
//! let secret = SigningSecret::parse("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")?;
//! // A receiver checks the headers `webhook-id`, `webhook-timestamp` and `webhook-signature` with the body.
//! let (body, now) = (br#"{"test": 2432232314}"#, "2021-02-25T15:02:10Z".parse()?);
//! let headers = |signature| ("msg_p5jXN8AQM9LWM0D4loKWxJek", "1614265330", signature);
//! secret.verify(headers("v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="), body, now)?;
//! let wrong = secret.verify(headers("v1,AAAA"), body, now).unwrap_err();
//! assert_eq!(wrong.kind(), WebhookErrorKind::InvalidInput);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | to | use |
//! |---|---|
//! | check a message that was received | [`SigningSecret::verify`] |
//! | create and change a webhook | [`NewWebhook`], [`WebhookChange`] |
//! | choose the events | [`EventKinds`], [`WebhookScope`] |
//! | keep webhooks with the messages that are to be sent | [`WebhookStore`] |
//! | see what has become of a message | [`Delivery`] |
//!
//! [`InMemoryWebhooks`] keeps everything in the memory of the process. The module `store` contains databases. These are the public
//! items of the crate `agcore-webhook`.

#[doc(inline)]
pub use agcore_webhook::*;
