//! Which sessions, messages, events, runs and approvals to list.

mod approvals;
mod run_list;
mod spending;

pub use self::{
    approvals::{ApprovalCursor, ApprovalFilter},
    run_list::{ListedRun, RunCursor, RunListFilter},
    spending::{BillPlace, BilledMessage, SpendingCursor, SpendingFilter},
};

use agcore_chat::{Actor, Text, Timestamp};
use serde::{Deserialize, Serialize};

use super::{
    Session,
    event::StoredEvent,
    message::{StoredMessage, Visibility},
    run::Run,
    status::SessionStatus,
};

/// Selects sessions of one tenant. They are listed by the time of their last change, the newest first.
///
/// ```
/// use agcore_session::{Actor, SessionFilter};
///
/// let page = SessionFilter::owned_by(Actor::new("acme", "ann")).with_limit(20);
/// // The next page starts after the last session of this one:
/// // page.after(SessionCursor::of(last))
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct SessionFilter {
    /// The tenant.
    pub tenant: Text,
    /// The owner, including the line of business.
    pub owner: Option<Actor>,
    /// The status.
    pub status: Option<SessionStatus>,
    /// The ids.
    pub ids: Option<Vec<String>>,
    /// The session whose [parts](super::NewSession::part_of) are selected.
    pub part_of: Option<String>,
    /// Whether sessions that were erased are selected as well. Their bill is left.
    pub includes_erased: bool,
    /// Only sessions that come after this place of the list.
    pub after: Option<SessionCursor>,
    /// The maximum number of sessions.
    pub limit: Option<u64>,
}

/// A place in the list of sessions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SessionCursor {
    /// The time of the last change of the session at this place.
    pub updated_at: Timestamp,
    /// Its id.
    pub id: String,
}

/// Selects messages of a session. They are listed by their number, the conversation upwards from 1, audit messages from −1
/// downwards.
///
/// ```
/// use agcore_session::{MessageFilter, Visibility};
///
/// // The last page of what a user sees, and the page before it.
/// let last = MessageFilter::new().with_visibility(Visibility::HISTORY).with_last(50);
/// let previous = last.clone().before(101);
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct MessageFilter {
    /// The conversation, or the audit messages.
    pub part: MessagePart,
    /// Only messages that are visible in all of these places.
    pub visibility: Visibility,
    /// Only messages that were written in this run.
    pub run: Option<String>,
    /// Only messages whose number is further from 0 than this one. 0 for all.
    pub after: u64,
    /// Only messages whose number is nearer to 0 than this one.
    pub before: Option<u64>,
    /// The maximum number of messages.
    pub limit: Option<u64>,
    /// Whether a limit keeps the last messages instead of the first ones. The order is the same.
    pub is_last: bool,
}

/// A part of the messages of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum MessagePart {
    /// The conversation.
    #[default]
    Conversation,
    /// The audit messages.
    Audit,
}

/// Selects events of a session. They are listed by their number.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct EventFilter {
    /// The run.
    pub run: Option<String>,
    /// Only events with a greater number.
    pub after: u64,
    /// The maximum number of events.
    pub limit: Option<u64>,
    /// Whether a limit keeps the last events instead of the first ones. The order is the same.
    pub is_last: bool,
}

/// Selects runs of a session. They are listed in the order in which they were first stored.
///
/// ```
/// use agcore_session::RunFilter;
///
/// let one = RunFilter::new().with_id("run-7");
/// let open = RunFilter::new().open();
/// let newest = RunFilter::new().with_last(20);
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RunFilter {
    /// The id.
    pub id: Option<String>,
    /// Only runs that are not over.
    pub is_open: bool,
    /// The maximum number of runs; the newest are selected.
    pub last: Option<u64>,
}

impl SessionFilter {
    /// Selects all sessions of a tenant.
    pub fn new(tenant: impl Into<Text>) -> Self {
        Self {
            tenant: tenant.into(),
            owner: None,
            status: None,
            ids: None,
            part_of: None,
            includes_erased: false,
            after: None,
            limit: None,
        }
    }

    /// Selects the sessions of an owner.
    pub fn owned_by(owner: Actor) -> Self {
        Self {
            owner: Some(owner.clone()),
            ..Self::new(owner.tenant)
        }
    }

    /// Selects sessions with this status.
    #[must_use]
    pub fn with_status(mut self, status: SessionStatus) -> Self {
        self.status = Some(status);
        self
    }

    /// Selects the sessions with these ids.
    #[must_use]
    pub fn with_ids(mut self, ids: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.ids = Some(ids.into_iter().map(Into::into).collect());
        self
    }

    /// Selects the parts of a session, such as those in which the agents of a flow work.
    #[must_use]
    pub fn with_part_of(mut self, whole: impl Into<String>) -> Self {
        self.part_of = Some(whole.into());
        self
    }

    /// Selects sessions that were erased as well, for a bill.
    #[must_use]
    pub fn with_erased(mut self) -> Self {
        self.includes_erased = true;
        self
    }

    /// Starts after this place of the list.
    #[must_use]
    pub fn after(mut self, place: SessionCursor) -> Self {
        self.after = Some(place);
        self
    }

    /// Sets the maximum number of sessions.
    #[must_use]
    pub fn with_limit(mut self, limit: u64) -> Self {
        self.limit = Some(limit);
        self
    }

    /// Returns whether a session meets the conditions, without regard to the limit.
    pub fn matches(&self, session: &Session) -> bool {
        let is_after = |place: &SessionCursor| (session.updated_at, &*session.id) < (place.updated_at, &*place.id);
        self.tenant == session.owner.tenant
            && self.owner.as_ref().is_none_or(|owner| *owner == session.owner)
            && self.status.is_none_or(|status| status == session.status)
            && self.ids.as_ref().is_none_or(|ids| ids.contains(&session.id))
            && self
                .part_of
                .as_ref()
                .is_none_or(|whole| session.part_of.as_ref() == Some(whole))
            && (self.includes_erased || !session.is_erased())
            && self.after.as_ref().is_none_or(is_after)
    }
}

impl SessionCursor {
    /// Returns the place of a session.
    pub fn of(session: &Session) -> Self {
        Self {
            updated_at: session.updated_at,
            id: session.id.clone(),
        }
    }
}

impl MessageFilter {
    /// Selects the whole conversation.
    pub fn new() -> Self {
        Self::default()
    }

    /// Selects the audit messages.
    pub fn audit() -> Self {
        Self {
            part: MessagePart::Audit,
            ..Self::default()
        }
    }

    /// Selects messages that are visible in all of these places.
    #[must_use]
    pub fn with_visibility(mut self, places: Visibility) -> Self {
        self.visibility = places;
        self
    }

    /// Selects messages that were written in a run.
    #[must_use]
    pub fn with_run(mut self, run: impl Into<String>) -> Self {
        self.run = Some(run.into());
        self
    }

    /// Selects messages after a number, without its sign.
    #[must_use]
    pub fn after(mut self, number: u64) -> Self {
        self.after = number;
        self
    }

    /// Selects messages before a number, without its sign.
    #[must_use]
    pub fn before(mut self, number: u64) -> Self {
        self.before = Some(number);
        self
    }

    /// Keeps the first messages.
    #[must_use]
    pub fn with_first(mut self, limit: u64) -> Self {
        (self.limit, self.is_last) = (Some(limit), false);
        self
    }

    /// Keeps the last messages.
    #[must_use]
    pub fn with_last(mut self, limit: u64) -> Self {
        (self.limit, self.is_last) = (Some(limit), true);
        self
    }

    /// Returns whether a message meets the conditions, without regard to the limit.
    pub fn matches(&self, message: &StoredMessage) -> bool {
        let number = message.seq.unsigned_abs();
        let is_in_part = match self.part {
            MessagePart::Conversation => message.seq > 0,
            MessagePart::Audit => message.seq < 0,
        };
        is_in_part
            && number > self.after
            && self.before.is_none_or(|before| number < before)
            && message.visibility.includes(self.visibility)
            && self.run.as_ref().is_none_or(|run| message.run.as_ref() == Some(run))
    }
}

impl EventFilter {
    /// Selects all events.
    pub fn new() -> Self {
        Self::default()
    }

    /// Selects the events of a run.
    #[must_use]
    pub fn with_run(mut self, run: impl Into<String>) -> Self {
        self.run = Some(run.into());
        self
    }

    /// Selects events after a number.
    #[must_use]
    pub fn after(mut self, number: u64) -> Self {
        self.after = number;
        self
    }

    /// Keeps the first events, up to this number of them.
    #[must_use]
    pub fn with_limit(mut self, limit: u64) -> Self {
        (self.limit, self.is_last) = (Some(limit), false);
        self
    }

    /// Keeps the last events, up to this number of them.
    #[must_use]
    pub fn with_last(mut self, limit: u64) -> Self {
        (self.limit, self.is_last) = (Some(limit), true);
        self
    }

    /// Returns whether an event meets the conditions, without regard to the limit.
    pub fn matches(&self, event: &StoredEvent) -> bool {
        event.seq > self.after && self.run.as_ref().is_none_or(|run| *run == event.run)
    }
}

impl RunFilter {
    /// Selects all runs.
    pub fn new() -> Self {
        Self::default()
    }

    /// Selects the run with this id.
    #[must_use]
    pub fn with_id(mut self, id: impl Into<String>) -> Self {
        self.id = Some(id.into());
        self
    }

    /// Selects runs that are [not over](crate::RunStatus::is_over).
    #[must_use]
    pub fn open(mut self) -> Self {
        self.is_open = true;
        self
    }

    /// Sets the maximum number of runs. The newest are selected.
    #[must_use]
    pub fn with_last(mut self, count: u64) -> Self {
        self.last = Some(count);
        self
    }

    /// Returns whether a run meets the conditions, without regard to the maximum number.
    pub fn matches(&self, run: &Run) -> bool {
        self.id.as_ref().is_none_or(|id| *id == run.id) && !(self.is_open && run.status.is_over())
    }
}
