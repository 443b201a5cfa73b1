//! [`KeyPoolState`]: the cooldowns of keys, saved across restarts.

use serde::{Deserialize, Serialize};

use agcore_wire::{LlmError, LlmErrorKind};

/// The version that this program writes, and the newest one that it reads.
const VERSION: u32 = 1;

/// The cooldowns of keys, in wall-clock time. Contains only labels, no keys.
///
/// A key that the server refused is not saved: it may have been replaced under the same label, and otherwise trying it once
/// more costs a single refusal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct KeyPoolState {
    /// The version of the format.
    #[serde(default)]
    pub version: u32,
    /// The keys that are not available.
    #[serde(default)]
    pub keys: Vec<KeyCooldown>,
}

/// The saved cooldown of a key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct KeyCooldown {
    /// The label of the key.
    #[serde(default)]
    pub label: String,
    /// When the key becomes available, in milliseconds since 1970. Absent if its quota is exhausted and it must be restored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until_ms: Option<u64>,
    /// The length of the whole cooldown in milliseconds. No cooldown becomes longer than this if the clock is set back.
    #[serde(default)]
    pub rest_ms: u64,
    /// The number of consecutive rate limits.
    #[serde(default)]
    pub strikes: u32,
}

impl KeyPoolState {
    /// Creates a state of the current version.
    pub fn new(keys: Vec<KeyCooldown>) -> Self {
        Self { version: VERSION, keys }
    }

    /// Checks that this program can read the version.
    pub(in crate::layer) fn check(&self) -> Result<(), LlmError> {
        if self.version <= VERSION {
            return Ok(());
        }
        let message = format!(
            "the saved state of the key pool has version {}, but this program reads only up to {VERSION}; update the \
             program, or continue without the state",
            self.version
        );
        Err(LlmError::new(LlmErrorKind::InvalidRequest, message))
    }
}
