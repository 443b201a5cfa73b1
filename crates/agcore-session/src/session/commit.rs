//! [`Commit`]: everything that changes in a session at once.

use agcore_chat::{Timestamp, id};

use super::{
    Billing, Session, approval::ApprovalChange, call::CallChange, document::DocumentChange, event::NewEvent,
    message::NewMessage, run::RunChange, status::SessionStatus,
};
use crate::{
    error::SessionError,
    journal::Record,
    lease::{Fence, RunLimits},
};

/// Everything that changes in a session at once: a store writes all of it or nothing.
///
/// ```
/// use agcore_session::{Commit, MessageRole, NewMessage, Record, RunChange, RunStatus, SessionState, Timestamp};
/// use serde_json::json;
///
/// let commit = Commit::new()
///     .with_record(Record::new("outcome", 1, Timestamp::default(), json!({})))
///     .with_message(NewMessage::new("m1", MessageRole::User, "Hello"))
///     .with_run(RunChange::new("r1", RunStatus::Running))
///     .with_state(SessionState::running())
///     .with_title("Hello");
/// commit.check()?;
/// # Ok::<(), agcore_session::SessionError>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Commit {
    /// Records for the stream of the session.
    pub records: Vec<Record>,
    /// Messages.
    pub messages: Vec<NewMessage>,
    /// Events.
    pub events: Vec<NewEvent>,
    /// New runs, and new statuses of runs.
    pub runs: Vec<RunChange>,
    /// Tool calls that begin or have finished.
    pub calls: Vec<CallChange>,
    /// Questions, answers and withdrawals.
    pub approvals: Vec<ApprovalChange>,
    /// A new value of the document.
    pub document: Option<DocumentChange>,
    /// The new state of the session.
    pub state: Option<SessionState>,
    /// The title, for a session that has none.
    pub title: Option<String>,
    /// The lease under which this is written: nothing is, unless it still holds.
    pub fence: Option<Fence>,
    /// The limits of runs under which this is written: nothing is, unless one more run is allowed.
    pub limits: Option<RunLimits>,
}

/// The state of a session, which changes as a whole.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SessionState {
    /// The status.
    pub status: SessionStatus,
    /// The id of the tool call for which a pending session waits.
    pub pending_tool_call_id: Option<String>,
    /// The id of the error of a failed session.
    pub error_id: Option<String>,
}

/// The numbers that a commit gave to its parts.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Committed {
    /// The sequence number of the last record, for the next commit.
    pub end: u64,
    /// The numbers of the messages, in order.
    pub messages: Vec<i64>,
    /// The numbers of the events, in order.
    pub events: Vec<u64>,
}

impl SessionState {
    /// Waiting for a person, but not because of a tool call.
    pub const fn pending() -> Self {
        Self::of(SessionStatus::Pending)
    }

    /// A run is going on.
    pub const fn running() -> Self {
        Self::of(SessionStatus::Running)
    }

    /// Completed: the last run ended without an error.
    pub const fn completed() -> Self {
        Self::of(SessionStatus::Completed)
    }

    /// Failed: the last run ended with the error that has this id.
    pub fn failed(error_id: impl Into<String>) -> Self {
        Self {
            error_id: Some(error_id.into()),
            ..Self::of(SessionStatus::Failed)
        }
    }

    /// Waiting for a person to decide about this tool call.
    pub fn waiting_for(call_id: impl Into<String>) -> Self {
        Self {
            pending_tool_call_id: Some(call_id.into()),
            ..Self::of(SessionStatus::Pending)
        }
    }

    const fn of(status: SessionStatus) -> Self {
        Self {
            status,
            pending_tool_call_id: None,
            error_id: None,
        }
    }

    fn check(&self) -> Result<(), SessionError> {
        if let Some(call) = &self.pending_tool_call_id {
            id::check_named("the id of the tool call", call)?;
        }
        if let Some(error) = &self.error_id {
            id::check_named("the id of the error", error)?;
        }
        match self.status {
            SessionStatus::Pending if self.error_id.is_some() => {
                Err(SessionError::invalid("a pending session has no error"))
            }
            SessionStatus::Running | SessionStatus::Completed
                if self.error_id.is_some() || self.pending_tool_call_id.is_some() =>
            {
                Err(SessionError::invalid(format!(
                    "a session that is {} waits for no tool call and has no error",
                    self.status
                )))
            }
            SessionStatus::Failed if self.pending_tool_call_id.is_some() => {
                Err(SessionError::invalid("a failed session waits for no tool call"))
            }
            _ => Ok(()),
        }
    }

    /// Returns the session with this state.
    ///
    /// # Errors
    /// [`InvalidState`](crate::SessionErrorKind::InvalidState) if the session cannot get the new status.
    pub fn apply(self, session: Session, now: Timestamp) -> Result<Session, SessionError> {
        if !session.status.can_become(self.status) {
            return Err(SessionError::invalid_state(format!(
                "the session `{}` is {} and cannot become {}",
                session.id, session.status, self.status
            )));
        }
        Ok(Session {
            status: self.status,
            pending_tool_call_id: self.pending_tool_call_id,
            error_id: self.error_id,
            updated_at: now.max(session.updated_at),
            ..session
        })
    }
}

impl Commit {
    /// Creates a commit that changes nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a record.
    #[must_use]
    pub fn with_record(mut self, record: Record) -> Self {
        self.records.push(record);
        self
    }

    /// Adds a message.
    #[must_use]
    pub fn with_message(mut self, message: NewMessage) -> Self {
        self.messages.push(message);
        self
    }

    /// Adds an event.
    #[must_use]
    pub fn with_event(mut self, event: NewEvent) -> Self {
        self.events.push(event);
        self
    }

    /// Adds a run or a new status of one.
    #[must_use]
    pub fn with_run(mut self, run: RunChange) -> Self {
        self.runs.push(run);
        self
    }

    /// Adds a change of the journal of tool calls.
    #[must_use]
    pub fn with_call(mut self, call: CallChange) -> Self {
        self.calls.push(call);
        self
    }

    /// Adds a change of an approval.
    #[must_use]
    pub fn with_approval(mut self, approval: ApprovalChange) -> Self {
        self.approvals.push(approval);
        self
    }

    /// Sets a new value of the document.
    #[must_use]
    pub fn with_document(mut self, document: DocumentChange) -> Self {
        self.document = Some(document);
        self
    }

    /// Sets the new state of the session.
    #[must_use]
    pub fn with_state(mut self, state: SessionState) -> Self {
        self.state = Some(state);
        self
    }

    /// Sets the title, if the session has none. See [`title_of`](super::title_of).
    #[must_use]
    pub fn with_title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// Writes the commit only if a lease still holds.
    #[must_use]
    pub fn with_fence(mut self, fence: Fence) -> Self {
        self.fence = Some(fence);
        self
    }

    /// Writes the commit, which begins a run, only if one more run is allowed. Others that do so at the same time are counted as
    /// well, in this process and in others.
    #[must_use]
    pub fn with_limits(mut self, limits: RunLimits) -> Self {
        self.limits = Some(limits);
        self
    }

    /// Returns whether the commit changes nothing.
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
            && self.messages.is_empty()
            && self.events.is_empty()
            && self.runs.is_empty()
            && self.calls.is_empty()
            && self.approvals.is_empty()
            && self.document.is_none()
            && self.state.is_none()
            && self.title.is_none()
    }

    /// Returns the session as it is after the commit, except for its [`end`](Session::end).
    ///
    /// # Errors
    /// - [`InvalidState`](crate::SessionErrorKind::InvalidState) if the session was erased, or cannot get the new status.
    /// - [`InvalidInput`](crate::SessionErrorKind::InvalidInput) if a cost is not in the currency in which the session is billed.
    pub fn apply(&self, session: Session, now: Timestamp) -> Result<Session, SessionError> {
        if session.is_erased() {
            return Err(SessionError::invalid_state(format!(
                "the session `{}` was erased and cannot change; create another one",
                session.id
            )));
        }
        self.check_costs(&session)?;
        if self.is_empty() {
            return Ok(session);
        }
        let mut session = match &self.state {
            Some(state) => state.clone().apply(session, now)?,
            None => session,
        };
        session.updated_at = session.updated_at.max(now);
        if session.title.is_none() {
            session.title.clone_from(&self.title);
        }
        Ok(session)
    }

    fn check_costs(&self, session: &Session) -> Result<(), SessionError> {
        let costs = self.messages.iter().filter_map(|message| message.cost.as_ref());
        for currency in costs.map(|cost| &*cost.currency) {
            match &session.billing {
                Some(billing) if billing.currency == currency => {}
                Some(Billing { currency: billed, .. }) => {
                    return Err(SessionError::invalid(format!(
                        "a cost is in {currency}, but the session `{}` is billed in {billed}",
                        session.id
                    )));
                }
                None => {
                    return Err(SessionError::invalid(format!(
                        "a message has a cost, but the session `{}` was created without billing",
                        session.id
                    )));
                }
            }
        }
        Ok(())
    }

    /// Checks that every store can keep the commit. Stores call this before they write anything.
    ///
    /// # Errors
    /// [`InvalidInput`](crate::SessionErrorKind::InvalidInput) if a part is not acceptable.
    pub fn check(&self) -> Result<(), SessionError> {
        self.records.iter().try_for_each(Record::check)?;
        self.messages.iter().try_for_each(NewMessage::check)?;
        self.events.iter().try_for_each(NewEvent::check)?;
        self.runs.iter().try_for_each(RunChange::check)?;
        self.calls.iter().try_for_each(CallChange::check)?;
        self.approvals.iter().try_for_each(ApprovalChange::check)?;
        self.document.as_ref().map_or(Ok(()), DocumentChange::check)?;
        self.fence.as_ref().map_or(Ok(()), Fence::check)?;
        self.state.as_ref().map_or(Ok(()), SessionState::check)
    }
}

impl Committed {
    /// Creates the result of a commit.
    pub fn new(end: u64, messages: Vec<i64>, events: Vec<u64>) -> Self {
        Self { end, messages, events }
    }
}
