//! [`StoredSessions`]: the sessions of a store.

mod billing;
mod contexts;
mod requests;
mod settings;
mod shared;

pub use self::{
    contexts::CONTEXT_METADATA,
    requests::{BranchSession, OpenSession},
};

use std::{fmt, sync::Arc, time::Duration};

use agcore_chat::{Actor, Biller};
use agcore_cycle::machine::Machine;
use agcore_session::{
    Billing, Commit, MessageFilter, NewSession, Session, SessionCursor, SessionFilter, SessionStore, StoredMessage,
};
use serde_json::{Map, Value};

pub(crate) use self::contexts::context_id;
use crate::{
    agent::Agent,
    bundle::RuntimeBundle,
    durable::{
        Continued, Folded, SessionEntry, SessionRecorder, Sink, TurnLog, copy_of, entries_of, fold, record_of, time_of,
    },
    error::AgentError,
    session::{AgentSession, SessionParts},
    turn::Lineage,
};

/// The sessions of one actor in a store: create, list, open, branch, rename, delete.
///
/// A session that was created or opened here is written to the store while its turns run: each input, reply, tool call and
/// result, before anything depends on it. If the process dies, the session can be [opened](Self::open) in another one, and an
/// interrupted turn [continues](AgentSession::resume) where it was. Nothing that was stored happens again: no reply is requested
/// twice, no call with a result runs twice. About a call that was running, see
/// [`uncertain_calls`](AgentSession::uncertain_calls).
///
/// Only one handle drives a session at a time: a turn has the session for as long as it runs, and another handle, in this process
/// or in another one, is refused with [`Held`](crate::AgentErrorKind::Held), which states who has it and since when. A turn that
/// waits for a person does not have it. If another handle has continued the session in between, the next turn fails with
/// [`Conflict`](crate::AgentErrorKind::Conflict) and asks to open the session again.
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
/// # let model = ScriptedProvider::new([ScriptStep::text("Good day, Ada."), ScriptStep::text("You are Ada.")]);
/// // In production, a database: `agcore_store::sqlite::SqliteStore::open("sessions.db", clock)`.
/// let store = Arc::new(InMemorySessionStore::new(Arc::new(SystemClock::new())));
/// let bundle = agent(model).with_session_store(store).build()?;
/// let (sessions, greeter) = (bundle.stored_sessions()?, AgentSpec::new("greeter", "You greet people."));
/// sessions.create("s-1", greeter.clone()).await?.turn("I am Ada.").await?;
///
/// // Later, perhaps in another process:
/// let session = sessions.open("s-1", greeter).await?;
/// assert_eq!(session.turn("Who am I?").await?.text(), "You are Ada.");
/// assert_eq!(sessions.list(None, 10).await?[0].title.as_deref(), Some("I am Ada."));
/// # Ok::<(), agcore_agent::AgentError>(())
/// # }).unwrap();
/// ```
#[derive(Clone)]
pub struct StoredSessions {
    bundle: RuntimeBundle,
    store: Arc<dyn SessionStore>,
    actor: Arc<Actor>,
    metadata: Map<String, Value>,
    /// The parent session of new ones.
    whole: Option<String>,
    keeps_events: bool,
    /// Writes in place of the store.
    log: Option<Arc<dyn TurnLog>>,
    biller: Option<Arc<dyn Biller>>,
    billing: Option<Billing>,
    /// How long a turn waits for a store that is away.
    patience: Duration,
}

impl StoredSessions {
    /// Creates a session. The id must be new in the tenant of the actor; [`new_id`](Self::new_id) returns such ids.
    ///
    /// Cancel safe, but dropping the future leaves open whether the session was created.
    ///
    /// # Errors
    /// [`InvalidInput`](crate::AgentErrorKind::InvalidInput) if the id is taken or not acceptable,
    /// [`Storage`](crate::AgentErrorKind::Storage) if the store fails.
    pub async fn create(&self, id: impl Into<String>, agent: impl Agent + 'static) -> Result<AgentSession, AgentError> {
        self.bundle.warn_of_unused_instructions(&agent);
        let created = self.create_session(self.new_session(id.into())).await?;
        let empty = Folded::new(Machine::new(self.bundle.config().limits.clone()));
        Ok(self.session(created, empty, Arc::new(agent)))
    }

    /// Returns a new id for a session: a UUID of version 7.
    pub fn new_id(&self) -> String {
        self.bundle.new_id()
    }

    /// Returns a session with its title, status and times, without its conversation.
    ///
    /// # Errors
    /// [`Storage`](crate::AgentErrorKind::Storage) if the store fails.
    pub async fn get(&self, id: &str) -> Result<Option<Session>, AgentError> {
        let found = self.store.get_session(&self.actor.tenant, id).await?;
        Ok(found.filter(|session| session.owner == *self.actor))
    }

    /// Returns up to `limit` sessions, those changed last first. The next page starts `after` the last session of this one:
    /// `SessionCursor::of(last)`.
    ///
    /// # Errors
    /// [`Storage`](crate::AgentErrorKind::Storage) if the store fails.
    pub async fn list(&self, after: Option<SessionCursor>, limit: u64) -> Result<Vec<Session>, AgentError> {
        let mut filter = SessionFilter::owned_by(Actor::clone(&self.actor)).with_limit(limit);
        filter.after = after;
        Ok(self.store.sessions(&filter).await?)
    }

    /// Returns the messages that a filter selects, in the form in which people read them: input, answers, tool calls and their
    /// results, numbered from 1.
    ///
    /// # Errors
    /// [`NotFound`](crate::AgentErrorKind::NotFound) if the actor has no session with this id,
    /// [`Storage`](crate::AgentErrorKind::Storage) if the store fails.
    pub async fn messages(&self, id: &str, filter: &MessageFilter) -> Result<Vec<StoredMessage>, AgentError> {
        self.find(id).await?;
        Ok(self.store.messages(&self.actor.tenant, id, filter).await?)
    }

    /// Sets or removes the title of a session.
    ///
    /// # Errors
    /// [`NotFound`](crate::AgentErrorKind::NotFound) if the actor has no session with this id,
    /// [`Storage`](crate::AgentErrorKind::Storage) if the store fails.
    pub async fn rename(&self, id: &str, title: Option<&str>) -> Result<(), AgentError> {
        self.find(id).await?;
        Ok(self.store.rename(&self.actor.tenant, id, title).await?)
    }

    /// Deletes a session with everything that belongs to it, also its contexts. Returns whether it existed. A turn that is running
    /// fails with its next write.
    ///
    /// # Errors
    /// [`Storage`](crate::AgentErrorKind::Storage) if the store fails.
    pub async fn delete(&self, id: &str) -> Result<bool, AgentError> {
        let Some(session) = self.get(id).await? else {
            return Ok(false);
        };
        self.delete_contexts_of(&session).await?;
        Ok(self.store.delete_session(&self.actor.tenant, id).await?)
    }

    /// Returns the records of a session.
    pub(crate) async fn records(&self, id: &str) -> Result<Vec<SessionEntry>, AgentError> {
        let session = self.find(id).await?;
        entries_of(self.store.read(&session.stream(), 1).await?)
    }

    async fn find(&self, id: &str) -> Result<Session, AgentError> {
        self.get(id).await?.ok_or_else(|| AgentError::not_found(id))
    }

    /// Returns a session and its state.
    async fn read(&self, id: &str) -> Result<(Session, Folded), AgentError> {
        let mut session = self.find(id).await?;
        let entries = self.store.read(&session.stream(), 1).await?;
        let folded = fold(entries, None, &self.bundle.config().limits)?;
        session.end = folded.end.max(session.end);
        Ok((session, folded))
    }

    /// Stores a branch with the messages that it continues, if it could be made.
    async fn write_branch(
        &self,
        session: AgentSession,
        rows: Vec<StoredMessage>,
        made: Result<(), AgentError>,
    ) -> Result<AgentSession, AgentError> {
        let copies = rows.into_iter().enumerate().map(|(index, row)| copy_of(row, index));
        let commit = copies.fold(Commit::new(), Commit::with_message);
        let written = match made {
            Ok(()) => session.write_state(commit, &[]).await,
            Err(error) => Err(error),
        };
        if let Err(error) = written {
            // An empty session must not stay behind.
            drop(self.store.delete_session(&self.actor.tenant, session.id()).await);
            return Err(error);
        }
        Ok(session)
    }

    async fn create_session(&self, new: NewSession) -> Result<Session, AgentError> {
        if let Some(log) = &self.log {
            log.before_create(&new).await?;
        }
        Ok(self.store.create(new).await?)
    }

    fn new_session(&self, id: String) -> NewSession {
        let mut new = NewSession::new(id).with_owner(Actor::clone(&self.actor));
        new.metadata.clone_from(&self.metadata);
        new.part_of.clone_from(&self.whole);
        new.billing.clone_from(&self.billing);
        new
    }

    /// Returns the conversation after a message, and the messages up to it.
    async fn state_after(&self, id: &str, message: u64) -> Result<(Machine, Vec<StoredMessage>), AgentError> {
        let mut id = id.to_owned();
        let limits = &self.bundle.config().limits;
        loop {
            let session = self.find(&id).await?;
            if message == 0 {
                return Ok((Machine::new(limits.clone()), Vec::new()));
            }
            let all = self
                .store
                .messages(&self.actor.tenant, &id, &MessageFilter::new())
                .await?;
            let count = usize::try_from(message).unwrap_or(usize::MAX);
            let Some(record) = all.get(count - 1).and_then(record_of) else {
                let problem = format!(
                    "the session `{id}` has {} messages, so none with the number {message}",
                    all.len()
                );
                return Err(AgentError::input(problem));
            };
            if record == 0 {
                // The message was copied from the origin, where it has the same number.
                id = session
                    .origin
                    .map(|origin| origin.session)
                    .ok_or_else(|| AgentError::not_found(&id))?;
                continue;
            }
            let mut entries = self.store.read(&session.stream(), 1).await?;
            entries.retain(|entry| entry.seq <= record);
            let mut machine = fold(entries, None, limits)?.machine;
            let is_last = all.get(count).and_then(record_of) != Some(record);
            if machine.is_open() || !is_last {
                let problem =
                    format!("message {message} is inside a turn; a branch begins after the last message of one");
                return Err(AgentError::input(problem));
            }
            machine.reset_usage();
            return Ok((machine, all.into_iter().take(count).collect()));
        }
    }

    /// Returns a session that continues from here.
    fn session(&self, session: Session, folded: Folded, agent: Arc<dyn Agent>) -> AgentSession {
        let parts = self.bundle.parts();
        let writer = self.bundle.new_id();
        let continued = Continued {
            machine: &folded.machine,
            tools: &folded.tools,
            run_state: &folded.run_state,
            limits: &self.bundle.config().limits,
            has_state: folded.has_state,
            reply: folded.reply,
            run: folded.run,
        };
        let (store, clock) = (Arc::clone(&self.store), Arc::clone(&parts.clock));
        let sink = Sink {
            store,
            log: self.log.clone(),
        };
        // The random end of the id is enough to distinguish the writers of a session.
        let writer = writer.rsplit('-').next().unwrap_or_default().to_owned();
        let mut recorder = SessionRecorder::new(sink, clock, &session, writer, &continued);
        if self.keeps_events {
            recorder = recorder.with_events(folded.agent.as_deref().unwrap_or(agent.name()));
        }
        let recorder = self.with_bills(recorder, &session).with_patience(self.patience);
        let created = time_of(session.created_at).min(parts.clock.now());
        let session = SessionParts {
            id: session.id.into(),
            actor: Arc::clone(&self.actor),
            machine: folded.machine,
            tools: folded.tools,
            run_state: Some(folded.run_state),
            created,
            agent: folded.agent,
            lineage: Lineage {
                whole: session.part_of.map(Into::into),
                ..Lineage::default()
            },
        };
        AgentSession::with_parts(self.bundle.clone(), agent, session, Some(Arc::new(recorder)))
    }
}

impl fmt::Debug for StoredSessions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StoredSessions")
            .field("actor", &self.actor)
            .finish_non_exhaustive()
    }
}
