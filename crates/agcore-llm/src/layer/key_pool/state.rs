//! [`KeyPoolState`]: which keys rest until when, to be kept over a restart.

use serde::{Deserialize, Serialize};

use crate::error::{LlmError, LlmErrorKind};

/// The version that this program writes, and the newest that it reads.
const VERSION: u32 = 1;

/// Which keys rest until when, in times of the wall clock. There is no key in it, only labels.
///
/// A key that the server refused is not kept: it may have been replaced under the same label, and if it was not, asking
/// once more costs one refusal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct KeyPoolState {
    /// Which program can read it.
    #[serde(default)]
    pub version: u32,
    /// The keys that rest.
    #[serde(default)]
    pub keys: Vec<RestingKey>,
}

/// A key that rests.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RestingKey {
    /// Its label.
    #[serde(default)]
    pub label: String,
    /// Until when, in milliseconds since 1970; absent for one whose quota is used up until somebody restores it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until_ms: Option<u64>,
    /// How long the whole rest is, in milliseconds. However the clock was set in between, no rest becomes longer than this.
    #[serde(default)]
    pub rest_ms: u64,
    /// How many rate limits in a row it has had.
    #[serde(default)]
    pub strikes: u32,
}

impl KeyPoolState {
    pub(super) fn new(keys: Vec<RestingKey>) -> Self {
        Self { version: VERSION, keys }
    }

    /// Whether this program can read it.
    pub(in crate::layer) fn check(&self) -> Result<(), LlmError> {
        if self.version <= VERSION {
            return Ok(());
        }
        let message = format!(
            "the saved state of the key pool has version {}, and this program reads up to {VERSION}; update the program, \
             or go on without the state",
            self.version
        );
        Err(LlmError::new(LlmErrorKind::InvalidRequest, message))
    }
}
