//! The commands that work on the database: `store`, `knowledge`, `memory` and `schedules`.

mod database;
pub(crate) mod knowledge;
pub(crate) mod memory;
pub(crate) mod schedules;
pub(crate) mod store;
