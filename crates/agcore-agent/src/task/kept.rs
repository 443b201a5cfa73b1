//! [`KeptTask`]: a task whose progress is written to a stored session.

use std::sync::Arc;

use agcore_chat::{AssistantMessage, Message};
use agcore_session::{Commit, title_of};

use super::progress::TaskProgress;
use crate::{
    agent::Agent,
    bundle::RuntimeBundle,
    durable::{SessionLog, TaskRecord},
    error::AgentError,
    session::{AgentSession, NestedPlace},
    turn::Lineage,
};

/// A task whose progress is written to a stored session. The sessions of its agents are written to the same stream, and the
/// conversation of the session is the goal and the answer.
#[derive(Clone)]
pub(super) struct KeptTask {
    session: AgentSession,
    recorder: Arc<dyn SessionLog>,
}

impl KeptTask {
    /// # Errors
    /// [`InvalidConfig`](crate::AgentErrorKind::InvalidConfig) if the session is not stored.
    pub(super) fn new(session: AgentSession) -> Result<Self, AgentError> {
        let recorder = session.recorder().ok_or_else(AgentError::not_stored)?;
        Ok(Self { session, recorder })
    }

    /// Returns how far the task is; `None` if the session has no task.
    pub(super) async fn progress(&self) -> Result<Option<TaskProgress>, AgentError> {
        TaskProgress::read(self.recorder.all().await?)
    }

    /// Begins a task.
    ///
    /// # Errors
    /// [`InvalidInput`](crate::AgentErrorKind::InvalidInput) if the session has a task or a conversation already.
    pub(super) async fn begin(&self, goal: &str) -> Result<TaskProgress, AgentError> {
        if self.progress().await?.is_some() || !self.session.messages().await.is_empty() {
            let problem = "the session has a task or a conversation already; begin the task in a new session";
            return Err(AgentError::input(problem));
        }
        let goal = goal.to_owned();
        self.add(&TaskRecord::Started { goal: goal.clone() }).await?;
        let progress = TaskProgress {
            goal,
            ..TaskProgress::default()
        };
        self.show(&progress).await?;
        Ok(progress)
    }

    /// Writes a record.
    pub(super) async fn add(&self, record: &TaskRecord) -> Result<(), AgentError> {
        Ok(self.recorder.add(record).await?)
    }

    /// Adds the goal and the answer to the conversation, unless it has them.
    pub(super) async fn show(&self, progress: &TaskProgress) -> Result<(), AgentError> {
        let shown = self.session.messages().await.len();
        if shown == 0 {
            let mut commit = Commit::new();
            commit.title = Some(title_of(&progress.goal, "")).filter(|title| !title.is_empty());
            let goal = Message::user(progress.goal.as_str());
            self.session.add_message_with(goal, commit).await?;
        }
        match &progress.answer {
            Some(answer) if shown < 2 => self.session.add_message(AssistantMessage::new(answer.as_str())).await,
            _ => Ok(()),
        }
    }

    /// Opens the session of an agent that works for the task, as it was after its last write.
    pub(super) async fn open(
        &self,
        bundle: RuntimeBundle,
        agent: Arc<dyn Agent>,
        part: &str,
    ) -> Result<AgentSession, AgentError> {
        let place = NestedPlace {
            session: self.session.id().into(),
            actor: self.session.actor(),
            lineage: Lineage {
                whole: Some(self.session.id().into()),
                path: format!("task.{part}"),
                ..Lineage::default()
            },
            report: None,
        };
        place.open(&self.recorder, bundle, agent).await
    }
}
