//! The commands, one module each.

pub(crate) mod approvals;
pub(crate) mod catalog;
pub(crate) mod chat;
#[cfg(feature = "sqlite")]
mod database;
pub(crate) mod config;
pub(crate) mod cost;
pub(crate) mod demo;
pub(crate) mod doctor;
pub(crate) mod eval;
pub(crate) mod flow;
pub(crate) mod inspect;
#[cfg(feature = "sqlite")]
pub(crate) mod knowledge;
#[cfg(feature = "sqlite")]
pub(crate) mod memory;
pub(crate) mod man;
pub(crate) mod mcp;
pub(crate) mod models;
pub(crate) mod sessions;
pub(crate) mod keys;
pub(crate) mod init;
pub(crate) mod new;
pub(crate) mod run;
pub(crate) mod serve;
pub(crate) mod skills;
#[cfg(feature = "sqlite")]
pub(crate) mod store;
pub(crate) mod tools;
pub(crate) mod trust;
