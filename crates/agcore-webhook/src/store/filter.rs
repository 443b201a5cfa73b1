//! [`WebhookFilter`] and [`DeliveryFilter`].

use agcore_chat::Text;

use crate::{
    delivery::{Delivery, DeliveryState},
    webhook::Webhook,
};

/// A selection of webhooks of a tenant.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct WebhookFilter {
    /// The tenant.
    pub tenant: Text,
    /// Selects webhooks of this user, in all lines of business.
    pub user: Option<Text>,
    /// Selects webhooks after the one with this id, which need not exist.
    pub after: Option<String>,
    /// The maximum number of webhooks.
    pub limit: Option<u64>,
}

impl WebhookFilter {
    /// Selects all webhooks of a tenant.
    pub fn new(tenant: impl Into<Text>) -> Self {
        Self {
            tenant: tenant.into(),
            user: None,
            after: None,
            limit: None,
        }
    }

    /// Selects webhooks of a user.
    #[must_use]
    pub fn with_user(mut self, user: impl Into<Text>) -> Self {
        self.user = Some(user.into());
        self
    }

    /// Selects webhooks after the one with this id.
    #[must_use]
    pub fn after(mut self, id: impl Into<String>) -> Self {
        self.after = Some(id.into());
        self
    }

    /// Sets the maximum number of webhooks.
    #[must_use]
    pub fn with_limit(mut self, limit: u64) -> Self {
        self.limit = Some(limit);
        self
    }

    /// Returns whether the webhook is selected, apart from the limit. For implementations of
    /// [`WebhookStore`](crate::WebhookStore).
    pub fn matches(&self, webhook: &Webhook) -> bool {
        webhook.owner.tenant == self.tenant
            && self.user.as_ref().is_none_or(|user| webhook.owner.user == *user)
            && self.after.as_ref().is_none_or(|after| webhook.id > *after)
    }
}

/// A selection of the messages of a webhook.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeliveryFilter {
    /// Selects the message with this id.
    pub id: Option<String>,
    /// Selects messages in this state.
    pub state: Option<DeliveryState>,
    /// Selects messages that are older than the one with this id. If that does not exist any more, nothing is selected.
    pub before: Option<String>,
    /// The maximum number of messages.
    pub limit: Option<u64>,
}

impl DeliveryFilter {
    /// Selects all messages.
    pub fn new() -> Self {
        Self::default()
    }

    /// Selects the message with this id.
    #[must_use]
    pub fn with_id(mut self, id: impl Into<String>) -> Self {
        self.id = Some(id.into());
        self
    }

    /// Selects messages in a state.
    #[must_use]
    pub fn with_state(mut self, state: DeliveryState) -> Self {
        self.state = Some(state);
        self
    }

    /// Selects messages that are older than the one with this id.
    #[must_use]
    pub fn before(mut self, id: impl Into<String>) -> Self {
        self.before = Some(id.into());
        self
    }

    /// Sets the maximum number of messages.
    #[must_use]
    pub fn with_limit(mut self, limit: u64) -> Self {
        self.limit = Some(limit);
        self
    }

    /// Returns whether the message is selected, apart from the place and the limit. For implementations of
    /// [`WebhookStore`](crate::WebhookStore).
    pub fn matches(&self, delivery: &Delivery) -> bool {
        self.id.as_ref().is_none_or(|id| delivery.id == *id) && self.state.is_none_or(|state| delivery.state == state)
    }
}
