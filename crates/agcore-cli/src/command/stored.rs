//! The commands that work on the database: `store`, `knowledge`, `memory`, `schedules` and `webhooks`.

mod database;
pub(crate) mod knowledge;
pub(crate) mod memory;
pub(crate) mod schedules;
pub(crate) mod store;
pub(crate) mod webhooks;
