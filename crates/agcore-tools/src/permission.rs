#![doc = include_str!("../docs/permissions.md")]

mod argument;
mod config;
mod decide;
mod glob;
mod kind;
mod path;
mod rule;

pub use self::{
    argument::ArgumentTest,
    config::{PermissionConfig, StaticRule},
    decide::{Basis, Decision, PermissionRules, Reason, ToolFacts, Verdict, decide},
    glob::Glob,
    kind::{CustomPermission, Permission},
    path::JsonPath,
    rule::{Rule, RuleState, RuleSubject},
};
