//! Arguments of the commands that work on the database: `store`, `knowledge`, `memory`, `schedules`, `webhooks`,
//! `quotas` and `admin`.

pub(super) mod documents;
pub(super) mod store;
pub(super) mod knowledge;
pub(super) mod memory;
pub(super) mod schedules;
pub(super) mod webhooks;
pub(super) mod quotas;
pub(super) mod admin;
