//! [`Calendar`]: a cron expression in a time zone.

use agcore_chat::Timestamp;
use croner::{
    Cron,
    parser::{CronParser, Seconds, Year},
};
use jiff::{
    Zoned,
    tz::{TimeZone, TimeZoneDatabase},
};

use super::recent::Search;
use crate::error::ScheduleError;

/// The maximum length of an expression in bytes, which bounds the time that it takes to read one.
const MAX_EXPRESSION: usize = 256;

/// The maximum length of the name of a time zone in bytes.
const MAX_ZONE: usize = 64;

/// A cron expression in a time zone.
#[derive(Debug)]
pub(super) struct Calendar {
    cron: Cron,
    zone: TimeZone,
}

impl Calendar {
    /// Reads an expression and finds a time zone.
    pub(super) fn new(expression: &str, zone: &str) -> Result<Self, ScheduleError> {
        Ok(Self {
            cron: parse(expression)?,
            zone: find(zone)?,
        })
    }

    /// Returns whether there is any occurrence.
    pub(super) fn occurs(&self) -> bool {
        self.after(Timestamp::default()).is_some()
    }

    fn zoned(&self, seconds: i64) -> Option<Zoned> {
        let time = jiff::Timestamp::from_second(seconds).ok()?;
        Some(time.to_zoned(self.zone.clone()))
    }
}

impl Search for Calendar {
    fn after(&self, time: Timestamp) -> Option<Timestamp> {
        let start = self.zoned(time.as_millis().div_euclid(1000))?;
        let found = self.cron.find_next_occurrence(&start, false).ok()?;
        timestamp(&found).filter(|found| *found > time)
    }

    fn before(&self, time: Timestamp) -> Option<Timestamp> {
        let start = self.zoned(time.as_millis().saturating_add(999).div_euclid(1000))?;
        let found = self.cron.find_previous_occurrence(&start, false).ok()?;
        timestamp(&found).filter(|found| *found < time)
    }
}

/// Converts a time, which has no fraction of a second.
fn timestamp(time: &Zoned) -> Option<Timestamp> {
    let millis = time.timestamp().as_second().checked_mul(1000)?;
    // Years after 9999 would be clamped to another time.
    Some(Timestamp::from_millis(millis)).filter(|time| time.as_millis() == millis)
}

fn parse(expression: &str) -> Result<Cron, ScheduleError> {
    if expression.len() > MAX_EXPRESSION || !expression.is_ascii() {
        return Err(ScheduleError::invalid(format!(
            "the cron expression is not acceptable: use at most {MAX_EXPRESSION} ASCII characters"
        )));
    }
    let hint = match expression.split_ascii_whitespace().count() {
        5 => None,
        6 => Some(" (the first of six fields would be seconds, which are not supported)"),
        _ => Some(""),
    };
    if let Some(hint) = hint {
        return Err(ScheduleError::invalid(format!(
            "the cron expression `{expression}` does not have five fields{hint}; \
             use minute, hour, day of the month, month and day of the week, such as `0 9 * * 1-5`"
        )));
    }
    let parser = CronParser::builder()
        .seconds(Seconds::Disallowed)
        .year(Year::Disallowed)
        .build();
    parser.parse(expression).map_err(|error| {
        ScheduleError::invalid(format!(
            "the cron expression `{expression}` cannot be read: {error}; it should be similar to `0 9 * * 1-5`"
        ))
    })
}

/// Finds a time zone in the data that is part of the program.
fn find(name: &str) -> Result<TimeZone, ScheduleError> {
    let found = match name.len() <= MAX_ZONE {
        true => TimeZoneDatabase::bundled().get(name).ok(),
        false => None,
    };
    found.filter(|zone| !zone.is_unknown()).ok_or_else(|| {
        let name: String = name.chars().take(MAX_ZONE).collect();
        ScheduleError::invalid(format!(
            "the time zone `{name}` is not known; use a name such as `Europe/Berlin`"
        ))
    })
}
