//! [`TurnLog`]: writes sessions whose events are used by more than their store. [`TurnCommit`]: what it writes.

use agcore_chat::Text;
use agcore_session::{Commit, Hold, NewSession, SessionError};
use async_trait::async_trait;

use super::recorded_event::RecordedEvent;

/// The changes that a session writes at once, and the events that report them.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct TurnCommit {
    /// The changes. They contain no events.
    pub commit: Commit,
    /// The id of the run to which the events belong. Empty if there are none.
    pub run: Text,
    /// The events, in the order in which they happened.
    pub events: Vec<RecordedEvent>,
}

impl TurnCommit {
    /// Creates the commit of a run.
    pub(super) fn new(commit: Commit, run: impl Into<Text>, events: Vec<RecordedEvent>) -> Self {
        Self {
            commit,
            run: run.into(),
            events,
        }
    }

    /// Returns the commit with the events as [`StoredSessions::with_events`](crate::StoredSessions::with_events) stores
    /// them.
    ///
    /// # Errors
    /// [`Serialization`](agcore_session::SessionErrorKind::Serialization) if an event cannot be written as JSON.
    pub fn into_commit(self) -> Result<Commit, SessionError> {
        let Self {
            mut commit,
            run,
            events,
        } = self;
        for event in &events {
            commit.events.push(event.to_new_event(run.clone())?);
        }
        Ok(commit)
    }
}

impl From<Commit> for TurnCommit {
    fn from(commit: Commit) -> Self {
        Self {
            commit,
            ..Self::default()
        }
    }
}

/// Writes stored sessions in place of their store, and receives the events of their turns with each write: a server
/// that shows the turns to its clients implements this, and passes it to
/// [`StoredSessions::with_turn_log`](crate::StoredSessions::with_turn_log).
///
/// Each event comes once, with the write that makes it true. A log that must not lose an event, nor show one that was
/// not written, stores it in the same transaction.
///
/// ```
/// use std::sync::{Arc, Mutex};
///
/// use agcore_agent::{AgentSpec, TurnCommit, TurnLog, agent};
/// use agcore_chat::{EventKind, TextEvent};
/// # use agcore_llm::SystemClock;
/// use agcore_session::{InMemorySessionStore, SessionError, SessionWriter};
/// # use agcore_testkit::scripted::{ScriptStep, ScriptedProvider};
///
/// /// Collects the answers of all sessions of a store.
/// struct Answers(Arc<InMemorySessionStore>, Mutex<Vec<String>>);
///
/// #[async_trait::async_trait]
/// impl TurnLog for Answers {
///     async fn commit(&self, tenant: &str, id: &str, expected: u64, turn: TurnCommit) -> Result<(), SessionError> {
///         self.0.commit(tenant, id, expected, turn.commit).await?;
///         for event in turn.events {
///             if let EventKind::Text(TextEvent::MessageComplete(message)) = &event.kind {
///                 self.1.lock().unwrap().push(format!("{}: {}", turn.run, message.text()));
///             }
///         }
///         Ok(())
///     }
/// }
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
/// # let model = ScriptedProvider::new([ScriptStep::text("Good day.")]);
/// # let store = Arc::new(InMemorySessionStore::new(Arc::new(SystemClock::new())));
/// let log = Arc::new(Answers(store.clone(), Mutex::default()));
/// let sessions = agent(model).build()?.stored_sessions_in(store).with_turn_log(log.clone());
/// let session = sessions.create("s-1", AgentSpec::new("greeter", "You greet people.")).await?;
/// session.turn("Hello").with_run("request-7").await?;
/// assert_eq!(*log.1.lock().unwrap(), ["request-7: Good day."]);
/// # Ok::<(), agcore_agent::AgentError>(())
/// # }).unwrap();
/// ```
#[async_trait]
pub trait TurnLog: Send + Sync {
    /// Writes to a session like [`SessionWriter::commit`](agcore_session::SessionWriter::commit), and takes the
    /// events.
    ///
    /// The future may be dropped at any time, which leaves open whether the write took place. The session then reads
    /// its records before it writes them again.
    ///
    /// # Errors
    /// As `SessionWriter::commit`: nothing was written, and the events did not happen.
    async fn commit(&self, tenant: &str, session: &str, expected: u64, turn: TurnCommit) -> Result<(), SessionError>;

    /// Notes that a session is about to be created in the store. Does nothing by default.
    ///
    /// # Errors
    /// The reason that the session must not be created.
    async fn before_create(&self, session: &NewSession) -> Result<(), SessionError> {
        let _ = session;
        Ok(())
    }

    /// Returns the right to drive a session, if the owner of the log has it already. By default, a session takes it
    /// from its store.
    fn hold(&self, tenant: &str, session: &str) -> Option<Hold> {
        let _ = (tenant, session);
        None
    }
}
