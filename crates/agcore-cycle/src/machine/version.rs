//! The version of saved states and records.

use serde::{Deserialize, Deserializer, de::Error};

/// The version of the JSON form that this code writes. It reads older ones, too.
///
/// - 1: questions keep the ids that executors give them; calls count as started when they are passed to an executor.
/// - 2: the ids of questions are never reused; calls count as started when their executor reports it.
pub(super) const VERSION: u16 = 2;

pub(super) fn known_version<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u16, D::Error> {
    match u16::deserialize(deserializer)? {
        version @ 1..=VERSION => Ok(version),
        other => Err(D::Error::custom(format_args!(
            "this state has version {other}, but this program reads versions 1 to {VERSION}; use a version of the program that \
             is at least as new as the one that wrote it"
        ))),
    }
}
