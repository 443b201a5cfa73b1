//! [`TaskProgress`]: how far a task is.

use agcore_chat::UsageTracker;

use crate::{durable::TaskRecord, error::AgentError, plan::Plan};

/// The progress of a task. Records lead from one state to the next.
#[derive(Default)]
pub(super) struct TaskProgress {
    pub(super) goal: String,
    /// Plans that failed, oldest first.
    pub(super) earlier: Vec<Plan>,
    /// The newest plan, once there is one.
    pub(super) plan: Option<Plan>,
    pub(super) answer: Option<String>,
    pub(super) usage: UsageTracker,
}

impl TaskProgress {
    /// Returns the progress after these records. `None` if there are none.
    ///
    /// # Errors
    /// [`InvalidState`](crate::AgentErrorKind::InvalidState) if a record does not follow from those before.
    pub(super) fn read(records: Vec<TaskRecord>) -> Result<Option<Self>, AgentError> {
        let mut progress = None;
        for record in records {
            match record {
                TaskRecord::Started { goal } => {
                    let started = Self {
                        goal,
                        ..Self::default()
                    };
                    progress = Some(started);
                }
                record => {
                    let progress = progress
                        .as_mut()
                        .ok_or_else(|| does_not_follow("the task has not started"))?;
                    progress.apply(record)?;
                }
            }
        }
        Ok(progress)
    }

    fn apply(&mut self, record: TaskRecord) -> Result<(), AgentError> {
        match record {
            TaskRecord::Started { .. } => return Err(does_not_follow("the task has started already")),
            TaskRecord::Planned { plan, usage } => {
                self.earlier.extend(self.plan.replace(plan));
                self.usage.merge(&usage);
            }
            TaskRecord::Completed { step, result, usage } => {
                let plan = self.running(step)?;
                plan.complete(step, result).map_err(does_not_follow)?;
                self.usage.merge(&usage);
            }
            TaskRecord::Failed { step, reason, usage } => {
                let plan = self.running(step)?;
                plan.fail(step, reason).map_err(does_not_follow)?;
                self.usage.merge(&usage);
            }
            TaskRecord::Answered { answer, usage } => {
                self.answer = Some(answer);
                self.usage.merge(&usage);
            }
        }
        Ok(())
    }

    /// Returns the plan with this step running. That a step started is not recorded: its session shows it.
    fn running(&mut self, step: usize) -> Result<&mut Plan, AgentError> {
        let plan = self.plan.as_mut().ok_or_else(|| does_not_follow("there is no plan"))?;
        plan.start(step).map_err(does_not_follow)?;
        Ok(plan)
    }
}

fn does_not_follow(problem: impl std::fmt::Display) -> AgentError {
    AgentError::state(format_args!("a record of the task does not follow: {problem}"))
}
