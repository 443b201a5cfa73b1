//! [`Environment`]: where and when the agent works.

use std::time::SystemTime;

use time::{OffsetDateTime, UtcOffset, macros::format_description};

/// Where and when the agent works: the last layer of the system prompt.
///
/// It names the day and not the time, so that it changes once a day.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Environment {
    /// The time zone's name, as the model shall read it.
    pub time_zone: String,
    /// Its offset from UTC, in seconds, by which the day is found.
    pub utc_offset_seconds: i32,
    /// The user's locale (`en-GB`).
    pub locale: Option<String>,
    /// Notes on tools and the place of work, a line each.
    pub notes: Vec<String>,
}

impl Environment {
    /// The environment in UTC.
    pub fn new() -> Self {
        Self {
            time_zone: "UTC".to_owned(),
            utc_offset_seconds: 0,
            locale: None,
            notes: Vec::new(),
        }
    }

    /// Sets the time zone: its name, and its offset from UTC in seconds.
    pub fn with_time_zone(mut self, name: impl Into<String>, utc_offset_seconds: i32) -> Self {
        self.time_zone = name.into();
        self.utc_offset_seconds = utc_offset_seconds;
        self
    }

    /// Sets the locale.
    pub fn with_locale(mut self, locale: impl Into<String>) -> Self {
        self.locale = Some(locale.into());
        self
    }

    /// Adds a note.
    pub fn with_note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    /// The layer's text on a day.
    pub(crate) fn text(&self, now: SystemTime) -> String {
        let offset = UtcOffset::from_whole_seconds(self.utc_offset_seconds).unwrap_or(UtcOffset::UTC);
        let today = OffsetDateTime::from(now).to_offset(offset).date();
        let day = today
            .format(format_description!("[year]-[month]-[day]"))
            .unwrap_or_default();
        let mut lines = vec![format!("Date: {day} ({})", self.time_zone)];
        lines.extend(self.locale.as_ref().map(|locale| format!("Locale: {locale}")));
        lines.extend(self.notes.iter().cloned());
        lines.join("\n")
    }
}

impl Default for Environment {
    fn default() -> Self {
        Self::new()
    }
}
