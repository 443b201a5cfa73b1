//! [`SettingsError`]: why settings cannot be used.

use std::fmt;

/// A setting, option or variable that is invalid or missing, or a file that cannot be read. The message names the place and
/// what to do, and never quotes text that may be a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingsError(String);

impl SettingsError {
    /// Creates an error with a message for the person who wrote the setting.
    pub fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }
}

impl fmt::Display for SettingsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for SettingsError {}
