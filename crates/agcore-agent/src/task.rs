//! Tasks: an agent that makes plans and carries them out.

mod parser;
mod prompts;
mod report;
mod progress;
mod kept;
mod questions;
mod execution;
mod task_turn;
mod task_agent;

pub use self::{
    parser::{JsonPlanParser, PlanParser},
    questions::StepQuestions,
    report::TaskReport,
    task_agent::TaskAgent,
    task_turn::TaskTurn,
};
