//! [`SpendingFilter`] and [`BillPlace`]: which model calls to list.

use agcore_chat::{Actor, Text, Timestamp};
use serde::{Deserialize, Serialize};

use crate::session::{Session, costs::CostEntry, message::StoredMessage};

/// A place whose model calls are added up: a run, with the sessions in which its parts have worked.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct BillPlace {
    /// The id of the session.
    pub session: String,
    /// The id of the run.
    pub run: String,
    /// The beginning of the ids of [parts](crate::NewSession::with_part_of) of the session whose messages belong to the place as
    /// well, in whichever run they were written. Without one, no part does.
    pub parts: Option<String>,
}

/// Selects messages with model calls of one tenant, by the time at which they were stored. They are listed by this time, then by
/// session and number. Sessions that were erased are included, because their bill is left, and so are parts of sessions.
///
/// ```
/// use agcore_session::{Actor, SpendingFilter, Timestamp};
///
/// let day = 24 * 3600 * 1000;
/// let since = Timestamp::from_millis(20_000 * day);
/// let page = SpendingFilter::owned_by(Actor::new("acme", "ann"), since, Timestamp::from_millis(20_001 * day)).with_limit(500);
/// // The next page starts after the last message of this one:
/// // page.after(last.place())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct SpendingFilter {
    /// The tenant.
    pub tenant: Text,
    /// The owner of the sessions, including the line of business.
    pub owner: Option<Actor>,
    /// Only messages that were stored at this time or later.
    pub since: Timestamp,
    /// Only messages that were stored before this time.
    pub until: Timestamp,
    /// The name of an entry in the metadata of sessions, which becomes the [`label`](BilledMessage::label) if it is a text.
    pub label: Option<String>,
    /// Only messages that come after this place of the list.
    pub after: Option<SpendingCursor>,
    /// The maximum number of messages.
    pub limit: Option<u64>,
}

/// A place in a list of messages with model calls.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SpendingCursor {
    /// The time at which the message at this place was stored.
    pub created_at: Timestamp,
    /// The id of its session.
    pub session: String,
    /// Its number.
    pub seq: i64,
}

/// A message with model calls, in a list over sessions.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct BilledMessage {
    /// The id of the session.
    pub session: String,
    /// The owner of the session.
    pub owner: Actor,
    /// The text in the metadata of the session that the filter names.
    pub label: Option<String>,
    /// The number of the message.
    pub seq: i64,
    /// The time at which it was stored.
    pub created_at: Timestamp,
    /// Its model calls; at least one.
    pub calls: Vec<CostEntry>,
}

impl BillPlace {
    /// Names a run of a session.
    pub fn new(session: impl Into<String>, run: impl Into<String>) -> Self {
        Self {
            session: session.into(),
            run: run.into(),
            parts: None,
        }
    }

    /// Adds the parts of the session whose ids begin with this text.
    #[must_use]
    pub fn with_parts(mut self, prefix: impl Into<String>) -> Self {
        self.parts = Some(prefix.into());
        self
    }
}

impl SpendingFilter {
    /// Selects the messages of a tenant from a time on, up to another.
    pub fn new(tenant: impl Into<Text>, since: Timestamp, until: Timestamp) -> Self {
        Self {
            tenant: tenant.into(),
            owner: None,
            since,
            until,
            label: None,
            after: None,
            limit: None,
        }
    }

    /// Selects the messages in the sessions of an owner from a time on, up to another.
    pub fn owned_by(owner: Actor, since: Timestamp, until: Timestamp) -> Self {
        Self {
            owner: Some(owner.clone()),
            ..Self::new(owner.tenant, since, until)
        }
    }

    /// Returns a text in the metadata of each session with its messages.
    #[must_use]
    pub fn with_label(mut self, name: impl Into<String>) -> Self {
        self.label = Some(name.into());
        self
    }

    /// Starts after this place of the list.
    #[must_use]
    pub fn after(mut self, place: SpendingCursor) -> Self {
        self.after = Some(place);
        self
    }

    /// Sets the maximum number of messages.
    #[must_use]
    pub fn with_limit(mut self, limit: u64) -> Self {
        self.limit = Some(limit);
        self
    }

    /// Returns a message as a row of the list, if the filter selects it. The limit is not regarded.
    pub fn select(&self, session: &Session, message: &StoredMessage) -> Option<BilledMessage> {
        let is_selected = self.tenant == session.owner.tenant
            && self.owner.as_ref().is_none_or(|owner| *owner == session.owner)
            && self.since <= message.created_at
            && message.created_at < self.until;
        let calls = if is_selected {
            CostEntry::of(message)
        } else {
            Vec::new()
        };
        if calls.is_empty() {
            return None;
        }
        let text = |name: &String| session.metadata.get(name)?.as_str().map(str::to_owned);
        let billed = BilledMessage {
            session: session.id.clone(),
            owner: session.owner.clone(),
            label: self.label.as_ref().and_then(text),
            seq: message.seq,
            created_at: message.created_at,
            calls,
        };
        let is_after = self.after.as_ref().is_none_or(|after| billed.place() > *after);
        is_after.then_some(billed)
    }
}

impl SpendingCursor {
    /// Creates a place: the time at which a message was stored, the id of its session and its number.
    pub fn new(created_at: Timestamp, session: impl Into<String>, seq: i64) -> Self {
        Self {
            created_at,
            session: session.into(),
            seq,
        }
    }
}

impl BilledMessage {
    /// Creates a row of the list.
    pub fn new(session: impl Into<String>, owner: Actor, label: Option<String>, message: &StoredMessage) -> Self {
        Self {
            session: session.into(),
            owner,
            label,
            seq: message.seq,
            created_at: message.created_at,
            calls: CostEntry::of(message),
        }
    }

    /// Returns the place of the message in the list.
    pub fn place(&self) -> SpendingCursor {
        SpendingCursor::new(self.created_at, &*self.session, self.seq)
    }
}
