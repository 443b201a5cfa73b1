//! [`Interval`]: intervals of equal length.

use agcore_chat::Timestamp;

use super::recent::Search;

/// Intervals of equal length.
#[derive(Debug)]
pub(super) struct Interval {
    millis: i64,
    from: i64,
}

impl Interval {
    /// Returns `None` if the interval has no length that can be counted with.
    pub(super) fn new(seconds: u64, from: Option<Timestamp>) -> Option<Self> {
        let millis = i64::try_from(seconds).ok()?.checked_mul(1000)?;
        (millis > 0).then(|| Self {
            millis,
            from: from.unwrap_or_default().as_millis(),
        })
    }

    /// Returns the occurrence with a number, if stores can keep its time.
    fn number(&self, number: i64) -> Option<Timestamp> {
        let millis = self.millis.checked_mul(number)?.checked_add(self.from)?;
        Some(Timestamp::from_millis(millis)).filter(|time| time.as_millis() == millis)
    }
}

impl Search for Interval {
    fn after(&self, time: Timestamp) -> Option<Timestamp> {
        let passed = (time.as_millis() - self.from).div_euclid(self.millis);
        self.number((passed + 1).max(0))
    }

    fn before(&self, time: Timestamp) -> Option<Timestamp> {
        let passed = (time.as_millis() - self.from - 1).div_euclid(self.millis);
        (passed >= 0).then(|| self.number(passed)).flatten()
    }
}
