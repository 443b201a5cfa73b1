//! The result of a generator.

use crate::report::finding::Finding;

/// A file with its generated content.
#[derive(Debug)]
pub(super) struct Generated {
    /// The path relative to the root of the workspace.
    pub(super) path: String,
    pub(super) text: String,
}

/// Files with their generated content, and what prevents the generation of others.
#[derive(Debug, Default)]
pub(super) struct Output {
    pub(super) files: Vec<Generated>,
    pub(super) findings: Vec<Finding>,
}
