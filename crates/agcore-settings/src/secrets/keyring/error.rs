//! [`KeyringError`]: why a keyring cannot be used.

use std::fmt;

/// Why a keyring cannot be used. The message never contains a secret.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(
    not(any(feature = "keyring", test)),
    expect(dead_code, reason = "without a keyring, the only error is that there is none")
)]
pub(in crate::secrets) enum KeyringError {
    /// There is no keyring.
    Unavailable(String),
    /// The keyring is locked, and was not unlocked.
    Locked,
    /// The keyring failed.
    Failed(String),
}

impl fmt::Display for KeyringError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unavailable(reason) => write!(f, "the keyring of the system cannot be used: {reason}"),
            Self::Locked => f.write_str("the keyring of the system is locked and was not unlocked"),
            Self::Failed(reason) => write!(f, "the keyring of the system failed: {reason}"),
        }
    }
}
