//! [`Webhook`]: a URL that is notified about events.

mod change;
mod new;

use agcore_chat::{Actor, Timestamp};
use serde::{Deserialize, Serialize};
use url::Url;

use crate::{
    error::WebhookError,
    event::{EventKind, EventKinds},
    secret::SigningSecret,
};

pub use self::{change::WebhookChange, new::NewWebhook};

/// The maximum length of the id of a webhook in bytes.
pub const MAX_WEBHOOK_ID_BYTES: usize = 100;

/// The maximum length of a URL in bytes.
pub const MAX_URL_BYTES: usize = 2048;

/// The maximum length of a title in bytes.
const MAX_TITLE: usize = 1024;

/// A URL that is notified about events, with the secret that signs the messages.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Webhook {
    /// The id, unique within the tenant.
    pub id: String,
    /// The user to whom the webhook belongs, with the tenant.
    pub owner: Actor,
    /// Whose runs it is about.
    pub scope: WebhookScope,
    /// The title, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The URL to which messages are sent, `https` or `http`.
    pub url: String,
    /// The events that are sent.
    pub events: EventKinds,
    /// The secret that signs messages.
    pub secret: SigningSecret,
    /// The secret before, which signs messages as well until a time, so that the receiver can change to the new one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub previous_secret: Option<PreviousSecret>,
    /// Why the webhook is paused, if it is. Events that happen meanwhile are not sent later.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paused: Option<PauseReason>,
    /// The number of the version, from 1. Each change increases it; messages do not.
    pub revision: u64,
    /// The time at which the webhook was created.
    pub created_at: Timestamp,
    /// The time at which it was changed last.
    pub updated_at: Timestamp,
}

/// A secret that was replaced.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PreviousSecret {
    /// The secret.
    pub secret: SigningSecret,
    /// The time until which it signs messages.
    pub until: Timestamp,
}

impl PreviousSecret {
    /// Creates a secret that signs messages until a time.
    pub const fn new(secret: SigningSecret, until: Timestamp) -> Self {
        Self { secret, until }
    }
}

/// Whose runs a webhook is about.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum WebhookScope {
    /// The runs of its owner, in the same line of business.
    #[default]
    Owner,
    /// All runs of the tenant.
    Tenant,
}

impl WebhookScope {
    /// Returns the name under which stores keep the scope: `owner` or `tenant`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Owner => "owner",
            Self::Tenant => "tenant",
        }
    }

    /// Returns the scope with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Owner, Self::Tenant]
            .into_iter()
            .find(|scope| scope.as_str() == name)
    }
}

/// Why a webhook is paused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum PauseReason {
    /// Somebody has paused it.
    Requested,
    /// The receiver has answered with the status 410, which means that it wants no more messages.
    Gone,
    /// A message was given up after days, and the receiver has accepted none of those that came after it.
    Failing,
}

impl PauseReason {
    /// Returns the name under which stores keep the reason: `requested`, `gone` or `failing`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Requested => "requested",
            Self::Gone => "gone",
            Self::Failing => "failing",
        }
    }

    /// Returns whether a message that is given up for this reason pauses its webhook. `is_passed` is whether the receiver has
    /// accepted a message that came after it: then only this message is wrong, unless the receiver wants no more of them. For
    /// implementations of [`WebhookStore`](crate::WebhookStore).
    pub const fn applies(self, is_passed: bool) -> bool {
        !(is_passed && matches!(self, Self::Failing))
    }

    /// Returns the reason with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        let all = [Self::Requested, Self::Gone, Self::Failing];
        all.into_iter().find(|reason| reason.as_str() == name)
    }
}

impl Webhook {
    /// Returns the tenant.
    pub fn tenant(&self) -> &str {
        &self.owner.tenant
    }

    /// Returns whether the webhook is notified about an event of a run of this user.
    ///
    /// Stores decide this in the transaction in which the run gets its status.
    pub fn wants(&self, kind: EventKind, owner: &Actor) -> bool {
        let is_in_scope = match self.scope {
            WebhookScope::Owner => self.owner == *owner,
            WebhookScope::Tenant => self.owner.tenant == owner.tenant,
        };
        self.paused.is_none() && is_in_scope && self.events.contains(kind)
    }

    /// Returns the value of the header `webhook-signature` for a message that is sent at a time: a signature with each secret that
    /// is valid then.
    pub fn signatures(&self, id: &str, at: Timestamp, body: &str) -> String {
        let current = self.secret.sign(id, at, body);
        match &self.previous_secret {
            Some(previous) if at < previous.until => format!("{current} {}", previous.secret.sign(id, at, body)),
            _ => current,
        }
    }

    /// Returns the webhook as it is when its messages give a reason to pause it: with a new revision, like after every change. One
    /// that is paused already stays as it is. For implementations of [`WebhookStore`](crate::WebhookStore).
    #[must_use]
    pub fn paused_for(&self, reason: PauseReason, now: Timestamp) -> Self {
        match self.paused {
            Some(_) => self.clone(),
            None => Self {
                paused: Some(reason),
                revision: self.revision + 1,
                updated_at: now.max(self.updated_at),
                ..self.clone()
            },
        }
    }

    /// Checks that a change is to the revision that its writer has read. For implementations of
    /// [`WebhookStore`](crate::WebhookStore).
    ///
    /// # Errors
    /// [`Conflict`](crate::WebhookErrorKind::Conflict) if it is another one.
    pub fn check_revision(&self, expected: u64) -> Result<(), WebhookError> {
        match self.revision == expected {
            true => Ok(()),
            false => Err(WebhookError::conflict(&self.id, expected, self.revision)),
        }
    }

    /// Checks what can be changed.
    fn check(&self) -> Result<(), WebhookError> {
        check_url(&self.url)?;
        if self.events.is_empty() {
            return Err(WebhookError::invalid(
                "the webhook is about no events; name at least one, such as `run.completed`",
            ));
        }
        match self.title.as_ref().map(String::len) {
            Some(length) if length > MAX_TITLE => Err(WebhookError::invalid(format!(
                "the title of the webhook has {length} bytes; at most {MAX_TITLE} are allowed"
            ))),
            _ => Ok(()),
        }
    }
}

/// Checks the form of a URL. Whether messages may be sent to its address is up to the sender.
fn check_url(text: &str) -> Result<(), WebhookError> {
    if text.len() > MAX_URL_BYTES {
        let length = text.len();
        return Err(WebhookError::invalid(format!(
            "the URL has {length} bytes; at most {MAX_URL_BYTES} are allowed"
        )));
    }
    // The parser removes some of them, so that the URL would be another one than its text.
    if text.contains(|c: char| c.is_whitespace() || c.is_control()) {
        return Err(WebhookError::invalid(
            "the URL contains a space or a control character; encode it, such as %20",
        ));
    }
    let url = Url::parse(text).map_err(|error| WebhookError::invalid(format!("the URL is not valid: {error}")))?;
    if !matches!(url.scheme(), "https" | "http") || url.host().is_none() {
        return Err(WebhookError::invalid(
            "the URL must begin with https:// or http:// and name a host",
        ));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(WebhookError::invalid(
            "the URL contains a user name or a password; messages are signed instead, so remove them",
        ));
    }
    match url.fragment() {
        Some(_) => Err(WebhookError::invalid(
            "the URL has a part after `#`, which servers never see; remove it",
        )),
        None => Ok(()),
    }
}
