//! Creating and opening the contexts of a session in a store.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use super::super::sessions::StoredSessions;
use super::{ContextManager, Contexts, kept::KeptContexts};
use crate::{agent::Agent, durable::ContextRecord, error::AgentError};

impl StoredSessions {
    /// Creates a session with [contexts](ContextManager), under an id of your choice, and its first context, which is the current
    /// one. Each context is a session of the store, which [`list`](Self::list) returns as well: its id begins with that of the
    /// session and a slash, and its metadata has an entry [`CONTEXT_METADATA`](crate::CONTEXT_METADATA) with its name.
    ///
    /// ```
    /// use std::sync::Arc;
    ///
    /// use agcore_agent::{AgentSpec, agent};
    /// use agcore_llm::SystemClock;
    /// use agcore_session::InMemorySessionStore;
    /// use agcore_testkit::scripted::{ScriptStep, ScriptedProvider};
    ///
    /// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
    /// # let model = ScriptedProvider::new([ScriptStep::text("Trains are slower."), ScriptStep::text("As I said: slower.")]);
    /// let store = Arc::new(InMemorySessionStore::new(Arc::new(SystemClock::new())));
    /// let sessions = agent(model).with_session_store(store).build()?.stored_sessions()?;
    /// let spec = |name: &str| AgentSpec::new(name, "You plan trips.");
    /// let contexts = sessions.create_contexts("trip-7", "guide", spec("guide")).await?;
    /// contexts.create("research", spec("research")).await?.turn("Trains or planes to Rome?").await?;
    /// drop(contexts);
    ///
    /// // Later, perhaps in another process:
    /// let contexts = sessions.open_contexts("trip-7", spec).await?;
    /// assert_eq!((contexts.current_name().as_str(), contexts.names().len()), ("guide", 2));
    /// contexts.switch("research").await?.turn("Are you sure?").await?;
    /// assert_eq!(contexts.current().messages().await.len(), 4);
    /// # Ok::<(), agcore_agent::AgentError>(())
    /// # }).unwrap();
    /// ```
    ///
    /// Cancel safe, but dropping the future leaves open whether the session was created.
    ///
    /// # Errors
    /// [`InvalidInput`](crate::AgentErrorKind::InvalidInput) if the id is taken, or the id or the name is not acceptable;
    /// [`Storage`](crate::AgentErrorKind::Storage) if the store fails.
    pub async fn create_contexts(
        &self,
        id: impl Into<String>,
        name: impl Into<String>,
        agent: impl Agent + 'static,
    ) -> Result<ContextManager, AgentError> {
        let (id, name, agent) = (id.into(), name.into(), Arc::new(agent));
        let owner = self.clone().with_contexts();
        let created = owner.create(id.as_str(), Arc::clone(&agent)).await?;
        let kept = KeptContexts::new(self, &created)?;
        let first = match kept.create(&name, agent).await {
            Ok(first) => first,
            Err(error) => {
                // A session without contexts cannot be opened.
                drop(self.delete(&id).await);
                return Err(error);
            }
        };
        let contexts = Contexts {
            all: BTreeMap::from([(name.clone(), first)]),
            current: name,
        };
        Ok(ContextManager::with_contexts(
            created.bundle(),
            id.into(),
            contexts,
            Some(kept),
        ))
    }

    /// Opens a session with contexts as it was after its last write. `agent` returns the agent of the context with a name. If a
    /// turn of a context [was interrupted](crate::AgentSession::is_interrupted), [`resume`](crate::AgentSession::resume) without
    /// answers continues it.
    ///
    /// Cancel safe.
    ///
    /// # Errors
    /// [`NotFound`](crate::AgentErrorKind::NotFound) if the actor has no session with this id, or it has no contexts;
    /// [`InvalidState`](crate::AgentErrorKind::InvalidState) if records are damaged or of a newer version of the program;
    /// [`Storage`](crate::AgentErrorKind::Storage) if the store fails.
    pub async fn open_contexts<A: Agent + 'static>(
        &self,
        id: &str,
        mut agent: impl FnMut(&str) -> A,
    ) -> Result<ContextManager, AgentError> {
        let session = self.open(id, Arc::clone(&self.default_agent())).await?;
        let kept = KeptContexts::new(self, &session)?;
        let Listed { names, current } = Listed::of(kept.records().await?);
        let Some(current) = current else {
            return Err(AgentError::no_contexts(id));
        };
        let mut all = BTreeMap::new();
        for name in names {
            let opened = kept.open(&name, Arc::new(agent(&name))).await?;
            all.insert(name, opened);
        }
        let contexts = Contexts { all, current };
        Ok(ContextManager::with_contexts(
            session.bundle(),
            id.into(),
            contexts,
            Some(kept),
        ))
    }
}

/// The contexts that a session has according to its records.
#[derive(Default)]
struct Listed {
    names: BTreeSet<String>,
    current: Option<String>,
}

impl Listed {
    fn of(records: Vec<ContextRecord>) -> Self {
        let mut listed = Self::default();
        for record in records {
            match record {
                ContextRecord::Created { name } => {
                    listed.current.get_or_insert_with(|| name.clone());
                    listed.names.insert(name);
                }
                ContextRecord::Current { name } => listed.current = Some(name),
                ContextRecord::Destroyed { name } => drop(listed.names.remove(&name)),
            }
        }
        // The current one is never destroyed.
        listed.current = listed.current.filter(|current| listed.names.contains(current));
        listed
    }
}
