//! Several agents: sub-agents that are tools, handoffs, and tasks that run side by side.

mod sub_agent;
mod handoff_tool;
mod fan_out;

pub(crate) use self::handoff_tool::handoff_tool;
pub use self::{
    fan_out::{FanOut, Gathered},
    sub_agent::SubAgent,
};
