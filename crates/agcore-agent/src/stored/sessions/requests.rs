//! [`OpenSession`] and [`BranchSession`]: ways to a stored session, to be awaited.

use std::{fmt, pin::Pin, sync::Arc};

use agcore_session::{MessageFilter, SessionOrigin};

use super::StoredSessions;
use crate::{
    agent::Agent,
    durable::Folded,
    error::{AgentError, AgentErrorKind},
    session::AgentSession,
};

type Opening<'s> = Pin<Box<dyn Future<Output = Result<AgentSession, AgentError>> + Send + 's>>;

/// A session to be opened. Created by [`StoredSessions::open`]; await it.
#[must_use = "the session is opened when this is awaited"]
pub struct OpenSession<'s, A> {
    sessions: &'s StoredSessions,
    id: String,
    agent: A,
    creates: bool,
}

/// A branch of a session to be created. Created by [`StoredSessions::branch`]; await it.
///
/// ```
/// # use std::sync::Arc;
/// use agcore_agent::{AgentSpec, agent};
/// # use agcore_llm::SystemClock;
/// # use agcore_session::InMemorySessionStore;
/// # use agcore_testkit::scripted::{ScriptStep, ScriptedProvider};
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
/// # let model = ScriptedProvider::new([ScriptStep::text("Good day."), ScriptStep::text("Adieu.")]);
/// # let store = Arc::new(InMemorySessionStore::new(Arc::new(SystemClock::new())));
/// # let sessions = agent(model).with_session_store(store).build()?.stored_sessions()?;
/// let greeter = AgentSpec::new("greeter", "You greet people.");
/// let session = sessions.open("s-1", greeter.clone()).or_create().await?;
/// session.turn("Hello").await?;
/// session.turn("Goodbye").await?;
///
/// // The first turn has two messages: the input and the answer.
/// let branch = sessions.branch("s-1", greeter).at(2).with_id("s-2").await?;
/// assert_eq!(branch.messages().await.len(), 2);
/// # Ok::<(), agcore_agent::AgentError>(())
/// # }).unwrap();
/// ```
#[must_use = "the branch is created when this is awaited"]
pub struct BranchSession<'s, A> {
    sessions: &'s StoredSessions,
    id: String,
    agent: A,
    /// The number of the last message that belongs to the branch; `None` at the end.
    message: Option<u64>,
    new_id: Option<String>,
}

impl StoredSessions {
    /// Opens a session as it was after its last write. If a turn [was interrupted](AgentSession::is_interrupted),
    /// [`resume`](AgentSession::resume) without answers continues it. With [`or_create`](OpenSession::or_create), a session that
    /// does not exist is created.
    ///
    /// If the conversation was handed over to a [member](crate::AgentBuilder::with_member) of the bundle, that agent still has
    /// it, and `agent` is not used.
    ///
    /// Cancel safe.
    ///
    /// # Errors
    /// [`NotFound`](crate::AgentErrorKind::NotFound) if the actor has no session with this id,
    /// [`InvalidState`](crate::AgentErrorKind::InvalidState) if its records are damaged or of a newer version of the program,
    /// [`Storage`](crate::AgentErrorKind::Storage) if the store fails.
    pub fn open<A: Agent + 'static>(&self, id: impl Into<String>, agent: A) -> OpenSession<'_, A> {
        OpenSession::new(self, id.into(), agent)
    }

    /// Creates a session that continues from the end of another one, or from an [earlier message](BranchSession::at) of it. What
    /// people have allowed in the other session does not apply to the branch, and its usage is counted anew.
    ///
    /// Of a turn that is interrupted or suspended, only the rounds that are complete belong to a branch from the end. If the
    /// conversation was handed over to a member of the bundle, that agent has such a branch as well.
    ///
    /// # Errors
    /// [`NotFound`](crate::AgentErrorKind::NotFound) if the actor has no session with this id,
    /// [`InvalidInput`](crate::AgentErrorKind::InvalidInput) if the message does not exist or is inside a turn, or if the new id
    /// is taken, and other errors as [`open`](Self::open).
    pub fn branch<A: Agent + 'static>(&self, id: impl Into<String>, agent: A) -> BranchSession<'_, A> {
        BranchSession::new(self, id.into(), agent)
    }
}

impl<'s, A: Agent + 'static> OpenSession<'s, A> {
    fn new(sessions: &'s StoredSessions, id: String, agent: A) -> Self {
        Self {
            sessions,
            id,
            agent,
            creates: false,
        }
    }

    /// Creates the session if it does not exist, as [`StoredSessions::create`] does.
    pub fn or_create(mut self) -> Self {
        self.creates = true;
        self
    }

    async fn open(self) -> Result<AgentSession, AgentError> {
        match self.sessions.read(&self.id).await {
            Ok((session, folded)) => Ok(self.sessions.session(session, folded, Arc::new(self.agent))),
            Err(error) if self.creates && error.kind() == AgentErrorKind::NotFound => {
                self.sessions.create(self.id, self.agent).await
            }
            Err(error) => Err(error),
        }
    }
}

impl<'s, A: Agent + 'static> BranchSession<'s, A> {
    fn new(sessions: &'s StoredSessions, id: String, agent: A) -> Self {
        Self {
            sessions,
            id,
            agent,
            message: None,
            new_id: None,
        }
    }

    /// Sets the number of the last message that belongs to the branch. It must be the last one of its turn; 0 begins with an
    /// empty conversation.
    pub fn at(mut self, message: u64) -> Self {
        self.message = Some(message);
        self
    }

    /// Sets the id of the branch, by default [a new one](StoredSessions::new_id).
    pub fn with_id(mut self, id: impl Into<String>) -> Self {
        self.new_id = Some(id.into());
        self
    }

    async fn branch(self) -> Result<AgentSession, AgentError> {
        let new_id = self.new_id.unwrap_or_else(|| self.sessions.bundle.new_id());
        match self.message {
            Some(message) => branch_at(self.sessions, &self.id, message, new_id, self.agent).await,
            None => branch_at_end(self.sessions, &self.id, new_id, self.agent).await,
        }
    }
}

async fn branch_at(
    sessions: &StoredSessions,
    id: &str,
    message: u64,
    new_id: String,
    agent: impl Agent + 'static,
) -> Result<AgentSession, AgentError> {
    let (machine, rows) = sessions.state_after(id, message).await?;
    let number = i64::try_from(message).unwrap_or(i64::MAX);
    let new = sessions.new_session(new_id);
    let mut new = new.with_origin(SessionOrigin::new(id, number));
    // An empty conversation gets the title of its own first message.
    new.title = sessions.find(id).await?.title.filter(|_| message > 0);
    let created = sessions.store.create(new).await?;
    let session = sessions.session(created, Folded::new(machine), Arc::new(agent));
    sessions.write_branch(session, rows, Ok(())).await
}

async fn branch_at_end(
    sessions: &StoredSessions,
    id: &str,
    new_id: String,
    agent: impl Agent + 'static,
) -> Result<AgentSession, AgentError> {
    let (origin, mut folded) = sessions.read(id).await?;
    let rows = sessions.messages(id, &MessageFilter::new()).await?;
    let last = rows.last().map_or(0, |row| row.seq);
    folded.machine.reset_usage();
    let new = sessions.new_session(new_id);
    let mut new = new.with_origin(SessionOrigin::new(origin.id, last));
    new.title = origin.title;
    let created = sessions.store.create(new).await?;
    let handed_to = folded.agent.take();
    let mut continued = Folded::new(folded.machine);
    continued.agent = handed_to.clone();
    let session = sessions.session(created, continued, Arc::new(agent));
    if let (Some(recorder), Some(name)) = (session.recorder(), &handed_to) {
        recorder.set_agent(Some(name));
    }
    let abandoned = session.abandon_turn().await.map(drop);
    sessions.write_branch(session, rows, abandoned).await
}

impl<'s, A: Agent + 'static> IntoFuture for OpenSession<'s, A> {
    type Output = Result<AgentSession, AgentError>;
    type IntoFuture = Opening<'s>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.open())
    }
}

impl<'s, A: Agent + 'static> IntoFuture for BranchSession<'s, A> {
    type Output = Result<AgentSession, AgentError>;
    type IntoFuture = Opening<'s>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.branch())
    }
}

impl<A> fmt::Debug for OpenSession<'_, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenSession")
            .field("id", &self.id)
            .field("creates", &self.creates)
            .finish_non_exhaustive()
    }
}

impl<A> fmt::Debug for BranchSession<'_, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BranchSession")
            .field("id", &self.id)
            .field("message", &self.message)
            .finish_non_exhaustive()
    }
}
