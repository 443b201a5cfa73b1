//! The routes of administrators: tenants, workers, dead letters, quotas, schedules, tokens and webhooks.

pub(super) mod guard;
mod tenants;
mod dead_letters;
mod workers;
pub(super) mod quotas;
mod schedules;
mod tokens;
mod webhooks;
pub(super) mod table;
