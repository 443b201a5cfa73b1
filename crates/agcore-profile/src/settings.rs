//! [`ProfileSettings`]: the versioned settings of a user.

mod version;
mod read;

pub use version::SettingsVersion;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use serde_json::{Map, Value, json};

use crate::{error::ProfileError, preferences::Preferences};
use read::Parts;

/// The settings of a user, in all versions.
///
/// Settings are read in any version and written in the newest. `privacy`, `notification` and `safety` are reserved: their
/// members are kept as they are. An unknown version, an unknown member elsewhere and a value of another type are errors.
///
/// | version | members |
/// |---|---|
/// | 1, also if `version` is missing | `preferences` (`interface_language`, `ai_language`, `timezone`, `country`), `privacy`, `notification` |
/// | 2 | the same and `safety` |
///
/// Every missing preference has its default: `zh-CN`, `zh-CN`, `Asia/Shanghai` and `CN`.
///
/// ```
/// use agcore_profile::{ProfileSettings, SettingsVersion};
///
/// let old = ProfileSettings::from_json(r#"{"privacy": {"telemetry": false}, "preferences": {"country": "us"}}"#)?;
/// assert_eq!(old.version(), SettingsVersion::V1);
///
/// // Writing upgrades the settings …
/// let upgraded = old.to_value();
/// assert_eq!(upgraded["version"], 2);
/// assert_eq!(upgraded["privacy"]["telemetry"], false);
/// assert_eq!(upgraded["preferences"]["country"], "US");
/// // … unless that is postponed.
/// assert_eq!(old.to_value_in(old.version())["version"], 1);
/// # Ok::<(), agcore_profile::ProfileError>(())
/// ```
///
/// With serde, settings serialize in the newest version and deserialize from any.
#[derive(Debug, Clone, PartialEq)]
pub struct ProfileSettings(Parts);

/// Returns settings in the newest version, with the default preferences.
impl Default for ProfileSettings {
    fn default() -> Self {
        Self::new(Preferences::default())
    }
}

impl ProfileSettings {
    /// Creates settings in the newest version.
    pub fn new(preferences: Preferences) -> Self {
        let parts = Parts::default();
        Self(Parts { preferences, ..parts })
    }

    /// Reads settings in any version from JSON.
    ///
    /// # Errors
    /// `Syntax` if the text is not JSON, and `Invalid` with all wrong fields like [`from_value`](Self::from_value).
    pub fn from_json(text: &str) -> Result<Self, ProfileError> {
        let value = serde_json::from_str(text).map_err(|error| {
            ProfileError::syntax(format!(
                "the settings are not JSON: {error}; write an object, {{}} at least"
            ))
        })?;
        Self::from_value(&value)
    }

    /// Reads settings in any version.
    ///
    /// # Errors
    /// `Invalid` with all fields that are wrong, each with its value and the rule it violates.
    pub fn from_value(value: &Value) -> Result<Self, ProfileError> {
        Parts::read(value).map(Self).map_err(ProfileError::invalid)
    }

    /// Sets the preferences.
    #[must_use]
    pub fn with_preferences(mut self, preferences: Preferences) -> Self {
        self.0.preferences = preferences;
        self
    }

    /// Returns the version that the settings were read in, or the newest if they were created.
    pub fn version(&self) -> SettingsVersion {
        self.0.version
    }

    /// Returns the preferences.
    pub fn preferences(&self) -> &Preferences {
        &self.0.preferences
    }

    /// Returns the members about privacy.
    pub fn privacy(&self) -> &Map<String, Value> {
        &self.0.privacy
    }

    /// Returns the members about notifications.
    pub fn notification(&self) -> &Map<String, Value> {
        &self.0.notification
    }

    /// Returns the members about safety, which version 1 does not have.
    pub fn safety(&self) -> &Map<String, Value> {
        &self.0.safety
    }

    /// Writes the settings in the newest version.
    pub fn to_value(&self) -> Value {
        self.to_value_in(SettingsVersion::NEWEST)
    }

    /// Writes the settings in this version, or in the one they were read in if that is newer, so that nothing is lost. Pass
    /// [`version`](Self::version) to postpone the upgrade.
    pub fn to_value_in(&self, version: SettingsVersion) -> Value {
        let version = version.max(self.0.version);
        let mut value = json!({
            "version": version.number(),
            "preferences": self.0.preferences,
            "privacy": self.0.privacy,
            "notification": self.0.notification,
        });
        if version >= SettingsVersion::V2 {
            value["safety"] = Value::Object(self.0.safety.clone());
        }
        value
    }
}

impl Serialize for ProfileSettings {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.to_value().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for ProfileSettings {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::from_value(&Value::deserialize(deserializer)?).map_err(de::Error::custom)
    }
}
