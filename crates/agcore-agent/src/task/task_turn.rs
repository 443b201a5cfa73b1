//! [`TaskTurn`]: a task that is configured first, then awaited or streamed.

use std::{fmt, pin::Pin};

use agcore_cycle::{Observer, TurnStream};
use tokio_util::sync::CancellationToken;

use super::{
    execution::{Execution, TaskSettings},
    kept::KeptTask,
    progress::TaskProgress,
    report::TaskReport,
};
use crate::{error::AgentError, plan::Plan, session::AgentSession};

/// A task, to be awaited or streamed. Created by the methods of
/// [`TaskAgent`](crate::TaskAgent).
///
/// Its events are those of all turns: of the planner, of the steps, and of the answer. Events of a step have the
/// [`parent`](agcore_chat::StreamEvent::parent) `step-INDEX`, those of the planner `plan`, and those of the answer none.
/// Each change of a step is an [`AgentEvent::PlanStep`](agcore_chat::AgentEvent::PlanStep).
///
/// Dropping the future or the stream cancels the task.
#[must_use = "a task does nothing until it is awaited or streamed"]
pub struct TaskTurn {
    settings: TaskSettings,
    start: Start,
    token: CancellationToken,
}

/// Where a task begins.
pub(super) enum Start {
    /// At these plans. Nothing is kept.
    Unkept {
        goal: String,
        plan: Option<Plan>,
        earlier: Vec<Plan>,
    },
    /// At the beginning, in a stored session.
    In { session: AgentSession, goal: String },
    /// Where the task of a stored session is.
    Continued { session: AgentSession },
}

impl Start {
    async fn progress(self) -> Result<(Option<KeptTask>, TaskProgress), AgentError> {
        match self {
            Self::Unkept { goal, plan, earlier } => {
                let progress = TaskProgress {
                    goal,
                    earlier,
                    plan,
                    ..TaskProgress::default()
                };
                Ok((None, progress))
            }
            Self::In { session, goal } => {
                let kept = KeptTask::new(session)?;
                let progress = kept.begin(&goal).await?;
                Ok((Some(kept), progress))
            }
            Self::Continued { session } => {
                let kept = KeptTask::new(session)?;
                let progress = kept.progress().await?.ok_or_else(AgentError::no_task)?;
                kept.show(&progress).await?;
                Ok((Some(kept), progress))
            }
        }
    }
}

impl TaskTurn {
    pub(super) fn new(settings: TaskSettings, start: Start) -> Self {
        Self {
            settings,
            start,
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
    /// [`InvalidPlan`](crate::AgentErrorKind::InvalidPlan) if the model makes no usable plan, also after corrections; an error of
    /// the planner's or the answer's turn; a cancellation. A step that fails is not an error. For a task in a stored session, also
    /// [`Storage`](crate::AgentErrorKind::Storage) if the store fails, [`InvalidConfig`](crate::AgentErrorKind::InvalidConfig) if
    /// the session is not stored, [`InvalidInput`](crate::AgentErrorKind::InvalidInput) if it is not empty, and
    /// [`NotFound`](crate::AgentErrorKind::NotFound) if it has no task that can be continued.
    pub async fn run(self) -> Result<TaskReport, AgentError> {
        self.observed(None).await
    }

    /// Runs the task as a stream of the events of all its turns.
    pub fn stream(self) -> TurnStream<'static, Result<TaskReport, AgentError>> {
        TurnStream::new(|observer| self.observed(Some(observer)))
    }

    async fn observed(self, observer: Option<Observer>) -> Result<TaskReport, AgentError> {
        let Self { settings, start, token } = self;
        let (kept, mut progress) = start.progress().await?;
        let plan = progress.plan.take();
        if let (Some(plan), Some(answer)) = (&plan, progress.answer.take()) {
            return Ok(TaskReport {
                plan: plan.clone(),
                earlier: progress.earlier,
                answer: Some(answer),
                usage: progress.usage,
            });
        }
        let goal = progress.goal.clone();
        let execution = Execution::new(settings, kept.clone(), &mut progress, observer, token);
        let report = execution.run(plan).await?;
        if let Some(kept) = kept {
            let shown = TaskProgress {
                goal,
                answer: report.answer.clone(),
                ..TaskProgress::default()
            };
            kept.show(&shown).await?;
        }
        Ok(report)
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
        f.debug_struct("TaskTurn").finish_non_exhaustive()
    }
}
