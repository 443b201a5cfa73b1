//! [`Occurrence`]: a time at which a schedule has started a run, or has not.

use agcore_chat::{Timestamp, id};
use serde::{Deserialize, Serialize};

use crate::error::ScheduleError;

/// A time at which a schedule has started a run, or has not, or several of the latter.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Occurrence {
    /// The time. If the entry is about several occurrences, it is that of the last one.
    pub at: Timestamp,
    /// The run that was started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<RunRef>,
    /// The outcome.
    pub outcome: Outcome,
    /// The number of occurrences that the entry is about: one that was started, or one or more that were skipped one after the
    /// other. They are counted up to [`COUNT_LIMIT`](crate::COUNT_LIMIT).
    pub count: u64,
}

/// The ids by which a run is found.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RunRef {
    /// The id of the thread: the session to which the run belongs.
    pub thread: String,
    /// The id of the run.
    pub run: String,
}

/// The outcome of an occurrence.
///
/// Serialized by its [name](Self::as_str).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "&'static str")]
pub enum Outcome {
    /// A run was started.
    Started,
    /// No run was started, for this reason.
    Skipped(SkipReason),
}

/// The reason why an occurrence has started no run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SkipReason {
    /// No process was there to start it in time.
    Missed,
    /// The run of an earlier occurrence was not over.
    Overlap,
    /// The program has refused to start it, for a reason that will not pass, such as a job that it cannot read.
    Refused,
}

impl Occurrence {
    /// Creates an occurrence that has started a run.
    pub const fn started(at: Timestamp, run: Option<RunRef>) -> Self {
        Self {
            at,
            run,
            outcome: Outcome::Started,
            count: 1,
        }
    }

    /// Creates an entry about occurrences that were skipped, the last of them at a time.
    pub const fn skipped(at: Timestamp, reason: SkipReason, count: u64) -> Self {
        Self {
            at,
            run: None,
            outcome: Outcome::Skipped(reason),
            count,
        }
    }

    /// Checks that every store can keep the occurrence.
    ///
    /// # Errors
    /// [`InvalidInput`](crate::ScheduleErrorKind::InvalidInput) if it is about no occurrence, or an id is not acceptable.
    pub fn check(&self) -> Result<(), ScheduleError> {
        if self.count == 0 {
            return Err(ScheduleError::invalid(
                "an entry is about at least one occurrence; its count is 0",
            ));
        }
        let Some(RunRef { thread, run }) = &self.run else {
            return Ok(());
        };
        id::check_named("the id of the thread", thread)?;
        Ok(id::check_named("the id of the run", run)?)
    }
}

impl RunRef {
    /// Creates a reference to a run of a thread.
    pub fn new(thread: impl Into<String>, run: impl Into<String>) -> Self {
        Self {
            thread: thread.into(),
            run: run.into(),
        }
    }
}

impl Outcome {
    /// Returns the name under which stores keep the outcome: `started`, `missed`, `overlap` or `refused`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Started => "started",
            Self::Skipped(SkipReason::Missed) => "missed",
            Self::Skipped(SkipReason::Overlap) => "overlap",
            Self::Skipped(SkipReason::Refused) => "refused",
        }
    }

    /// Returns the outcome with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "started" => Some(Self::Started),
            "missed" => Some(Self::Skipped(SkipReason::Missed)),
            "overlap" => Some(Self::Skipped(SkipReason::Overlap)),
            "refused" => Some(Self::Skipped(SkipReason::Refused)),
            _ => None,
        }
    }
}

impl From<Outcome> for &'static str {
    fn from(outcome: Outcome) -> Self {
        outcome.as_str()
    }
}

impl TryFrom<String> for Outcome {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        let outcome = Self::from_name(&name);
        outcome
            .ok_or_else(|| format!("`{name}` is not an outcome; expected `started`, `missed`, `overlap` or `refused`"))
    }
}
