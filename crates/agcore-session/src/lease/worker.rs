//! [`WorkerReport`] and [`Worker`]: the processes that execute runs.

use std::time::Duration;

use agcore_chat::{Text, Timestamp, id};
use serde::{Deserialize, Serialize};

use crate::error::SessionError;

/// The longest time for which a report counts.
const MAX_LENGTH: Duration = Duration::from_secs(24 * 3600);

/// The longest name or version of a process, in bytes.
const MAX_NAME: usize = 1024;

/// The report of a process that executes runs, which it repeats again and again.
///
/// ```
/// use std::time::Duration;
/// use agcore_session::WorkerReport;
///
/// // The id is random and new for every process.
/// let mut report = WorkerReport::new("process-5d0a3c1e", "worker on build-7").with_length(Duration::from_secs(60));
/// (report.slots, report.runs) = (64, 3);
/// report.check()?;
/// # Ok::<(), agcore_session::SessionError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct WorkerReport {
    /// A random id that is new for every process. Give claims holders that begin with it, so that the runs of the process are
    /// [found](crate::RunAdministration::held_runs).
    pub id: String,
    /// The name, for people. Two processes may have the same.
    pub name: String,
    /// The version of the program.
    pub version: String,
    /// The number of runs that the process executes at most at a time.
    pub slots: u32,
    /// The number of runs that it executes.
    pub runs: u32,
    /// The tenants whose runs it executes; all if there are none.
    pub tenants: Vec<Text>,
    /// Whether it claims no more runs, because it was asked to.
    pub is_draining: bool,
    /// How long the process counts as alive unless it reports again. 60 s by default.
    pub length: Duration,
}

/// A process that executes runs, as it has reported last.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Worker {
    /// The id, which is new for every process.
    pub id: String,
    /// The name, for people.
    pub name: String,
    /// The version of the program.
    pub version: String,
    /// The number of runs that the process executes at most at a time.
    pub slots: u32,
    /// The number of runs that it executed when it has reported last.
    pub runs: u32,
    /// The tenants whose runs it executes; all if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tenants: Vec<Text>,
    /// Whether it claims no more runs, because it was asked to.
    pub is_draining: bool,
    /// The time of the first report.
    pub since: Timestamp,
    /// The time of the last report.
    pub reported_at: Timestamp,
    /// The time until which it counts as alive unless it reports again.
    pub until: Timestamp,
    /// The time at which somebody has asked it to claim no more runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drain_requested_at: Option<Timestamp>,
}

impl WorkerReport {
    /// Creates the report of a process without slots.
    pub fn new(id: impl Into<String>, name: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            name: name.into(),
            version: String::new(),
            slots: 0,
            runs: 0,
            tenants: Vec::new(),
            is_draining: false,
            length: Duration::from_secs(60),
        }
    }

    /// Sets how long the process counts as alive unless it reports again.
    #[must_use]
    pub fn with_length(mut self, length: Duration) -> Self {
        self.length = length;
        self
    }

    /// Checks that every store can keep the report.
    ///
    /// # Errors
    /// [`InvalidInput`](crate::SessionErrorKind::InvalidInput) if an id, a name or the length is not acceptable.
    pub fn check(&self) -> Result<(), SessionError> {
        id::check_named("the id of the worker", &self.id)?;
        id::check_named("the name of the worker", &self.name)?;
        for tenant in &self.tenants {
            id::check_named("the tenant", tenant)?;
        }
        if self.version.len() > MAX_NAME || self.version.contains('\0') {
            return Err(SessionError::invalid(format!(
                "the version of a worker must have at most {MAX_NAME} bytes and no null characters"
            )));
        }
        match self.length {
            length if length < Duration::from_millis(1) || length > MAX_LENGTH => Err(SessionError::invalid(format!(
                "a report for {length:?} is not acceptable; use 1 ms to 24 hours"
            ))),
            _ => Ok(()),
        }
    }
}

impl Worker {
    /// Returns a process after a report. `known` is what it has reported before, if that is kept. For implementations of
    /// [`RunAdministration`](crate::RunAdministration).
    pub fn reported(report: &WorkerReport, known: Option<&Self>, now: Timestamp) -> Self {
        Self {
            id: report.id.clone(),
            name: report.name.clone(),
            version: report.version.clone(),
            slots: report.slots,
            runs: report.runs,
            tenants: report.tenants.clone(),
            is_draining: report.is_draining,
            since: known.map_or(now, |known| known.since),
            reported_at: now,
            until: now.after(report.length),
            drain_requested_at: known.and_then(|known| known.drain_requested_at),
        }
    }

    /// Returns whether the process counts as alive.
    pub fn is_alive(&self, now: Timestamp) -> bool {
        self.until > now
    }
}
