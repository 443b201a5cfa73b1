//! [`ContextRecord`]: what happened to the contexts of a session, as a record in its stream.

use serde::{Deserialize, Serialize};

use super::side_record::SideRecord;

/// A change of the contexts of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "change", rename_all = "snake_case")]
pub(crate) enum ContextRecord {
    /// A context was created. The first one is the current one.
    Created { name: String },
    /// A context became the current one.
    Current { name: String },
    /// A context was destroyed.
    Destroyed { name: String },
}

impl SideRecord for ContextRecord {
    const KIND: &'static str = "context";
    const VERSION: u32 = 1;
}
