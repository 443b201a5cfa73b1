//! [`Preferences`]: the languages, the time zone and the country of a user.

use serde::Serialize;

use crate::{country::Country, language::LanguageTag, time_zone::TimeZone};

/// The languages, the time zone and the country of a user.
///
/// ```
/// use agcore_profile::Preferences;
///
/// let preferences = Preferences::default().with_ai_language("en-GB".parse()?);
/// assert_eq!(preferences.interface_language().as_str(), "zh-CN");
/// assert_eq!(preferences.ai_language().as_str(), "en-GB");
/// # Ok::<(), agcore_profile::FieldError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Preferences {
    pub(crate) interface_language: LanguageTag,
    pub(crate) ai_language: LanguageTag,
    pub(crate) timezone: TimeZone,
    pub(crate) country: Country,
}

/// Returns `zh-CN` for both languages, `Asia/Shanghai` and `CN`.
impl Default for Preferences {
    fn default() -> Self {
        Self {
            interface_language: LanguageTag::default_tag(),
            ai_language: LanguageTag::default_tag(),
            timezone: TimeZone::DEFAULT,
            country: Country::DEFAULT,
        }
    }
}

impl Preferences {
    /// Sets the language of the user interface.
    #[must_use]
    pub fn with_interface_language(mut self, language: LanguageTag) -> Self {
        self.interface_language = language;
        self
    }

    /// Sets the language in which models answer.
    #[must_use]
    pub fn with_ai_language(mut self, language: LanguageTag) -> Self {
        self.ai_language = language;
        self
    }

    /// Sets the time zone.
    #[must_use]
    pub fn with_timezone(mut self, timezone: TimeZone) -> Self {
        self.timezone = timezone;
        self
    }

    /// Sets the country.
    #[must_use]
    pub fn with_country(mut self, country: Country) -> Self {
        self.country = country;
        self
    }

    /// Returns the language of the user interface.
    pub fn interface_language(&self) -> &LanguageTag {
        &self.interface_language
    }

    /// Returns the language in which models answer.
    pub fn ai_language(&self) -> &LanguageTag {
        &self.ai_language
    }

    /// Returns the time zone.
    pub fn timezone(&self) -> TimeZone {
        self.timezone
    }

    /// Returns the country.
    pub fn country(&self) -> Country {
        self.country
    }
}
