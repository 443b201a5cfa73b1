//! [`Timestamp`]: a moment in UTC, in milliseconds.

use std::{
    fmt,
    str::FromStr,
    time::{Duration, SystemTime},
};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use time::{
    OffsetDateTime,
    format_description::{BorrowedFormatItem, well_known::Rfc3339},
    macros::format_description,
};

const FORMAT: &[BorrowedFormatItem<'static>] =
    format_description!("[year]-[month]-[day]T[hour]:[minute]:[second].[subsecond digits:3]Z");

/// The first and the last moment that have a four-digit year.
const MIN: i64 = -62_167_219_200_000;
const MAX: i64 = 253_402_300_799_999;

/// A moment in UTC with a precision of milliseconds, which every store keeps.
///
/// Printed, parsed and serialized as RFC 3339 with milliseconds and `Z`. The default is the start of 1970.
///
/// ```
/// use agcore_chat::Timestamp;
///
/// let time: Timestamp = "2026-01-01T10:00:00+01:00".parse()?;
/// assert_eq!(time.to_string(), "2026-01-01T09:00:00.000Z");
/// assert_eq!(Timestamp::from_millis(1_500).to_string(), "1970-01-01T00:00:01.500Z");
/// # Ok::<(), agcore_chat::TimestampError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Timestamp(i64);

/// The error of a text that is not a moment in RFC 3339.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected a time such as 2026-01-01T09:00:00Z")]
pub struct TimestampError(());

impl Timestamp {
    /// Creates a moment from the milliseconds since the start of 1970. Years before 0 and after 9999 are clamped.
    pub const fn from_millis(millis: i64) -> Self {
        Self(if millis < MIN {
            MIN
        } else if millis > MAX {
            MAX
        } else {
            millis
        })
    }

    /// Returns the milliseconds since the start of 1970.
    pub const fn as_millis(self) -> i64 {
        self.0
    }

    /// Returns the time from an earlier moment to this one, or zero if the other is later.
    pub fn since(self, earlier: Self) -> Duration {
        let millis = self.0.saturating_sub(earlier.0);
        Duration::from_millis(u64::try_from(millis).unwrap_or(0))
    }

    /// Returns the moment that is this much later.
    #[must_use]
    pub fn after(self, duration: Duration) -> Self {
        let millis = i64::try_from(duration.as_millis()).unwrap_or(i64::MAX);
        Self::from_millis(self.0.saturating_add(millis))
    }

    /// Formats the moment without milliseconds.
    ///
    /// ```
    /// # use agcore_chat::Timestamp;
    /// assert_eq!(Timestamp::from_millis(951_782_400_042).to_text_in_seconds(), "2000-02-29T00:00:00Z");
    /// ```
    pub fn to_text_in_seconds(self) -> String {
        let mut text = self.to_string();
        text.truncate("2000-02-29T00:00:00".len());
        text.push('Z');
        text
    }
}

/// Drops everything below a millisecond.
impl From<SystemTime> for Timestamp {
    fn from(time: SystemTime) -> Self {
        let millis = match time.duration_since(SystemTime::UNIX_EPOCH) {
            Ok(after) => i64::try_from(after.as_millis()).unwrap_or(i64::MAX),
            Err(before) => i64::try_from(before.duration().as_millis()).map_or(i64::MIN, |millis| -millis),
        };
        Self::from_millis(millis)
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let nanos = i128::from(self.0) * 1_000_000;
        let time = OffsetDateTime::from_unix_timestamp_nanos(nanos).map_err(|_| fmt::Error)?;
        f.write_str(&time.format(FORMAT).map_err(|_| fmt::Error)?)
    }
}

impl FromStr for Timestamp {
    type Err = TimestampError;

    fn from_str(text: &str) -> Result<Self, TimestampError> {
        let time = OffsetDateTime::parse(text, &Rfc3339).map_err(|_| TimestampError(()))?;
        let millis = time.unix_timestamp_nanos().div_euclid(1_000_000);
        Ok(Self::from_millis(
            i64::try_from(millis).map_err(|_| TimestampError(()))?,
        ))
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        text.parse().map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn rejects_other_texts() {
        for text in [
            "",
            "2026-01-01",
            "2026-13-01T00:00:00Z",
            "yesterday",
            "2026-01-01T00:00:00",
        ] {
            assert!(text.parse::<Timestamp>().is_err(), "{text}");
        }
    }

    #[test]
    fn moments_outside_of_the_range_are_clamped() {
        assert_eq!(Timestamp::from_millis(i64::MIN).to_string(), "0000-01-01T00:00:00.000Z");
        assert_eq!(Timestamp::from_millis(i64::MAX).to_string(), "9999-12-31T23:59:59.999Z");
        assert_eq!(Timestamp::default().after(Duration::MAX).as_millis(), MAX);
        assert_eq!(Timestamp::default().since(Timestamp::from_millis(5)), Duration::ZERO);
    }

    proptest! {
        #[test]
        fn survives_json(millis in MIN..=MAX) {
            let time = Timestamp::from_millis(millis);
            let json = serde_json::to_string(&time).unwrap();
            prop_assert_eq!(serde_json::from_str::<Timestamp>(&json).unwrap(), time);
        }
    }
}
