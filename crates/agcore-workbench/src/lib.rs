#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod bounded_output;
pub mod shell_command;
pub mod sample_tools;
pub mod program_tools;
pub mod permission_mode;
pub mod grants;
pub mod policy;
pub mod hook_commands;
pub mod server_answers;
pub mod mcp;
#[cfg(feature = "sqlite")]
pub mod kept_tools;
mod agent_tools;
mod workbench;
mod surface;
mod agent;

pub use self::{
    agent::GuardedAgent,
    surface::{People, Surface},
    workbench::Workbench,
};
