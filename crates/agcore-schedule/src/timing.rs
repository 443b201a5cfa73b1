//! [`Timing`]: the times at which a schedule has occurrences.

mod recent;
mod interval;
mod calendar;

use std::time::Duration;

use agcore_chat::Timestamp;
use serde::{Deserialize, Serialize};

use self::{calendar::Calendar, interval::Interval, recent::Search};
use crate::error::ScheduleError;

pub use self::recent::{COUNT_LIMIT, Recent};

/// The shortest interval in seconds.
const MIN_SECONDS: u64 = 60;

/// The longest interval in seconds: a leap year.
const MAX_SECONDS: u64 = 366 * 24 * 60 * 60;

/// The times at which a schedule has occurrences.
///
/// Serialized in a form that people read and write:
///
/// ```
/// use agcore_schedule::Timing;
///
/// for json in [
///     r#"{"cron":"0 9 * * 1-5","zone":"Europe/Berlin"}"#,
///     r#"{"every":3600}"#,
///     r#"{"every":86400,"from":"2026-01-01T03:00:00.000Z"}"#,
///     r#"{"at":"2026-12-01T09:00:00.000Z"}"#,
/// ] {
///     let timing: Timing = serde_json::from_str(json)?;
///     timing.check()?;
///     assert_eq!(serde_json::to_string(&timing)?, json);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Cron expressions
///
/// An expression has five fields: minute, hour, day of the month, month, day of the week. Each is `*`, a number, a range (`1-5`),
/// a list (`1,15`), or a range with a step (`*/10`, `8-18/2`). Months and days of the week may be names (`JAN`, `MON`); 0 and 7 are
/// Sunday. If both days are restricted, one that fits either of them is meant; with `+` before the day of the week, both have to
/// fit. `L` is the last day of the month, `15W` the working day that is nearest to the 15th, `5#2` the second Friday, and `5L` the
/// last one.
///
/// # When clocks are changed
///
/// The time zones are those of the IANA database as it was when the program was built; the data of the system is not used. What
/// happens when the clocks of a zone are changed depends on whether the expression has one time a day, which is the case if its
/// minute and its hour are single numbers:
///
/// | | one time a day, as `30 2 * * *` | several times a day, as `30 * * * *` or `0,30 2 * * *` |
/// |---|---|---|
/// | clocks are put forward; the time does not exist | once, at the end of the gap: at 3:00 instead of 2:30 | not at all |
/// | clocks are put back; the time exists twice | once, at the earlier of the two | twice |
///
/// So an hourly expression has an occurrence in every hour that passes, and a daily one on every day. Intervals of
/// [`Every`](Self::Every) are of equal length, whatever clocks show.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "TimingForm", into = "TimingForm")]
#[non_exhaustive]
pub enum Timing {
    /// At the times of a cron expression.
    Cron {
        /// The expression.
        expression: String,
        /// The name of the time zone in the IANA database, such as `Europe/Berlin`.
        zone: String,
    },
    /// At regular intervals.
    Every {
        /// The length of an interval in seconds, from 60 to 31 622 400 (366 days).
        seconds: u64,
        /// The time of an occurrence from which the others are counted; there is none before it. Stores set it to the time at
        /// which the timing is stored, so that the first occurrence is one interval later. Without it, intervals are counted from
        /// the start of 1970.
        from: Option<Timestamp>,
    },
    /// Once.
    At(Timestamp),
}

impl Timing {
    /// Creates the timing of a cron expression in UTC.
    pub fn cron(expression: impl Into<String>) -> Self {
        Self::cron_in(expression, "UTC")
    }

    /// Creates the timing of a cron expression in a time zone.
    pub fn cron_in(expression: impl Into<String>, zone: impl Into<String>) -> Self {
        Self::Cron {
            expression: expression.into(),
            zone: zone.into(),
        }
    }

    /// Creates the timing of an interval, without the rest of its last second.
    pub const fn every(interval: Duration) -> Self {
        Self::Every {
            seconds: interval.as_secs(),
            from: None,
        }
    }

    /// Creates the timing of an interval that is counted from a time.
    pub const fn every_from(interval: Duration, from: Timestamp) -> Self {
        Self::Every {
            seconds: interval.as_secs(),
            from: Some(from),
        }
    }

    /// Creates the timing of a single time.
    pub const fn at(time: Timestamp) -> Self {
        Self::At(time)
    }

    /// Checks that the timing can be stored and has occurrences, if not necessarily later than now.
    ///
    /// # Errors
    /// [`InvalidInput`](crate::ScheduleErrorKind::InvalidInput) with the reason: an expression that cannot be read or never occurs
    /// (30 February), a time zone that is not known, an interval that is too short or too long.
    pub fn check(&self) -> Result<(), ScheduleError> {
        match self {
            Self::Cron { expression, zone } => match Calendar::new(expression, zone)?.occurs() {
                true => Ok(()),
                false => Err(ScheduleError::invalid(format!(
                    "the cron expression `{expression}` never occurs; choose days that exist"
                ))),
            },
            Self::Every { seconds, .. } => match seconds {
                MIN_SECONDS..=MAX_SECONDS => Ok(()),
                _ => Err(ScheduleError::invalid(format!(
                    "the interval of {seconds} seconds is not acceptable; use {MIN_SECONDS} to {MAX_SECONDS}"
                ))),
            },
            Self::At(_) => Ok(()),
        }
    }

    /// Returns the first occurrence after a time. Returns `None` if there is none, or if the timing does not pass
    /// [`check`](Self::check).
    ///
    /// ```
    /// use agcore_schedule::Timing;
    ///
    /// let timing = Timing::cron_in("0 9 * * 1-5", "Europe/Berlin");
    /// let friday = "2026-07-03T12:00:00Z".parse()?;
    /// assert_eq!(timing.after(friday), Some("2026-07-06T07:00:00Z".parse()?));
    /// # Ok::<(), agcore_schedule::TimestampError>(())
    /// ```
    pub fn after(&self, time: Timestamp) -> Option<Timestamp> {
        match self {
            Self::Cron { expression, zone } => Calendar::new(expression, zone).ok()?.after(time),
            Self::Every { seconds, from } => Interval::new(*seconds, *from)?.after(time),
            Self::At(at) => Some(*at).filter(|at| *at > time),
        }
    }

    /// Returns the last `count` occurrences from `first`, which is an occurrence, up to a time, and how many there are.
    ///
    /// The work is bounded: see [`COUNT_LIMIT`]. Of a timing that does not pass [`check`](Self::check), there is only the first.
    pub fn recent(&self, first: Timestamp, until: Timestamp, count: usize) -> Recent {
        let later = match self {
            Self::Cron { expression, zone } => {
                let calendar = Calendar::new(expression, zone).ok();
                calendar.map(|calendar| recent::by_search(&calendar, first, until, count))
            }
            Self::Every { seconds, from } => {
                let interval = Interval::new(*seconds, *from);
                interval.map(|interval| recent::by_search(&interval, first, until, count))
            }
            Self::At(_) => None,
        };
        later.unwrap_or_else(|| Recent::one(first, until, count))
    }

    /// Sets the time from which intervals are counted, if none is set.
    pub(crate) fn started(self, now: Timestamp) -> Self {
        match self {
            Self::Every { seconds, from: None } => Self::Every {
                seconds,
                from: Some(now),
            },
            other => other,
        }
    }
}

/// The members of a timing in JSON: those of one of its forms.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct TimingForm {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cron: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    zone: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    every: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    from: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    at: Option<Timestamp>,
}

impl TryFrom<TimingForm> for Timing {
    type Error = &'static str;

    fn try_from(form: TimingForm) -> Result<Self, Self::Error> {
        let TimingForm {
            cron,
            zone,
            every,
            from,
            at,
        } = form;
        match (cron, zone, every, from, at) {
            (Some(expression), None, None, None, None) => Ok(Self::cron(expression)),
            (Some(expression), Some(zone), None, None, None) => Ok(Self::cron_in(expression, zone)),
            (None, None, Some(seconds), from, None) => Ok(Self::Every { seconds, from }),
            (None, None, None, None, Some(time)) => Ok(Self::At(time)),
            _ => Err("expected `cron` and perhaps `zone`, or `every` (seconds) and perhaps `from`, or `at`"),
        }
    }
}

impl From<Timing> for TimingForm {
    fn from(timing: Timing) -> Self {
        let mut form = Self::default();
        match timing {
            Timing::Cron { expression, zone } => (form.cron, form.zone) = (Some(expression), Some(zone)),
            Timing::Every { seconds, from } => (form.every, form.from) = (Some(seconds), from),
            Timing::At(time) => form.at = Some(time),
        }
        form
    }
}
