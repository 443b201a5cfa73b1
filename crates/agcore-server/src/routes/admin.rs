//! The routes of administrators: tenants, workers, dead letters, quotas, schedules and webhooks.

pub(super) mod guard;
mod tenants;
mod dead_letters;
mod workers;
mod quotas;
mod schedules;
mod webhooks;
pub(super) mod table;
