//! Sessions: conversations with everything that belongs to them, which a [`SessionStore`] keeps.

mod status;
mod title;
mod message;
mod stored_metadata;
mod event;
mod run;
mod call;
mod approval;
mod document;
mod commit;
mod erasure;
mod retention;
mod filter;
mod store;
mod costs;
mod session_costs;
#[cfg(feature = "in-memory")]
mod in_memory;

#[cfg(feature = "patch")]
pub use self::document::DocumentPatch;
#[cfg(feature = "in-memory")]
pub use self::in_memory::InMemorySessionStore;
pub use self::{
    approval::{Approval, ApprovalChange, ApprovalStatus, NewApproval},
    call::{CallChange, CallStatus, StoredCall},
    commit::{Commit, Committed, SessionState},
    costs::{CostEntry, CostTotals},
    document::{DocumentChange, SessionDocument},
    event::{EventData, NewEvent, SessionEvents, StoredEvent},
    filter::{
        ApprovalCursor, ApprovalFilter, BillPlace, BilledMessage, EventFilter, ListedRun, MessageFilter, MessagePart,
        RunCursor, RunFilter, RunListFilter, SessionCursor, SessionFilter, SpendingCursor, SpendingFilter,
    },
    message::{MessageMetadata, MessageRole, NewMessage, StoredMessage, Visibility},
    retention::{Pruned, Retention},
    run::{Run, RunChange, RunProgress},
    status::SessionStatus,
    store::{
        RunAdministration, RunLeases, SessionReader, SessionReports, SessionRetention, SessionStore, SessionWriter,
        StoreLayer,
    },
    title::title_of,
};

use agcore_chat::{Actor, Text, Timestamp, id};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::error::SessionError;

/// A session: a conversation, its state and its owner.
///
/// A session is identified by the tenant of its owner and its id: two tenants may use the same id.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Session {
    /// The id, unique within the tenant of the owner.
    pub id: String,
    /// The tenant and user to whom the session belongs.
    pub owner: Actor,
    /// The title. It is set once, and changed only by [`SessionWriter::rename`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The status.
    pub status: SessionStatus,
    /// The id of the tool call for which a pending session waits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pending_tool_call_id: Option<String>,
    /// The id of the error of a failed session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_id: Option<String>,
    /// Where and in which currency the session is billed, if that is known. It never changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub billing: Option<Billing>,
    /// The session from which this one branched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<SessionOrigin>,
    /// The id of the session that contains this one as a part, such as a context, or the work of an agent in a flow. It never
    /// changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part_of: Option<String>,
    /// Data of the application.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub metadata: Map<String, Value>,
    /// The time at which the session was created, set by the store.
    pub created_at: Timestamp,
    /// The time of the last change, set by the store: a commit that is not empty, a new title, an answer. It does not go
    /// backwards, even if the clock does.
    pub updated_at: Timestamp,
    /// The time at which the session was [erased](SessionRetention::erase_session), so that only its bill is left.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub erased_at: Option<Timestamp>,
    /// The version of the [document](SessionDocument) of the session, 0 if it has none.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub document_version: u64,
    /// The sequence number of the last record, which the next [`SessionWriter::commit`] has to name. 0 if there is none.
    pub end: u64,
}

/// Where and in which currency a session is billed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Billing {
    /// The ISO 4217 code of the currency, such as `EUR`. All costs of the session are in this currency.
    pub currency: String,
    /// The ISO 3166-1 code of the country, such as `DE`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub country: Option<String>,
}

/// The place in another session of the same tenant at which a branch began.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SessionOrigin {
    /// The id of the other session.
    pub session: String,
    /// The number of its last message that belongs to the branch.
    pub message: i64,
}

/// The properties of a new session.
///
/// ```
/// use agcore_session::{Actor, Billing, NewSession};
///
/// let session = NewSession::new("support-17")
///     .with_owner(Actor::new("acme", "ann"))
///     .with_billing(Billing::new("EUR").with_country("DE"));
/// session.check()?;
/// # Ok::<(), agcore_session::SessionError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct NewSession {
    /// The id, unique within the tenant of the owner.
    pub id: String,
    /// The tenant and user to whom the session belongs.
    pub owner: Actor,
    /// The title.
    pub title: Option<String>,
    /// Where and in which currency the session is billed.
    pub billing: Option<Billing>,
    /// The session from which this one branched.
    pub origin: Option<SessionOrigin>,
    /// The id of the session that contains this one as a part.
    pub part_of: Option<String>,
    /// Data of the application.
    pub metadata: Map<String, Value>,
}

impl Session {
    /// Returns the tenant, which together with the id identifies the session.
    pub fn tenant(&self) -> &Text {
        &self.owner.tenant
    }

    /// Returns the name of the stream that keeps the records of the session. See [`stream_of`].
    pub fn stream(&self) -> String {
        stream_of(&self.owner.tenant, &self.id)
    }
}

/// Returns the name of the stream that keeps the records of a session, for [`Journal::read`](crate::Journal::read) and
/// [`Journal::trim`](crate::Journal::trim).
///
/// ```
/// use agcore_session::stream_of;
///
/// assert_eq!(stream_of("acme", "support/17"), "session/acme/support%2F17");
/// ```
pub fn stream_of(tenant: &str, session: &str) -> String {
    id::join(["session", tenant, session])
}

impl Billing {
    /// Creates billing in a currency, without a country.
    pub fn new(currency: impl Into<String>) -> Self {
        Self {
            currency: currency.into(),
            country: None,
        }
    }

    /// Sets the country.
    #[must_use]
    pub fn with_country(mut self, country: impl Into<String>) -> Self {
        self.country = Some(country.into());
        self
    }

    fn check(&self) -> Result<(), SessionError> {
        check_code("currency", &self.currency, 3)?;
        self.country
            .as_ref()
            .map_or(Ok(()), |country| check_code("country", country, 2))
    }
}

impl SessionOrigin {
    /// Creates an origin: a session, and the number of its last message that belongs to the branch.
    pub fn new(session: impl Into<String>, message: i64) -> Self {
        Self {
            session: session.into(),
            message,
        }
    }
}

impl NewSession {
    /// Creates a session of the actor [`local`](Actor::local).
    pub fn new(id: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            owner: Actor::local(),
            title: None,
            billing: None,
            origin: None,
            part_of: None,
            metadata: Map::new(),
        }
    }

    /// Sets the owner.
    #[must_use]
    pub fn with_owner(mut self, owner: Actor) -> Self {
        self.owner = owner;
        self
    }

    /// Sets the title.
    #[must_use]
    pub fn with_title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// Sets where and in which currency the session is billed.
    #[must_use]
    pub fn with_billing(mut self, billing: Billing) -> Self {
        self.billing = Some(billing);
        self
    }

    /// Makes the session a branch.
    #[must_use]
    pub fn with_origin(mut self, origin: SessionOrigin) -> Self {
        self.origin = Some(origin);
        self
    }

    /// Makes the session a part of another one of the same user, with which it is erased, deleted, and
    /// [removed when both are old](SessionRetention::prune). A part of a part is a part of the whole.
    #[must_use]
    pub fn with_part_of(mut self, session: impl Into<String>) -> Self {
        self.part_of = Some(session.into());
        self
    }

    /// Sets an entry of the metadata.
    #[must_use]
    pub fn with_metadata(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.metadata.insert(name.into(), value.into());
        self
    }

    /// Checks that every store can keep the session.
    ///
    /// # Errors
    /// [`InvalidInput`](crate::SessionErrorKind::InvalidInput) if the id, the owner, the billing, the origin or the whole is not
    /// acceptable.
    pub fn check(&self) -> Result<(), SessionError> {
        id::check_named("the id of the session", &self.id)?;
        self.owner.check()?;
        id::check_named(
            "the name of the session's stream",
            &stream_of(&self.owner.tenant, &self.id),
        )?;
        self.billing.as_ref().map_or(Ok(()), Billing::check)?;
        if let Some(whole) = &self.part_of {
            id::check_named("the id of the whole session", whole)?;
        }
        let origin = self.origin.as_ref();
        origin.map_or(Ok(()), |origin| {
            Ok(id::check_named("the id of the session's origin", &origin.session)?)
        })
    }

    /// Returns the session as it is after its creation.
    pub fn create(self, now: Timestamp) -> Session {
        Session {
            id: self.id,
            owner: self.owner,
            title: self.title,
            status: SessionStatus::Pending,
            pending_tool_call_id: None,
            error_id: None,
            billing: self.billing,
            origin: self.origin,
            part_of: self.part_of,
            metadata: self.metadata,
            created_at: now,
            updated_at: now,
            erased_at: None,
            document_version: 0,
            end: 0,
        }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

fn check_code(what: &str, code: &str, length: usize) -> Result<(), SessionError> {
    if code.len() == length && code.bytes().all(|byte| byte.is_ascii_uppercase()) {
        return Ok(());
    }
    Err(SessionError::invalid(format!(
        "{code:?} is not the code of a {what}: expected {length} capital letters"
    )))
}
