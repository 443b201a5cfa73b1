//! The commands that work on the database: `store`, `knowledge`, `memory`, `schedules`, `webhooks`, `quotas` and
//! `admin`.

mod database;
pub(crate) mod knowledge;
pub(crate) mod memory;
pub(crate) mod schedules;
pub(crate) mod store;
pub(crate) mod webhooks;
pub(crate) mod quotas;
pub(crate) mod admin;
