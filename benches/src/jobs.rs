//! The jobs with the clients of this package: the baselines, and agcore.

pub mod turn;
pub mod tool_loop;
pub mod many_tools;
pub mod stream;
pub mod many;
pub mod history;
pub mod idle;

use crate::job::Job;

/// All jobs in the order of the report.
pub const ALL: &[Job] = &[
    turn::JOB,
    tool_loop::JOB,
    many_tools::JOB,
    stream::JOB,
    stream::ANTHROPIC,
    stream::RESPONSES,
    many::JOB,
    history::SHORT,
    history::MEDIUM,
    history::LONG,
    idle::JOB,
];
