//! [`ModelPrice`]: the price of a model in one currency, for one service class and time.

use std::time::{Duration, SystemTime};

use super::tiers::TierTable;
use crate::{currency::Currency, problem::Problem};

/// The number of seconds in a day.
const DAY: u64 = 86_400;

/// The hours of each day, in UTC, in which a price applies.
///
/// ```
/// use agcore_catalog::DailyHours;
///
/// // From half past four in the afternoon to half past midnight.
/// let hours = DailyHours::parse("hours", "16:30-00:30")?;
/// assert!(hours.contains_minute(23 * 60) && hours.contains_minute(29) && !hours.contains_minute(30));
/// # Ok::<(), agcore_catalog::Problem>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct DailyHours {
    /// The first minute of the day.
    start: u16,
    /// The first minute after it, which may be on the next day.
    end: u16,
}

impl DailyHours {
    /// Reads `HH:MM-HH:MM`; the end may be on the next day.
    ///
    /// # Errors
    /// Fails for any other text, and if start and end are the same.
    pub fn parse(field: &str, text: &str) -> Result<Self, Problem> {
        let minute = |text: &str| {
            let (hours, minutes) = text.split_once(':')?;
            let number = |part: &str, end: u16| {
                let is_number = part.len() == 2 && part.bytes().all(|byte| byte.is_ascii_digit());
                part.parse::<u16>().ok().filter(|number| is_number && *number < end)
            };
            Some(number(hours, 24)? * 60 + number(minutes, 60)?)
        };
        let hours = text
            .split_once('-')
            .and_then(|(start, end)| Some((minute(start)?, minute(end)?)));
        match hours {
            Some((start, end)) if start != end => Ok(Self { start, end }),
            _ => Err(Problem::text(
                field,
                text,
                "hours are written as HH:MM-HH:MM in UTC, such as 16:30-00:30",
            )),
        }
    }

    /// Returns whether the hours contain this minute of the day.
    pub fn contains_minute(&self, minute: u16) -> bool {
        match self.start < self.end {
            true => (self.start..self.end).contains(&minute),
            false => minute >= self.start || minute < self.end,
        }
    }

    fn contains(&self, at: SystemTime) -> bool {
        let seconds = at
            .duration_since(SystemTime::UNIX_EPOCH)
            .unwrap_or(Duration::ZERO)
            .as_secs();
        u16::try_from(seconds % DAY / 60).is_ok_and(|minute| self.contains_minute(minute))
    }

    /// Returns whether two ranges have a minute in common.
    fn overlaps(&self, other: &Self) -> bool {
        self.contains_minute(other.start) || other.contains_minute(self.start)
    }
}

/// The price of a model: one row of a [`PriceList`](crate::PriceList).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ModelPrice {
    /// The model, as it is named in replies.
    pub model: String,
    /// The provider; `None` for all that offer the model.
    pub provider: Option<String>,
    /// The currency.
    pub currency: Currency,
    /// The service class; `None` for the default one.
    pub service_class: Option<String>,
    /// The name of the version of the price, for audits.
    pub version: Option<String>,
    /// The time from which the price applies. Of several, the latest one in force counts.
    pub from: Option<SystemTime>,
    /// The time until which the price applies, exclusive.
    pub until: Option<SystemTime>,
    /// The hours of the day to which the price is limited. It has precedence over a price for the whole day.
    pub hours: Option<DailyHours>,
    /// The rates.
    pub tiers: TierTable,
}

impl ModelPrice {
    /// Creates the price of a model, for all providers, the default service class and all times.
    pub fn new(model: impl Into<String>, currency: Currency, tiers: TierTable) -> Self {
        Self {
            model: model.into(),
            provider: None,
            currency,
            service_class: None,
            version: None,
            from: None,
            until: None,
            hours: None,
            tiers,
        }
    }

    /// Sets the provider.
    #[must_use]
    pub fn with_provider(mut self, provider: impl Into<String>) -> Self {
        self.provider = Some(provider.into());
        self
    }

    /// Sets the service class.
    #[must_use]
    pub fn with_service_class(mut self, class: impl Into<String>) -> Self {
        self.service_class = Some(class.into());
        self
    }

    /// Sets the name of the version, and when it applies.
    #[must_use]
    pub fn with_version(
        mut self,
        version: impl Into<String>,
        from: Option<SystemTime>,
        until: Option<SystemTime>,
    ) -> Self {
        (self.version, self.from, self.until) = (Some(version.into()), from, until);
        self
    }

    /// Limits the price to hours of the day.
    #[must_use]
    pub fn with_hours(mut self, hours: DailyHours) -> Self {
        self.hours = Some(hours);
        self
    }

    pub(super) fn is_in_force(&self, at: SystemTime) -> bool {
        self.from.is_none_or(|from| from <= at)
            && self.until.is_none_or(|until| at < until)
            && self.hours.is_none_or(|hours| hours.contains(at))
    }

    /// Returns whether a call could be priced by either of two prices.
    pub(super) fn conflicts(&self, other: &Self) -> bool {
        let is_same_time = match (&self.hours, &other.hours) {
            (None, None) => true,
            (Some(one), Some(other)) => one.overlaps(other),
            _ => false,
        };
        self.currency == other.currency
            && self.provider == other.provider
            && self.service_class == other.service_class
            && self.from == other.from
            && is_same_time
    }
}
