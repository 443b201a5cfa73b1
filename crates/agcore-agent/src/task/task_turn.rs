//! [`TaskTurn`]: a task that is configured first, then awaited or streamed.

use std::{fmt, pin::Pin};

use agcore_cycle::{Observer, TurnStream};
use tokio_util::sync::CancellationToken;

use super::{
    execution::{Execution, TaskSettings},
    report::TaskReport,
};
use crate::{error::AgentError, plan::Plan};

/// A task, to be awaited or streamed. Created by [`TaskAgent::run`](crate::TaskAgent::run),
/// [`TaskAgent::execute_plan`](crate::TaskAgent::execute_plan) and [`TaskAgent::replan`](crate::TaskAgent::replan).
///
/// Its events are those of all turns: of the planner, of the steps, and of the answer. Events of a step have the
/// [`parent`](agcore_chat::StreamEvent::parent) `step-INDEX`, those of the planner `plan`, and those of the answer none.
/// Each change of a step is an [`AgentEvent::PlanStep`](agcore_chat::AgentEvent::PlanStep).
///
/// Dropping the future or the stream cancels the task.
#[must_use = "a task does nothing until it is awaited or streamed"]
pub struct TaskTurn {
    settings: TaskSettings,
    goal: String,
    plan: Option<Plan>,
    earlier: Vec<Plan>,
    token: CancellationToken,
}

impl TaskTurn {
    pub(super) fn new(settings: TaskSettings, goal: String, plan: Option<Plan>, earlier: Vec<Plan>) -> Self {
        Self {
            settings,
            goal,
            plan,
            earlier,
            token: CancellationToken::new(),
        }
    }

    /// Cancels the task when `token` is cancelled.
    pub fn with_token(mut self, token: CancellationToken) -> Self {
        self.token = token.child_token();
        self
    }

    /// Runs the task. Awaiting the task itself does the same.
    ///
    /// # Errors
    /// [`InvalidPlan`](crate::AgentErrorKind::InvalidPlan) if the model makes no usable plan, also after corrections; an error of the planner's or the answer's turn; a cancellation. A step that fails is not an error.
    pub async fn run(self) -> Result<TaskReport, AgentError> {
        self.observed(None).await
    }

    /// Runs the task as a stream of the events of all its turns.
    pub fn stream(self) -> TurnStream<'static, Result<TaskReport, AgentError>> {
        TurnStream::new(|observer| self.observed(Some(observer)))
    }

    async fn observed(self, observer: Option<Observer>) -> Result<TaskReport, AgentError> {
        let Self {
            settings,
            goal,
            plan,
            earlier,
            token,
        } = self;
        Execution::new(settings, goal, earlier, observer, token).run(plan).await
    }
}

impl IntoFuture for TaskTurn {
    type Output = Result<TaskReport, AgentError>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.run())
    }
}

impl fmt::Debug for TaskTurn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TaskTurn")
            .field("goal", &self.goal)
            .field("plan", &self.plan)
            .finish_non_exhaustive()
    }
}
