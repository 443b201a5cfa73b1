//! The files of the repository, and the modules, public items, comments and pages in them.

pub(crate) mod rust_comments;
pub(crate) mod rust_source;
pub(crate) mod sources;
pub(crate) mod module_tree;
pub(crate) mod public_api;
pub(crate) mod markdown;
