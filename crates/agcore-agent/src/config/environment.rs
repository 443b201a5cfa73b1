//! [`Environment`]: the place and date of the work, as part of the system prompt.

use std::time::SystemTime;

use time::{OffsetDateTime, UtcOffset, macros::format_description};

/// The place and date of the work: the last layer of the system prompt.
///
/// It contains the date but not the time, so it changes once a day and prompt caches stay valid.
///
/// ```
/// use agcore_agent::{AgentConfig, Environment};
///
/// let environment = Environment::new().with_time_zone("Europe/Paris", 3600).with_locale("fr-FR");
/// let config = AgentConfig::new().with_environment(environment);
/// assert_eq!(config.environment.unwrap().time_zone, "Europe/Paris");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Environment {
    /// The name of the time zone, as the model reads it.
    pub time_zone: String,
    /// The offset from UTC in seconds, which determines the date.
    pub utc_offset_seconds: i32,
    /// The user's locale (`en-GB`).
    pub locale: Option<String>,
    /// Notes about tools and the workplace, one per line.
    pub notes: Vec<String>,
}

impl Environment {
    /// Creates an environment in UTC.
    pub fn new() -> Self {
        Self {
            time_zone: "UTC".to_owned(),
            utc_offset_seconds: 0,
            locale: None,
            notes: Vec::new(),
        }
    }

    /// Sets the name of the time zone and its offset from UTC in seconds.
    #[must_use]
    pub fn with_time_zone(mut self, name: impl Into<String>, utc_offset_seconds: i32) -> Self {
        self.time_zone = name.into();
        self.utc_offset_seconds = utc_offset_seconds;
        self
    }

    /// Sets the locale.
    #[must_use]
    pub fn with_locale(mut self, locale: impl Into<String>) -> Self {
        self.locale = Some(locale.into());
        self
    }

    /// Adds a note.
    #[must_use]
    pub fn with_note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    /// Returns the text of the layer on a date.
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
