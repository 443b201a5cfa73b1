//! [`WebhookChange`]: a change of a webhook.

use std::time::Duration;

use agcore_chat::Timestamp;

use super::{PauseReason, PreviousSecret, Webhook};
use crate::{error::WebhookError, event::EventKinds, secret::SigningSecret};

/// A change of a webhook. Members that are not set stay as they are.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct WebhookChange {
    /// The new title, or `Some(None)` to remove it.
    pub title: Option<Option<String>>,
    /// The new URL. Messages that wait are sent to it as well.
    pub url: Option<String>,
    /// The new events.
    pub events: Option<EventKinds>,
    /// The new secret, and how long the present one signs messages as well. The one before that ends at once.
    pub secret: Option<(SigningSecret, Duration)>,
    /// Whether the webhook is to be paused or resumed.
    pub is_paused: Option<bool>,
}

impl WebhookChange {
    /// Creates a change of nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the title.
    #[must_use]
    pub fn with_title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(Some(title.into()));
        self
    }

    /// Removes the title.
    #[must_use]
    pub fn without_title(mut self) -> Self {
        self.title = Some(None);
        self
    }

    /// Sets the URL.
    #[must_use]
    pub fn with_url(mut self, url: impl Into<String>) -> Self {
        self.url = Some(url.into());
        self
    }

    /// Sets the events that are sent.
    #[must_use]
    pub fn with_events(mut self, events: EventKinds) -> Self {
        self.events = Some(events);
        self
    }

    /// Replaces the secret. The present one signs messages as well for a while.
    #[must_use]
    pub fn with_secret(mut self, secret: SigningSecret, overlap: Duration) -> Self {
        self.secret = Some((secret, overlap));
        self
    }

    /// Pauses the webhook. Messages that wait are sent when it is resumed; events that happen meanwhile are not.
    #[must_use]
    pub fn paused(mut self) -> Self {
        self.is_paused = Some(true);
        self
    }

    /// Resumes the webhook.
    #[must_use]
    pub fn resumed(mut self) -> Self {
        self.is_paused = Some(false);
        self
    }

    /// Returns the webhook after the change at a time. For implementations of [`WebhookStore`](crate::WebhookStore).
    ///
    /// # Errors
    /// [`InvalidInput`](crate::WebhookErrorKind::InvalidInput) with the reason why the result cannot be stored.
    pub fn apply(self, webhook: &Webhook, now: Timestamp) -> Result<Webhook, WebhookError> {
        let mut changed = Webhook {
            title: self.title.unwrap_or_else(|| webhook.title.clone()),
            url: self.url.unwrap_or_else(|| webhook.url.clone()),
            events: self.events.unwrap_or(webhook.events),
            revision: webhook.revision + 1,
            updated_at: now.max(webhook.updated_at),
            ..webhook.clone()
        };
        if let Some((secret, overlap)) = self.secret {
            let previous = std::mem::replace(&mut changed.secret, secret);
            let overlap = i64::try_from(overlap.as_millis()).unwrap_or(i64::MAX);
            let until = Timestamp::from_millis(now.as_millis().saturating_add(overlap));
            changed.previous_secret = (until > now).then(|| PreviousSecret::new(previous, until));
        }
        match self.is_paused {
            Some(true) if webhook.paused.is_none() => changed.paused = Some(PauseReason::Requested),
            Some(false) => changed.paused = None,
            _ => {}
        }
        changed.check()?;
        Ok(changed)
    }
}
