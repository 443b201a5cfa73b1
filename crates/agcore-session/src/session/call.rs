//! The journal of tool calls: which ones were started, and what they returned.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use agcore_chat::{Timestamp, id};

use crate::error::SessionError;

/// A tool call that was started.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct StoredCall {
    /// The id of the run.
    pub run: String,
    /// The id of the call, unique within the run.
    pub id: String,
    /// The name of the tool.
    pub name: String,
    /// The arguments.
    pub arguments: Value,
    /// The result, once the call has finished.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<Value>,
    /// The time at which the call began, set by the store.
    pub started_at: Timestamp,
    /// The time at which the call finished, set by the store.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finished_at: Option<Timestamp>,
}

/// The status of a call that was started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CallStatus {
    /// The call was started. If the process that ran it died, its outcome is unknown.
    Started,
    /// The call has finished, and its result is known.
    Finished,
}

impl StoredCall {
    /// Creates a call that was started.
    pub fn new(
        run: impl Into<String>,
        id: impl Into<String>,
        name: impl Into<String>,
        arguments: Value,
        started_at: Timestamp,
    ) -> Self {
        Self {
            run: run.into(),
            id: id.into(),
            name: name.into(),
            arguments,
            result: None,
            started_at,
            finished_at: None,
        }
    }

    /// Returns the status.
    pub fn status(&self) -> CallStatus {
        if self.result.is_some() {
            CallStatus::Finished
        } else {
            CallStatus::Started
        }
    }
}

/// A change of the journal of tool calls, to be stored with a [`Commit`](super::Commit).
///
/// A call begins at most once in a run: a second `Start` of the same id is an error, so that no call is executed twice. A
/// finished call keeps its first result; finishing it again is an error, too.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum CallChange {
    /// A call begins.
    #[non_exhaustive]
    Start {
        /// The id of the run.
        run: String,
        /// The id of the call.
        id: String,
        /// The name of the tool.
        name: String,
        /// The arguments.
        arguments: Value,
    },
    /// A call has finished.
    #[non_exhaustive]
    Finish {
        /// The id of the run.
        run: String,
        /// The id of the call.
        id: String,
        /// The result.
        result: Value,
    },
}

impl CallChange {
    /// Creates the beginning of a call.
    pub fn start(run: impl Into<String>, id: impl Into<String>, name: impl Into<String>, arguments: Value) -> Self {
        Self::Start {
            run: run.into(),
            id: id.into(),
            name: name.into(),
            arguments,
        }
    }

    /// Creates the end of a call.
    pub fn finish(run: impl Into<String>, id: impl Into<String>, result: Value) -> Self {
        Self::Finish {
            run: run.into(),
            id: id.into(),
            result,
        }
    }

    /// Returns the ids of the run and of the call.
    pub fn ids(&self) -> (&str, &str) {
        match self {
            Self::Start { run, id, .. } | Self::Finish { run, id, .. } => (run, id),
        }
    }

    /// Checks that every store can keep the call.
    ///
    /// # Errors
    /// [`InvalidInput`](crate::SessionErrorKind::InvalidInput) if an id or the name is not acceptable.
    pub fn check(&self) -> Result<(), SessionError> {
        let (run, id) = self.ids();
        id::check_named("the id of the run", run)?;
        id::check_named("the id of the call", id)?;
        match self {
            Self::Start { name, .. } => Ok(id::check_named("the name of the tool", name)?),
            Self::Finish { .. } => Ok(()),
        }
    }

    /// Returns the call as it is stored: a new one, or the known one after the change. A call does not finish before it started,
    /// even if the clock goes backwards.
    ///
    /// # Errors
    /// [`InvalidState`](crate::SessionErrorKind::InvalidState) if a call starts twice, finishes twice, or finishes without having
    /// started.
    pub fn apply(self, known: Option<StoredCall>, now: Timestamp) -> Result<StoredCall, SessionError> {
        let refuse =
            |id: &str, reason: &str| Err(SessionError::invalid_state(format!("the tool call `{id}` {reason}")));
        match (self, known) {
            (
                Self::Start {
                    run,
                    id,
                    name,
                    arguments,
                },
                None,
            ) => Ok(StoredCall::new(run, id, name, arguments, now)),
            (Self::Start { id, .. }, Some(_)) => refuse(&id, "was started already in this run"),
            (Self::Finish { id, .. }, None) => refuse(&id, "was not started in this run"),
            (Self::Finish { id, result, .. }, Some(known)) => {
                if known.result.is_some() {
                    return refuse(&id, "has finished already");
                }
                Ok(StoredCall {
                    result: Some(result),
                    finished_at: Some(now.max(known.started_at)),
                    ..known
                })
            }
        }
    }
}
