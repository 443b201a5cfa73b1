//! [`Recent`]: the last occurrences up to a time.

use std::collections::VecDeque;

use agcore_chat::Timestamp;

/// The number up to which occurrences are counted. When more are due, such as after weeks without a process, the count stays at
/// this number, so that the work is bounded.
pub const COUNT_LIMIT: u64 = 1000;

/// The last occurrences up to a time, and how many there are.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Recent {
    /// The times of the last ones, oldest first.
    pub times: Vec<Timestamp>,
    /// The number of all, at most [`COUNT_LIMIT`].
    pub count: u64,
}

impl Recent {
    /// Returns the first occurrence alone.
    pub(super) fn one(first: Timestamp, until: Timestamp, count: usize) -> Self {
        let is_due = first <= until;
        Self {
            times: if is_due && count > 0 { vec![first] } else { Vec::new() },
            count: u64::from(is_due),
        }
    }
}

/// A search for occurrences in both directions.
pub(super) trait Search {
    /// Returns the first occurrence after a time.
    fn after(&self, time: Timestamp) -> Option<Timestamp>;

    /// Returns the last occurrence before a time.
    fn before(&self, time: Timestamp) -> Option<Timestamp>;
}

/// Finds the last occurrences: forwards, or backwards from the end if there are many.
pub(super) fn by_search(search: &dyn Search, first: Timestamp, until: Timestamp, count: usize) -> Recent {
    let count = count.min(usize::try_from(COUNT_LIMIT).unwrap_or(usize::MAX));
    let mut last: VecDeque<Timestamp> = VecDeque::new();
    let (mut next, mut found) = (Some(first), 0);
    while let Some(time) = next.filter(|time| *time <= until) {
        if found == COUNT_LIMIT {
            last = backwards(search, first, until, count);
            break;
        }
        found += 1;
        last.push_back(time);
        if last.len() > count {
            last.pop_front();
        }
        next = search.after(time);
    }
    Recent {
        times: last.into(),
        count: found,
    }
}

fn backwards(search: &dyn Search, first: Timestamp, until: Timestamp, count: usize) -> VecDeque<Timestamp> {
    let mut last = VecDeque::new();
    let mut end = Timestamp::from_millis(until.as_millis().saturating_add(1));
    while last.len() < count {
        let Some(time) = search.before(end).filter(|time| *time >= first) else {
            break;
        };
        last.push_front(time);
        end = time;
    }
    last
}
