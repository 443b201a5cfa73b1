//! [`ApprovalFilter`]: which approvals to list.

use agcore_chat::{Actor, Text, Timestamp};
use serde::{Deserialize, Serialize};

use crate::session::approval::{Approval, ApprovalStatus};

/// Selects approvals of one tenant. They are listed by the time of the question, then by session and id.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ApprovalFilter {
    /// The tenant.
    pub tenant: Text,
    /// The owner of the sessions, including the line of business.
    pub owner: Option<Actor>,
    /// The session.
    pub session: Option<String>,
    /// The status.
    pub status: Option<ApprovalStatus>,
    /// Only approvals that come after this place of the list.
    pub after: Option<ApprovalCursor>,
    /// The maximum number of approvals.
    pub limit: Option<u64>,
}

/// A place in the list of approvals.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ApprovalCursor {
    /// The time of the question at this place.
    pub asked_at: Timestamp,
    /// The id of its session.
    pub session: String,
    /// Its id.
    pub id: String,
}

impl ApprovalFilter {
    /// Selects all approvals of a tenant.
    pub fn new(tenant: impl Into<Text>) -> Self {
        Self {
            tenant: tenant.into(),
            owner: None,
            session: None,
            status: None,
            after: None,
            limit: None,
        }
    }

    /// Selects the approvals in the sessions of an owner.
    pub fn owned_by(owner: Actor) -> Self {
        Self {
            owner: Some(owner.clone()),
            ..Self::new(owner.tenant)
        }
    }

    /// Selects the approvals of a session.
    #[must_use]
    pub fn with_session(mut self, session: impl Into<String>) -> Self {
        self.session = Some(session.into());
        self
    }

    /// Selects approvals with this status.
    #[must_use]
    pub fn with_status(mut self, status: ApprovalStatus) -> Self {
        self.status = Some(status);
        self
    }

    /// Starts after this place of the list.
    #[must_use]
    pub fn after(mut self, place: ApprovalCursor) -> Self {
        self.after = Some(place);
        self
    }

    /// Sets the maximum number of approvals.
    #[must_use]
    pub fn with_limit(mut self, limit: u64) -> Self {
        self.limit = Some(limit);
        self
    }

    /// Returns whether an approval in a session of this owner meets the conditions, without regard to the limit.
    pub fn matches(&self, approval: &Approval, owner: &Actor) -> bool {
        self.tenant == owner.tenant
            && self.owner.as_ref().is_none_or(|wanted| wanted == owner)
            && self.session.as_ref().is_none_or(|session| *session == approval.session)
            && self.status.is_none_or(|status| status == approval.status)
            && self.after.as_ref().is_none_or(|place| place.is_before(approval))
    }
}

impl ApprovalCursor {
    /// Creates a place: the time of a question, the id of its session and its own.
    pub fn new(asked_at: Timestamp, session: impl Into<String>, id: impl Into<String>) -> Self {
        Self {
            asked_at,
            session: session.into(),
            id: id.into(),
        }
    }

    /// Returns the place of an approval.
    pub fn of(approval: &Approval) -> Self {
        Self::new(approval.asked_at, &*approval.session, &*approval.id)
    }

    fn is_before(&self, approval: &Approval) -> bool {
        let place = (approval.asked_at, &*approval.session, &*approval.id);
        place > (self.asked_at, &*self.session, &*self.id)
    }
}
