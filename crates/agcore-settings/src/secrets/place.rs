//! [`Place`]: where a secret is kept.

use std::path::PathBuf;

/// Where a secret is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// The keyring of the system.
    Keyring,
    /// The file that only its owner can read.
    File(PathBuf),
}

/// Where a secret is to be kept.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Preference {
    /// In the keyring, or in the file if there is no keyring.
    #[default]
    Any,
    /// In the keyring, or nowhere.
    Keyring,
    /// In the file.
    File,
}

/// Where a secret was saved.
#[derive(Debug, PartialEq, Eq)]
pub struct Saved {
    /// The keyring, or a file.
    pub place: Place,
    /// Why it is not in the keyring, if it should be.
    pub reason: Option<String>,
}
