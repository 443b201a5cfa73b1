//! [`RunListFilter`]: which runs to list over all sessions of an owner.

use agcore_chat::{Actor, Timestamp};
use serde::{Deserialize, Serialize};

use crate::{
    run_status::RunStatus,
    session::{Session, run::Run},
};

/// Selects runs of all sessions of an owner. They are listed by the time at which they were first stored, the newest first; those
/// of the same time in descending order of their sessions and ids. Runs of [parts](crate::NewSession::with_part_of) of sessions,
/// and of sessions that were erased, are not listed.
///
/// ```
/// use agcore_session::{Actor, RunListFilter, RunStatus};
///
/// let page = RunListFilter::owned_by(Actor::new("acme", "ann"))
///     .with_status(RunStatus::Failed)
///     .with_limit(50);
/// // The next page starts after the last run of this one:
/// // page.after(RunCursor::of(last))
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct RunListFilter {
    /// The owner of the sessions, including the line of business.
    pub owner: Actor,
    /// The status.
    pub status: Option<RunStatus>,
    /// The name of an entry in the metadata of the session, with its text. Only texts are selected.
    pub metadata: Option<(String, String)>,
    /// Only runs that come after this place of the list.
    pub after: Option<RunCursor>,
    /// The name of a member of the inputs, which becomes the [`label`](ListedRun::label) if it is a text.
    pub label: Option<String>,
    /// The maximum number of runs.
    pub limit: Option<u64>,
}

/// A place in the list of runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RunCursor {
    /// The time at which the run at this place was first stored.
    pub created_at: Timestamp,
    /// The id of its session.
    pub session: String,
    /// Its id.
    pub run: String,
}

/// A run in a list over sessions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ListedRun {
    /// The id of the session.
    pub session: String,
    /// The title of the session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The text in the input of the run that the filter names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// The run, without its input and its outcome, which may be large: [`SessionReader::runs`](crate::SessionReader::runs) returns
    /// them.
    pub run: Run,
}

impl RunListFilter {
    /// Selects the runs of an owner.
    pub fn owned_by(owner: Actor) -> Self {
        Self {
            owner,
            status: None,
            metadata: None,
            label: None,
            after: None,
            limit: None,
        }
    }

    /// Selects runs with this status.
    #[must_use]
    pub fn with_status(mut self, status: RunStatus) -> Self {
        self.status = Some(status);
        self
    }

    /// Selects runs of sessions whose metadata has this text under this name.
    #[must_use]
    pub fn with_metadata(mut self, name: impl Into<String>, text: impl Into<String>) -> Self {
        self.metadata = Some((name.into(), text.into()));
        self
    }

    /// Returns a text in the input of each run with it.
    #[must_use]
    pub fn with_label(mut self, name: impl Into<String>) -> Self {
        self.label = Some(name.into());
        self
    }

    /// Starts after this place of the list.
    #[must_use]
    pub fn after(mut self, place: RunCursor) -> Self {
        self.after = Some(place);
        self
    }

    /// Sets the maximum number of runs.
    #[must_use]
    pub fn with_limit(mut self, limit: u64) -> Self {
        self.limit = Some(limit);
        self
    }

    /// Returns whether a run of a session meets the conditions, without regard to the limit.
    pub fn matches(&self, session: &Session, run: &Run) -> bool {
        let has = |(name, text): &(String, String)| {
            let found = session.metadata.get(name).and_then(serde_json::Value::as_str);
            found == Some(text.as_str())
        };
        let is_after = |place: &RunCursor| {
            (run.created_at, &*session.id, &*run.id) < (place.created_at, &*place.session, &*place.run)
        };
        self.owner == session.owner
            && session.part_of.is_none()
            && !session.is_erased()
            && self.status.is_none_or(|status| status == run.status)
            && self.metadata.as_ref().is_none_or(has)
            && self.after.as_ref().is_none_or(is_after)
    }
}

impl RunCursor {
    /// Creates a place: the time at which a run was first stored, the id of its session and its own.
    pub fn new(created_at: Timestamp, session: impl Into<String>, run: impl Into<String>) -> Self {
        Self {
            created_at,
            session: session.into(),
            run: run.into(),
        }
    }

    /// Returns the place of a run.
    pub fn of(listed: &ListedRun) -> Self {
        Self::new(listed.run.created_at, &*listed.session, &*listed.run.id)
    }
}

impl ListedRun {
    /// Creates a run in a list. Its input and its outcome are removed.
    pub fn new(session: impl Into<String>, title: Option<String>, label: Option<String>, run: Run) -> Self {
        let run = Run {
            input: None,
            outcome: None,
            ..run
        };
        Self {
            session: session.into(),
            title,
            label,
            run,
        }
    }
}
