//! [`Plan`]: the occurrences to start and to skip at a time.

use std::time::Duration;

use agcore_chat::Timestamp;

use crate::{
    occurrence::{Occurrence, RunRef, SkipReason},
    policy::{CatchUp, Overlap},
    schedule::Schedule,
    timing::Recent,
};

/// The time after which an occurrence is late.
const LATE: Duration = Duration::from_secs(60);

/// The state of the run that a schedule has started last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Previous {
    /// There is none, or it is not known any more.
    None,
    /// The run waits for a worker, is running, or waits for a person.
    Open,
    /// The run ended at this time.
    Over(Timestamp),
}

/// The occurrences of a schedule to start and to skip at a time.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Plan {
    /// The entry about the occurrences that are skipped.
    pub skipped: Option<Occurrence>,
    /// The occurrence that is to be started.
    pub start: Option<Timestamp>,
    /// Whether the run of the occurrence before is to be cancelled, because another one is started.
    pub cancels_previous: bool,
    /// The time of the next occurrence.
    pub next_at: Option<Timestamp>,
    /// Whether an occurrence waits until the run of the one before is over. Then nothing is to be done until then.
    pub waits: bool,
}

impl Plan {
    /// Returns whether there is nothing to do.
    pub const fn is_empty(&self) -> bool {
        self.skipped.is_none() && self.start.is_none()
    }

    /// Returns the occurrences to [record](crate::ScheduleStore::record), with the run that was started.
    pub fn occurrences(&self, run: Option<RunRef>) -> Vec<Occurrence> {
        let started = self.start.map(|at| Occurrence::started(at, run));
        self.skipped.iter().cloned().chain(started).collect()
    }
}

impl Schedule {
    /// Decides which occurrences to start and to skip at a time, which is that of the [store](crate::ScheduleStore::due).
    ///
    /// At most one occurrence is started. If more are to be started, which only [`CatchUp::All`] does, `next_at` is the next of
    /// them, and the schedule remains due. Occurrences that are skipped are counted up to [`COUNT_LIMIT`](crate::COUNT_LIMIT), so
    /// that the work is bounded however long no process was there.
    ///
    /// | run of the occurrence before | policy | the due occurrences |
    /// |---|---|---|
    /// | not over | [`Overlap::Skip`] | are skipped |
    /// | | [`Overlap::Queue`] | wait, and nothing changes |
    /// | | [`Overlap::Interrupt`] | as if that run were over, and it is cancelled if one is started |
    /// | over, or none | [`CatchUp::Skip`] | the last one is started unless it is late, the others are skipped |
    /// | | [`CatchUp::Once`] | the last one is started, the others are skipped |
    /// | | [`CatchUp::All`] | the first of the last `up_to` is started, those before it are skipped |
    pub fn plan(&self, now: Timestamp, previous: Previous) -> Plan {
        let nothing = Plan {
            next_at: self.next_at,
            ..Plan::default()
        };
        let Some(first) = self.next_at.filter(|at| *at <= now && !self.is_paused) else {
            return nothing;
        };
        let end = match (previous, self.overlap) {
            (Previous::Open, Overlap::Queue) => return Plan { waits: true, ..nothing },
            (Previous::Over(end), Overlap::Queue) => Some(end),
            _ => None,
        };
        let limit = self.catch_up.limit();
        // One more, which is the last of those that are skipped.
        let Recent { mut times, count } = self.timing.recent(first, now, limit + 1);
        let last = times.last().copied().unwrap_or(first);
        let is_late = now.since(end.map_or(last, |end| end.max(last))) > LATE;
        let starts = match (previous, self.overlap) {
            (Previous::Open, Overlap::Skip) => false,
            _ => self.catch_up != CatchUp::Skip || !is_late,
        };
        let kept = times.split_off(match starts {
            true => times.len().saturating_sub(limit),
            false => times.len(),
        });
        let skipped = times.last().map(|at| {
            let overlaps = match previous {
                Previous::Open => self.overlap == Overlap::Skip,
                _ => end.is_some_and(|end| *at <= end),
            };
            let reason = if overlaps {
                SkipReason::Overlap
            } else {
                SkipReason::Missed
            };
            Occurrence::skipped(*at, reason, count - kept.len() as u64)
        });
        let start = kept.first().copied();
        Plan {
            skipped,
            start,
            cancels_previous: start.is_some() && previous == Previous::Open,
            next_at: match kept.get(1) {
                Some(next) => Some(*next),
                None => self.timing.after(now),
            },
            waits: false,
        }
    }
}
