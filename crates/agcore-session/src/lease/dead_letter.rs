//! [`DeadLetter`]: a run that was claimed too often.

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
            "the run `{run}` is not a dead letter and cannot be queued again; start another run"
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
