//! [`KeptContexts`]: the contexts of a session in a store.

use std::sync::Arc;

use super::super::sessions::{CONTEXT_METADATA, StoredSessions, context_id};
use crate::{
    agent::Agent,
    durable::{ContextRecord, SessionLog},
    error::{AgentError, AgentErrorKind},
    session::AgentSession,
};

/// Where the contexts of a session are stored: each is a session of its own, and the stream of the session to which they belong
/// has the records of their creation and destruction.
///
/// A record is written before the change that it describes, so that no context is forgotten: one that is listed without being
/// stored is created when it is opened, and one that is stored without being listed is replaced when its name is used again. Both
/// are deleted with the session.
pub(super) struct KeptContexts {
    /// Creates and opens the contexts.
    sessions: StoredSessions,
    /// The id of the session.
    id: Arc<str>,
    /// Writes to the stream of the session.
    recorder: Arc<dyn SessionLog>,
}

impl KeptContexts {
    pub(super) fn new(sessions: &StoredSessions, session: &AgentSession) -> Result<Self, AgentError> {
        Ok(Self {
            sessions: sessions.clone(),
            id: session.id().into(),
            recorder: session.recorder().ok_or_else(AgentError::not_stored)?,
        })
    }

    /// Returns the records of the contexts.
    pub(super) async fn records(&self) -> Result<Vec<ContextRecord>, AgentError> {
        self.recorder.all().await
    }

    /// Creates a context that has no messages.
    pub(super) async fn create(&self, name: &str, agent: Arc<dyn Agent>) -> Result<AgentSession, AgentError> {
        let id = context_id(&self.id, name);
        self.sessions.check_id(&id)?;
        let created = ContextRecord::Created { name: name.to_owned() };
        self.recorder.add(&created).await?;
        // What a destroyed context with this name has left, because its process died.
        self.sessions.delete_row(&id).await?;
        let of_name = self.of_name(name);
        Ok(self.shared(of_name.create(id, agent).await?))
    }

    /// Opens a context as it was after its last write.
    pub(super) async fn open(&self, name: &str, agent: Arc<dyn Agent>) -> Result<AgentSession, AgentError> {
        let id = context_id(&self.id, name);
        let sessions = self.of_name(name);
        let opened = match sessions.open(&id, Arc::clone(&agent)).await {
            // The process died after the context was noted.
            Err(error) if error.kind() == AgentErrorKind::NotFound => sessions.create(id, agent).await,
            opened => opened,
        };
        Ok(self.shared(opened?))
    }

    pub(super) async fn switch(&self, name: &str) -> Result<(), AgentError> {
        let name = name.to_owned();
        Ok(self.recorder.add(&ContextRecord::Current { name }).await?)
    }

    pub(super) async fn note_destroyed(&self, name: &str) -> Result<(), AgentError> {
        let name = name.to_owned();
        Ok(self.recorder.add(&ContextRecord::Destroyed { name }).await?)
    }

    /// Deletes a context that is not listed any more.
    pub(super) async fn delete(&self, name: &str) -> Result<(), AgentError> {
        self.sessions.delete_row(&context_id(&self.id, name)).await
    }

    fn of_name(&self, name: &str) -> StoredSessions {
        let sessions = self.sessions.clone().with_metadata(CONTEXT_METADATA, name);
        sessions.with_part_of(&*self.id)
    }

    /// Lets a context use the memory of the session.
    fn shared(&self, context: AgentSession) -> AgentSession {
        context.share_memory_of(Arc::clone(&self.id));
        context
    }
}
