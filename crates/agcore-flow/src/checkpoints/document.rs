//! The documents in checkpoints: the state of a run with its flow, and what changes it.

use json_patch::Patch;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::record::Record;

/// The version of the form of checkpoints.
pub(crate) const FORMAT: u32 = 1;

/// The whole state of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Document {
    pub(crate) format: u32,
    pub(crate) flow: String,
    pub(crate) version: u32,
    /// A [`Progress`](crate::progress::Progress).
    pub(crate) progress: Value,
}

/// The data of a snapshot.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Snapshot {
    pub(crate) document: Document,
    /// The record of the node that has just finished.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) record: Option<Record>,
}

/// The data of a patch. It changes the progress only.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Change {
    pub(crate) patch: Patch,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) record: Option<Record>,
}
