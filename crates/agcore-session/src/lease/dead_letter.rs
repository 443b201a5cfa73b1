//! [`DeadLetter`]: a run that was claimed too often, and the pages in which these are listed.

use agcore_chat::{Text, Timestamp};
use serde::{Deserialize, Serialize};

use crate::error::SessionError;

/// A run that was claimed too often without ending, as one that kills its worker is. It has failed, and can be
/// [queued again](crate::RunLeases::revive).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct DeadLetter {
    /// The tenant.
    pub tenant: Text,
    /// The id of the session.
    pub session: String,
    /// The id of the run.
    pub run: String,
    /// How often the run was claimed.
    pub attempts: u32,
    /// The name of the worker that has claimed it last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worker: Option<String>,
    /// The time at which it failed, in the time of the database.
    pub at: Timestamp,
}

impl DeadLetter {
    /// Creates a dead letter. For implementations of [`RunLeases`](crate::RunLeases).
    pub fn new(
        (tenant, session, run): (impl Into<Text>, impl Into<String>, impl Into<String>),
        attempts: u32,
        worker: Option<String>,
        at: Timestamp,
    ) -> Self {
        Self {
            tenant: tenant.into(),
            session: session.into(),
            run: run.into(),
            attempts,
            worker,
            at,
        }
    }

    /// Returns the error of a run that is not a dead letter. For implementations of [`revive`](crate::RunLeases::revive).
    #[cold]
    pub fn refuse(run: &str) -> SessionError {
        SessionError::invalid_state(format!(
            "the run `{run}` is not a dead letter, so that it cannot be queued again or discarded; start another run"
        ))
    }

    /// Returns the reason for people.
    pub fn reason(&self) -> String {
        format!(
            "{} workers have started the run `{}` and none has ended it; look for what ends the workers, then queue the run again",
            self.attempts, self.run
        )
    }
}

/// The dead letters of a tenant that are listed, the oldest first.
///
/// ```
/// use agcore_session::DeadLetterFilter;
///
/// let first = DeadLetterFilter::new("acme").with_limit(50);
/// assert_eq!((first.limit, first.after), (50, None));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeadLetterFilter {
    /// The tenant.
    pub tenant: Text,
    /// Only those after this place.
    pub after: Option<DeadLetterCursor>,
    /// The maximum number. 100 by default.
    pub limit: u64,
}

/// The place of a dead letter in the list of those of its tenant. Letters of the same millisecond are in the order of their ids.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct DeadLetterCursor {
    /// The time at which the run failed.
    pub at: Timestamp,
    /// The id of the session.
    pub session: String,
    /// The id of the run.
    pub run: String,
}

impl DeadLetter {
    /// Returns the place in the list of those of the tenant.
    pub fn cursor(&self) -> DeadLetterCursor {
        DeadLetterCursor {
            at: self.at,
            session: self.session.clone(),
            run: self.run.clone(),
        }
    }
}

impl DeadLetterFilter {
    /// Selects the first dead letters of a tenant.
    pub fn new(tenant: impl Into<Text>) -> Self {
        Self {
            tenant: tenant.into(),
            after: None,
            limit: 100,
        }
    }

    /// Selects those after a place.
    #[must_use]
    pub fn after(mut self, place: DeadLetterCursor) -> Self {
        self.after = Some(place);
        self
    }

    /// Sets the maximum number.
    #[must_use]
    pub fn with_limit(mut self, limit: u64) -> Self {
        self.limit = limit;
        self
    }
}
