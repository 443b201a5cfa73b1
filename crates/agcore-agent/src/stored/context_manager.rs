//! [`ContextManager`]: several conversations of one session.

mod kept;
mod state;
mod stored;

pub use self::state::ContextsState;

use std::{
    collections::BTreeMap,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use self::kept::KeptContexts;
use super::sessions::context_id;
use crate::{
    agent::Agent, bundle::RuntimeBundle, error::AgentError, session::AgentSession, session_data::SessionMemory,
};

/// Several conversations of one session, its contexts: each with its own agent, system prompt and messages. Every clone is the same
/// manager.
///
/// One context is the current one, to which what the user writes goes. The others keep their state, and may run at the same time:
/// each is an [`AgentSession`]. What one of them should know of another goes through the [memory](Self::memory) of the session,
/// which all of them share: with a [store](crate::AgentBuilder::with_session_memory) for it, each turn begins with what was noted.
///
/// Limits of a session, such as [`max_turns`](crate::AgentConfig::max_turns), apply to each context. To limit all of them together,
/// use a [pool](agcore_cycle::BudgetPool).
///
/// The contexts of [`new`](Self::new) are kept in the memory of the process; [`export`](Self::export) saves them. Those of
/// [`StoredSessions::create_contexts`](crate::StoredSessions::create_contexts) are sessions of the store: they are written while
/// their turns run, and [`StoredSessions::open_contexts`](crate::StoredSessions::open_contexts) continues them in another process.
///
/// ```
/// use std::sync::Arc;
///
/// use agcore_agent::{AgentSpec, ContextManager, agent};
/// use agcore_llm::SystemClock;
/// use agcore_memory::InMemoryStore;
/// use agcore_testkit::scripted::{ScriptStep, ScriptedProvider};
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
/// # let model = ScriptedProvider::new([ScriptStep::text("Trains are slower."), ScriptStep::text("Take the plane.")]);
/// let memory = Arc::new(InMemoryStore::new(Arc::new(SystemClock::new())));
/// let bundle = agent(model.clone()).with_session_memory(memory).build()?;
/// let contexts = ContextManager::new(&bundle, "trip-7", "guide", AgentSpec::new("guide", "You plan trips."));
///
/// // Look something up without filling the conversation with the details.
/// let research = contexts.create("research", AgentSpec::new("researcher", "You compare.")).await?;
/// research.turn("Trains or planes to Rome?").await?;
/// contexts.share("research", "finding").await?;
///
/// contexts.current().turn("How do I get to Rome?").await?;
/// let sent = model.requests()[1].messages.last().unwrap().text().into_owned();
/// assert!(sent.contains("finding: Trains are slower.") && sent.ends_with("How do I get to Rome?"));
/// # Ok::<(), agcore_agent::AgentError>(())
/// # }).unwrap();
/// ```
#[derive(Clone)]
pub struct ContextManager(Arc<Inner>);

struct Inner {
    bundle: RuntimeBundle,
    /// The id of the session.
    id: Arc<str>,
    contexts: Mutex<Contexts>,
    /// Where the contexts are stored, if they are.
    kept: Option<KeptContexts>,
    /// Held while contexts are created, switched or destroyed, so that the store sees these changes in their order.
    changes: tokio::sync::Mutex<()>,
}

struct Contexts {
    all: BTreeMap<String, AgentSession>,
    /// The name of the current one, which exists.
    current: String,
}

impl ContextManager {
    /// Creates a manager with a first context, which is the current one. `id` is that of the session.
    pub fn new(
        bundle: &RuntimeBundle,
        id: impl Into<Arc<str>>,
        name: impl Into<String>,
        agent: impl Agent + 'static,
    ) -> Self {
        let (id, name) = (id.into(), name.into());
        let first = context(bundle, &id, &name, Arc::new(agent));
        let contexts = Contexts {
            all: BTreeMap::from([(name.clone(), first)]),
            current: name,
        };
        Self::with_contexts(bundle, id, contexts, None)
    }

    /// Creates a context. It has no messages, and is not the current one.
    ///
    /// Cancel safe, but dropping the future leaves open whether a stored context was created.
    ///
    /// # Errors
    /// [`InvalidInput`](crate::AgentErrorKind::InvalidInput) if there is a context with this name, or the store does not accept it;
    /// [`Storage`](crate::AgentErrorKind::Storage) if the store fails.
    pub async fn create(
        &self,
        name: impl Into<String>,
        agent: impl Agent + 'static,
    ) -> Result<AgentSession, AgentError> {
        let (name, agent) = (name.into(), Arc::new(agent));
        let _change = self.0.changes.lock().await;
        if self.get(&name).is_some() {
            return Err(AgentError::input(format!(
                "the session has a context `{name}` already; destroy it first, or use another name"
            )));
        }
        let created = match &self.0.kept {
            Some(kept) => kept.create(&name, agent).await?,
            None => context(&self.0.bundle, &self.0.id, &name, agent),
        };
        self.contexts().all.insert(name, created.clone());
        Ok(created)
    }

    /// Returns the names of all contexts, sorted.
    pub fn names(&self) -> Vec<String> {
        self.contexts().all.keys().cloned().collect()
    }

    /// Returns a context.
    pub fn get(&self, name: &str) -> Option<AgentSession> {
        self.contexts().all.get(name).cloned()
    }

    /// Returns the current context.
    pub fn current(&self) -> AgentSession {
        let contexts = self.contexts();
        match contexts.all.get(&contexts.current) {
            Some(current) => current.clone(),
            // The current context cannot be destroyed.
            None => self.0.bundle.new_session(),
        }
    }

    /// Returns the name of the current context.
    pub fn current_name(&self) -> String {
        self.contexts().current.clone()
    }

    /// Makes another context the current one, and returns it. A turn that runs in the earlier one continues.
    ///
    /// Cancel safe, but dropping the future leaves open whether the change was stored.
    ///
    /// # Errors
    /// [`InvalidInput`](crate::AgentErrorKind::InvalidInput) if there is no context with this name,
    /// [`Storage`](crate::AgentErrorKind::Storage) if the store fails.
    pub async fn switch(&self, name: &str) -> Result<AgentSession, AgentError> {
        let _change = self.0.changes.lock().await;
        let next = self.get(name).ok_or_else(|| unknown(name))?;
        if let Some(kept) = self.0.kept.as_ref().filter(|_| self.current_name() != name) {
            kept.switch(name).await?;
        }
        name.clone_into(&mut self.contexts().current);
        Ok(next)
    }

    /// Removes a context with its messages, also from the store. A turn that runs in it is cancelled. What it has noted in the
    /// memory of the session stays.
    ///
    /// Cancel safe, but dropping the future leaves open whether a stored context was destroyed.
    ///
    /// # Errors
    /// [`InvalidInput`](crate::AgentErrorKind::InvalidInput) if there is no context with this name, or it is the current one;
    /// [`Storage`](crate::AgentErrorKind::Storage) if the store fails.
    pub async fn destroy(&self, name: &str) -> Result<(), AgentError> {
        let _change = self.0.changes.lock().await;
        if self.current_name() == name {
            return Err(AgentError::input(format!(
                "the context `{name}` is the current one; switch to another one before it is destroyed"
            )));
        }
        let destroyed = self.get(name).ok_or_else(|| unknown(name))?;
        if let Some(kept) = &self.0.kept {
            kept.note_destroyed(name).await?;
        }
        self.contexts().all.remove(name);
        destroyed.cancel();
        match &self.0.kept {
            Some(kept) => kept.delete(name).await,
            None => Ok(()),
        }
    }

    /// Returns the memory of the session, which all contexts share.
    ///
    /// # Errors
    /// [`InvalidConfig`](crate::AgentErrorKind::InvalidConfig) if the bundle was built without a
    /// [store](crate::AgentBuilder::with_session_memory) for it.
    pub fn memory(&self) -> Result<SessionMemory, AgentError> {
        self.current().memory()
    }

    /// Notes the last answer of a context in the memory of the session under a key, so that the next turn of every context begins
    /// with it. Waits for the running turn of the context.
    ///
    /// # Errors
    /// [`InvalidInput`](crate::AgentErrorKind::InvalidInput) if there is no context with this name, or its last turn has no answer;
    /// [`Storage`](crate::AgentErrorKind::Storage) if the store fails or the answer is too long; and as [`memory`](Self::memory).
    pub async fn share(&self, name: &str, key: &str) -> Result<(), AgentError> {
        let context = self.get(name).ok_or_else(|| unknown(name))?;
        let memory = context.memory()?;
        let answer = context.last_answer().await.ok_or_else(|| {
            AgentError::input(format!(
                "the last turn of the context `{name}` has no answer that could be shared"
            ))
        })?;
        Ok(memory.set(key, answer).await?)
    }

    /// Returns all contexts, to be saved. Waits for the running turn of each. The memory of the session is not part of it: it is in
    /// its store.
    pub async fn export(&self) -> ContextsState {
        let (all, current) = {
            let contexts = self.contexts();
            (contexts.all.clone(), contexts.current.clone())
        };
        let mut states = BTreeMap::new();
        for (name, context) in all {
            states.insert(name, context.export().await);
        }
        ContextsState::new(&self.0.id, current, states)
    }

    /// Restores saved contexts. `agent` returns the agent of the context with a name.
    ///
    /// # Errors
    /// [`InvalidState`](crate::AgentErrorKind::InvalidState) for a state of another version or a damaged one.
    pub fn restore<A: Agent + 'static>(
        bundle: &RuntimeBundle,
        state: ContextsState,
        mut agent: impl FnMut(&str) -> A,
    ) -> Result<Self, AgentError> {
        let ContextsState {
            id, current, contexts, ..
        } = state.checked()?;
        let mut all = BTreeMap::new();
        for (name, state) in contexts {
            let restored = bundle.restore(state, agent(&name))?;
            restored.share_memory_of(Arc::clone(&id));
            all.insert(name, restored);
        }
        Ok(Self::with_contexts(bundle, id, Contexts { all, current }, None))
    }

    fn with_contexts(bundle: &RuntimeBundle, id: Arc<str>, contexts: Contexts, kept: Option<KeptContexts>) -> Self {
        Self(Arc::new(Inner {
            bundle: bundle.clone(),
            id,
            contexts: Mutex::new(contexts),
            kept,
            changes: tokio::sync::Mutex::default(),
        }))
    }

    fn contexts(&self) -> MutexGuard<'_, Contexts> {
        self.0.contexts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns a new context of a session.
fn context(bundle: &RuntimeBundle, id: &Arc<str>, name: &str, agent: Arc<dyn Agent>) -> AgentSession {
    let created = bundle.session(context_id(id, name), agent);
    created.share_memory_of(Arc::clone(id));
    created
}

fn unknown(name: &str) -> AgentError {
    AgentError::input(format!(
        "the session has no context `{name}`; create it, or use one of its names"
    ))
}

impl fmt::Debug for ContextManager {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let contexts = self.contexts();
        f.debug_struct("ContextManager")
            .field("id", &self.0.id)
            .field("contexts", &contexts.all.keys())
            .field("current", &contexts.current)
            .finish_non_exhaustive()
    }
}
