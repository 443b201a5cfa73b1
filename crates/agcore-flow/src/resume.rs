//! [`Resume`]: the data from which a run continues. [`SavedRun`]: a suspended run.

use serde::{Deserialize, Serialize};

use crate::checkpoints::{Checkpoints, document::Document};

/// The data from which a run continues.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Resume {
    /// Its checkpoints in a store.
    Checkpoints(Checkpoints),
    /// The value that a suspended run without checkpoints returned.
    Saved(SavedRun),
}

/// A suspended run as data, which can be stored anywhere and [continued](crate::Flow::resume) later.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SavedRun(pub(crate) Document);

impl SavedRun {
    /// Returns the name of the flow.
    pub fn flow(&self) -> &str {
        &self.0.flow
    }

    /// Returns the version of the flow whose state it contains.
    pub fn version(&self) -> u32 {
        self.0.version
    }
}

impl From<Checkpoints> for Resume {
    fn from(checkpoints: Checkpoints) -> Self {
        Self::Checkpoints(checkpoints)
    }
}

impl From<SavedRun> for Resume {
    fn from(saved: SavedRun) -> Self {
        Self::Saved(saved)
    }
}
