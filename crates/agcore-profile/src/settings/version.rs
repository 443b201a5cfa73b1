//! [`SettingsVersion`]: the version of the form in which settings are written.

/// The version of the form in which settings are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
#[non_exhaustive]
pub enum SettingsVersion {
    /// `preferences`, `privacy` and `notification`.
    V1,
    /// Version 1 with `safety`.
    #[default]
    V2,
}

impl SettingsVersion {
    /// The newest version.
    pub const NEWEST: Self = Self::V2;

    /// Returns the number in the member `version`.
    pub fn number(self) -> u64 {
        match self {
            Self::V1 => 1,
            Self::V2 => 2,
        }
    }
}
