//! [`Retention`]: how long sessions and what belongs to them are kept.

use std::time::Duration;

use agcore_chat::Timestamp;

/// The time that sessions and their data are kept. Without a rule, everything is kept.
///
/// Nothing that is still needed is removed: a session with a run that is [not over](crate::RunStatus::is_over) or a question that
/// is open keeps its runs, and is not erased. A session and its [parts](super::NewSession::with_part_of) are needed together, are
/// as old as the youngest of them, and count as one. The bill is always kept: messages with their numbers, tokens and costs.
///
/// ```
/// use std::time::Duration;
///
/// use agcore_session::Retention;
///
/// const DAY: Duration = Duration::from_secs(24 * 60 * 60);
///
/// let retention = Retention::new()
///     .with_events(7 * DAY)
///     .with_runs(30 * DAY)
///     .with_runs_per_session(100)
///     .with_sessions(365 * DAY);
/// assert!(!retention.is_empty());
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Retention {
    /// Sessions that did not change for this long are [erased](super::SessionRetention::erase_session).
    pub sessions: Option<Duration>,
    /// The number of sessions that each user keeps. Those that did not change for the longest time are erased.
    pub sessions_per_user: Option<u64>,
    /// Runs that ended this long ago are deleted, with their events, tool calls, questions and checkpoints.
    pub runs: Option<Duration>,
    /// The number of runs that each session keeps. The oldest are deleted.
    pub runs_per_session: Option<u64>,
    /// The events of runs that ended this long ago are deleted.
    pub events: Option<Duration>,
    /// The content of audit messages that are this old is removed.
    pub audit: Option<Duration>,
}

/// The number of entries that were removed, or would be, by kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Pruned {
    /// The number of sessions that were erased, without their parts.
    pub sessions: u64,
    /// The number of runs that were deleted. Those of erased sessions are not counted.
    pub runs: u64,
    /// The number of events that were deleted. Those of deleted runs are not counted.
    pub events: u64,
    /// The number of audit messages that lost their content.
    pub audit_messages: u64,
}

impl Retention {
    /// Creates a retention without rules.
    pub fn new() -> Self {
        Self::default()
    }

    /// Erases sessions that did not change for this long.
    #[must_use]
    pub fn with_sessions(mut self, age: Duration) -> Self {
        self.sessions = Some(age);
        self
    }

    /// Keeps this many sessions of each user.
    #[must_use]
    pub fn with_sessions_per_user(mut self, count: u64) -> Self {
        self.sessions_per_user = Some(count);
        self
    }

    /// Deletes runs that ended this long ago.
    #[must_use]
    pub fn with_runs(mut self, age: Duration) -> Self {
        self.runs = Some(age);
        self
    }

    /// Keeps this many runs of each session.
    #[must_use]
    pub fn with_runs_per_session(mut self, count: u64) -> Self {
        self.runs_per_session = Some(count);
        self
    }

    /// Deletes the events of runs that ended this long ago.
    #[must_use]
    pub fn with_events(mut self, age: Duration) -> Self {
        self.events = Some(age);
        self
    }

    /// Removes the content of audit messages that are this old.
    #[must_use]
    pub fn with_audit(mut self, age: Duration) -> Self {
        self.audit = Some(age);
        self
    }

    /// Returns whether there is no rule, so that everything is kept.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Returns the moment that is `age` before `now`. Everything from before it is older.
    pub fn before(age: Duration, now: Timestamp) -> Timestamp {
        let millis = i64::try_from(age.as_millis()).unwrap_or(i64::MAX);
        Timestamp::from_millis(now.as_millis().saturating_sub(millis))
    }
}

impl Pruned {
    /// Creates a result from the numbers of sessions, runs, events and audit messages.
    pub fn new(sessions: u64, runs: u64, events: u64, audit_messages: u64) -> Self {
        Self {
            sessions,
            runs,
            events,
            audit_messages,
        }
    }

    /// Returns whether nothing was removed.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Adds what another pass has removed.
    pub fn add(&mut self, other: Self) {
        self.sessions += other.sessions;
        self.runs += other.runs;
        self.events += other.events;
        self.audit_messages += other.audit_messages;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_end_before_times_do() {
        let now = Timestamp::from_millis(10_000);
        assert_eq!(
            Retention::before(Duration::from_secs(3), now),
            Timestamp::from_millis(7_000)
        );
        assert_eq!(Retention::before(Duration::ZERO, now), now);
        assert_eq!(Retention::before(Duration::MAX, now), Timestamp::from_millis(i64::MIN));
    }

    #[test]
    fn every_rule_counts() {
        assert!(Retention::new().is_empty() && Pruned::default().is_empty());
        let age = Duration::from_secs(1);
        for retention in [
            Retention::new().with_sessions(age),
            Retention::new().with_sessions_per_user(0),
            Retention::new().with_runs(age),
            Retention::new().with_runs_per_session(0),
            Retention::new().with_events(age),
            Retention::new().with_audit(age),
        ] {
            assert!(!retention.is_empty(), "{retention:?}");
        }
        let mut sum = Pruned::new(1, 2, 3, 4);
        sum.add(Pruned::new(10, 20, 30, 40));
        assert_eq!(sum, Pruned::new(11, 22, 33, 44));
    }
}
