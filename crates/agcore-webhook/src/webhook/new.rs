//! [`NewWebhook`]: a webhook to create.

use agcore_chat::{Actor, Timestamp, id};

use super::{MAX_WEBHOOK_ID_BYTES, PauseReason, Webhook, WebhookScope};
use crate::{error::WebhookError, event::EventKinds, secret::SigningSecret};

/// A webhook to create.
///
/// ```
/// use agcore_chat::Actor;
/// use agcore_webhook::{EventKind, NewWebhook, SigningSecret};
///
/// let secret = SigningSecret::parse("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")?;
/// let new = NewWebhook::new("w1", "https://example.com/hook", secret)
///     .with_owner(Actor::new("acme", "ann"))
///     .with_events(EventKind::RunFailed.into());
/// # let _ = new;
/// # Ok::<(), agcore_webhook::WebhookError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct NewWebhook {
    /// The id, unique within the tenant.
    pub id: String,
    /// The user to whom the webhook belongs, with the tenant.
    pub owner: Actor,
    /// Whose runs it is about.
    pub scope: WebhookScope,
    /// The title, for people.
    pub title: Option<String>,
    /// The URL to which messages are sent.
    pub url: String,
    /// The events that are sent.
    pub events: EventKinds,
    /// The secret that signs messages.
    pub secret: SigningSecret,
    /// Whether the webhook is paused from the beginning.
    pub is_paused: bool,
}

impl NewWebhook {
    /// Creates a webhook of the [local](Actor::local) actor for all events of its runs.
    pub fn new(id: impl Into<String>, url: impl Into<String>, secret: SigningSecret) -> Self {
        Self {
            id: id.into(),
            owner: Actor::local(),
            scope: WebhookScope::default(),
            title: None,
            url: url.into(),
            events: EventKinds::default(),
            secret,
            is_paused: false,
        }
    }

    /// Sets the user to whom the webhook belongs, with the tenant.
    #[must_use]
    pub fn with_owner(mut self, owner: Actor) -> Self {
        self.owner = owner;
        self
    }

    /// Sets whose runs it is about.
    #[must_use]
    pub fn with_scope(mut self, scope: WebhookScope) -> Self {
        self.scope = scope;
        self
    }

    /// Sets the title.
    #[must_use]
    pub fn with_title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// Sets the events that are sent.
    #[must_use]
    pub fn with_events(mut self, events: EventKinds) -> Self {
        self.events = events;
        self
    }

    /// Pauses the webhook from the beginning.
    #[must_use]
    pub fn paused(mut self) -> Self {
        self.is_paused = true;
        self
    }

    /// Returns the webhook as it is stored at a time. For implementations of [`WebhookStore`](crate::WebhookStore).
    ///
    /// # Errors
    /// [`InvalidInput`](crate::WebhookErrorKind::InvalidInput) with the reason why it cannot be stored.
    pub fn store(self, now: Timestamp) -> Result<Webhook, WebhookError> {
        id::check_named("the id of the webhook", &self.id)?;
        if self.id.len() > MAX_WEBHOOK_ID_BYTES {
            let length = self.id.len();
            return Err(WebhookError::invalid(format!(
                "the id of the webhook has {length} bytes; at most {MAX_WEBHOOK_ID_BYTES} are allowed"
            )));
        }
        if self.id.chars().any(char::is_control) {
            return Err(WebhookError::invalid(
                "the id of the webhook contains a control character",
            ));
        }
        self.owner.check()?;
        let webhook = self.restore(now);
        webhook.check()?;
        Ok(webhook)
    }

    /// Returns the webhook without checks, as it was when it was created. For implementations of
    /// [`WebhookStore`](crate::WebhookStore), which set what was stored since.
    pub fn restore(self, created_at: Timestamp) -> Webhook {
        Webhook {
            id: self.id,
            owner: self.owner,
            scope: self.scope,
            title: self.title,
            url: self.url,
            events: self.events,
            secret: self.secret,
            previous_secret: None,
            paused: self.is_paused.then_some(PauseReason::Requested),
            revision: 1,
            created_at,
            updated_at: created_at,
        }
    }
}
