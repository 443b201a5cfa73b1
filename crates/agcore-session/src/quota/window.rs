//! [`QuotaWindow`]: the period of time in which a quota counts.

use std::{fmt, time::Duration};

use agcore_chat::Timestamp;
use serde::{Deserialize, Serialize};
use time::{Date, Month, OffsetDateTime};

const MINUTE: i64 = 60_000;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;

/// The period of time in which a quota counts: a calendar minute, hour, day or month in UTC.
///
/// ```
/// use agcore_session::quota::QuotaWindow;
///
/// let now = "2028-02-29T12:34:56Z".parse()?;
/// assert_eq!(QuotaWindow::Hour.start(now).to_string(), "2028-02-29T12:00:00.000Z");
/// assert_eq!(QuotaWindow::Month.end(now).to_string(), "2028-03-01T00:00:00.000Z");
/// # Ok::<(), agcore_chat::TimestampError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum QuotaWindow {
    /// A calendar minute.
    Minute,
    /// A calendar hour.
    Hour,
    /// A day, from midnight to midnight in UTC.
    Day,
    /// A month in UTC.
    Month,
}

impl QuotaWindow {
    /// All windows, the shortest first.
    pub const ALL: [Self; 4] = [Self::Minute, Self::Hour, Self::Day, Self::Month];

    /// Returns the name of the window, such as `day`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Minute => "minute",
            Self::Hour => "hour",
            Self::Day => "day",
            Self::Month => "month",
        }
    }

    /// Returns the window with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|window| window.as_str() == name)
    }

    /// Returns the beginning of the window that contains a moment.
    pub fn start(self, now: Timestamp) -> Timestamp {
        match self.millis() {
            Some(length) => Timestamp::from_millis(now.as_millis().div_euclid(length) * length),
            None => month(now, 0),
        }
    }

    /// Returns the end of the window that contains a moment, which is the beginning of the next one.
    pub fn end(self, now: Timestamp) -> Timestamp {
        match self.millis() {
            Some(length) => Timestamp::from_millis((now.as_millis().div_euclid(length) + 1) * length),
            None => month(now, 1),
        }
    }

    /// Returns how long it takes from a moment to the end of the window that contains it.
    pub fn left(self, now: Timestamp) -> Duration {
        self.end(now).since(now)
    }

    const fn millis(self) -> Option<i64> {
        match self {
            Self::Minute => Some(MINUTE),
            Self::Hour => Some(HOUR),
            Self::Day => Some(DAY),
            Self::Month => None,
        }
    }
}

/// Returns the beginning of the month of a moment, or of one of the months after it.
fn month(now: Timestamp, later: u8) -> Timestamp {
    let start = || {
        let date = OffsetDateTime::from_unix_timestamp(now.as_millis().div_euclid(1000))
            .ok()?
            .date();
        let (year, month) = (date.year(), u8::from(date.month()) - 1 + later);
        let month_of_year = Month::try_from(month % 12 + 1).ok()?;
        let first = Date::from_calendar_date(year + i32::from(month / 12), month_of_year, 1).ok()?;
        Some(first.midnight().assume_utc().unix_timestamp())
    };
    // The last month that a timestamp can have ends with the last moment.
    let seconds = start().unwrap_or(i64::MAX / 1000);
    Timestamp::from_millis(seconds.saturating_mul(1000))
}

/// Writes the name.
impl fmt::Display for QuotaWindow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn months_have_their_own_lengths() {
        for (now, start, end) in [
            (
                "2027-02-28T23:59:59.999Z",
                "2027-02-01T00:00:00.000Z",
                "2027-03-01T00:00:00.000Z",
            ),
            (
                "2026-12-01T00:00:00Z",
                "2026-12-01T00:00:00.000Z",
                "2027-01-01T00:00:00.000Z",
            ),
            (
                "1969-12-31T23:59:59.999Z",
                "1969-12-01T00:00:00.000Z",
                "1970-01-01T00:00:00.000Z",
            ),
        ] {
            let now = now.parse().unwrap();
            assert_eq!(QuotaWindow::Month.start(now).to_string(), start);
            assert_eq!(QuotaWindow::Month.end(now).to_string(), end);
        }
        let last = Timestamp::from_millis(i64::MAX);
        assert_eq!(QuotaWindow::Month.end(last), last);
    }

    proptest! {
        #[test]
        fn each_moment_is_in_one_window(millis in 0..4_000_000_000_000_i64) {
            let now = Timestamp::from_millis(millis);
            for window in QuotaWindow::ALL {
                let (start, end) = (window.start(now), window.end(now));
                prop_assert!(start <= now && now < end);
                prop_assert_eq!(window.start(end), end);
                prop_assert_eq!(window.end(start), end);
                prop_assert_eq!(now.after(window.left(now)), end);
            }
        }
    }
}
