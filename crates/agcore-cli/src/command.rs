//! The commands, one module each.

pub(crate) mod approvals;
pub(crate) mod catalog;
pub(crate) mod chat;
pub(crate) mod cost;
pub(crate) mod demo;
pub(crate) mod eval;
pub(crate) mod flow;
pub(crate) mod inspect;
pub(crate) mod man;
pub(crate) mod mcp;
pub(crate) mod models;
pub(crate) mod sessions;
pub(crate) mod setup;
pub(crate) mod new;
pub(crate) mod run;
pub(crate) mod serve;
pub(crate) mod skills;
#[cfg(feature = "sqlite")]
pub(crate) mod stored;
pub(crate) mod tools;
