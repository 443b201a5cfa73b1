//! [`SecretError`]: a secret that cannot be read or written. The message never contains the secret.

use std::fmt;

use super::keyring::KeyringError;

/// Why a secret cannot be read or written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecretError(pub(super) String);

impl SecretError {
    /// Converts an error of the keyring, and adds what to do.
    pub(super) fn keyring(error: &KeyringError) -> Self {
        Self(format!(
            "{error}\nUnlock the keyring, or set AGCORE_KEYRING=off and store the secret in a file."
        ))
    }
}

impl fmt::Display for SecretError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for SecretError {}
