#![doc = include_str!("../docs/permissions.md")]

mod argument;
mod command;
mod command_line;
mod effects;
pub(crate) mod config;
pub(crate) mod decide;
mod glob;
pub(crate) mod kind;
mod number;
mod path;
pub(crate) mod rule;
mod scope;

// `PermissionConfig`, `PermissionRules`, `Permission`, `Rule` and `RuleState`, which nearly every application uses, are
// re-exported by the crate root only.
pub use self::{
    argument::ArgumentTest,
    command::CommandPattern,
    command_line::simple_commands,
    config::StaticRule,
    decide::{Basis, Decision, Reason, ToolFacts, Verdict, decide},
    glob::Glob,
    kind::CustomPermission,
    path::JsonPath,
    rule::RuleSubject,
    scope::PathScope,
};
pub(crate) use self::{
    argument::TestData, decide::PermissionRules, kind::Permission, number::same_value, path::PathSegment,
};
