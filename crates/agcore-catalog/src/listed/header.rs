//! The header of a snapshot: its id, its day and its [`SnapshotSource`]s.

use serde::{Deserialize, Serialize};

use super::row::is_day;
use crate::problem::Problem;

/// The version of the format.
const FORMAT: u32 = 1;

/// A public source of a snapshot.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct SnapshotSource {
    /// The key that rows refer to.
    pub key: String,
    /// The name and version.
    pub name: String,
    /// The day of the data, as `YYYY-MM-DD`.
    pub date: String,
    /// The address.
    pub url: String,
    /// The license.
    pub license: String,
    /// The notice of copyright that the license requires.
    pub copyright: String,
}

/// The first line of a snapshot.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Header {
    agcore_snapshot: u32,
    pub(super) id: String,
    pub(super) date: String,
    pub(super) sources: Vec<SnapshotSource>,
}

impl Header {
    pub(super) fn new(id: String, date: &str, sources: Vec<SnapshotSource>) -> Self {
        Self {
            agcore_snapshot: FORMAT,
            id,
            date: date.to_owned(),
            sources,
        }
    }

    /// Checks the members.
    pub(super) fn check(&self) -> Result<(), Problem> {
        if self.agcore_snapshot != FORMAT {
            let rule = format!("this version of the library reads the format {FORMAT}; update it");
            return Err(Problem::shown("agcore_snapshot", self.agcore_snapshot, rule));
        }
        if self.id.is_empty() || self.id.len() > 100 {
            return Err(Problem::text("id", &self.id, "an id has 1 to 100 bytes"));
        }
        if !is_day(&self.date) {
            return Err(Problem::text("date", &self.date, "a day is written as YYYY-MM-DD"));
        }
        Ok(())
    }
}
