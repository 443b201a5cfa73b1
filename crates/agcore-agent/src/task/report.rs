//! [`TaskReport`]: the end of a task.

use agcore_chat::UsageTracker;
use serde::Serialize;

use crate::plan::{Plan, Step, StepStatus};

/// The end of a task. A task whose steps failed is not an error: the report shows which, and why.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct TaskReport {
    /// The newest plan, with the results of its steps.
    pub plan: Plan,
    /// The plans that failed before it, oldest first.
    pub earlier: Vec<Plan>,
    /// The answer to the goal, if all steps of the newest plan were completed.
    pub answer: Option<String>,
    /// Tokens and calls of all agents that worked on it, except sub-agents.
    pub usage: UsageTracker,
}

impl TaskReport {
    /// Returns whether the goal was reached.
    pub fn is_success(&self) -> bool {
        self.answer.is_some()
    }

    /// Returns the steps of the newest plan that failed, without those that were skipped for that.
    pub fn failures(&self) -> impl Iterator<Item = &Step> {
        let steps = self.plan.steps().iter();
        steps.filter(|step| step.status() == StepStatus::Failed)
    }
}
