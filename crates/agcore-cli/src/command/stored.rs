//! The commands that work on the database: `store`, `knowledge` and `memory`.

mod database;
pub(crate) mod knowledge;
pub(crate) mod memory;
pub(crate) mod store;
