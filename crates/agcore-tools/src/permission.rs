#![doc = include_str!("../docs/permissions.md")]

mod argument;
pub(crate) mod config;
pub(crate) mod decide;
mod glob;
pub(crate) mod kind;
mod path;
pub(crate) mod rule;

// `PermissionConfig`, `PermissionRules`, `Permission`, `Rule` and `RuleState`, which nearly every application uses, are
// re-exported by the crate root only.
pub use self::{
    argument::ArgumentTest,
    config::StaticRule,
    decide::{Basis, Decision, Reason, ToolFacts, Verdict, decide},
    glob::Glob,
    kind::CustomPermission,
    path::JsonPath,
    rule::RuleSubject,
};
pub(crate) use self::{decide::PermissionRules, kind::Permission};
