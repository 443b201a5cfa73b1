//! [`Trajectory`]: everything that happened in a session, as data.

mod error;
mod json_lines;
mod messages;
mod share_gpt;

pub use self::error::TrajectoryError;

use agcore_chat::UsageTracker;
use agcore_cycle::machine::{Limits, Machine, MachineError, Outcome};
use agcore_session::Timestamp;

use crate::{error::AgentError, stored::StoredSessions};

/// Everything that happened in a session: inputs, replies with their usage, results of tools with their durations, answers of
/// people, compactions.
///
/// It can be written and read as [JSON Lines](Self::to_json_lines), exchanged as [ShareGPT](Self::to_share_gpt), and
/// [replayed](crate::RuntimeBundle::replay).
///
/// ```
/// use std::sync::Arc;
///
/// use agcore_agent::{AgentSpec, Trajectory, agent};
/// use agcore_llm::SystemClock;
/// use agcore_session::InMemorySessionStore;
/// use agcore_testkit::scripted::{ScriptStep, ScriptedProvider};
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
/// # let model = ScriptedProvider::new([ScriptStep::text("Good day, Ada.")]);
/// let store = Arc::new(InMemorySessionStore::new(Arc::new(SystemClock::new())));
/// let bundle = agent(model).with_session_store(store).build()?;
/// let (sessions, greeter) = (bundle.stored_sessions()?, AgentSpec::new("greeter", "You greet people."));
/// sessions.create("s-1", greeter.clone()).await?.turn("I am Ada.").await?;
///
/// // Write what happened, and read it again.
/// let lines = sessions.trajectory("s-1").await?.to_json_lines()?;
/// let trajectory = Trajectory::from_json_lines(&lines)?;
/// assert_eq!(trajectory.turns(), 1);
///
/// // Run it again, without the model: this fails if the session would take another course now.
/// assert_eq!(bundle.replay(&trajectory, greeter).await?.replies, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Trajectory {
    session: String,
    entries: Vec<TrajectoryEntry>,
}

/// The outcomes between two writes of a session.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct TrajectoryEntry {
    /// When it was written, if known.
    pub at: Option<Timestamp>,
    /// The name of the agent that has the conversation from here on; empty for the one with which the session was created.
    pub agent: Option<String>,
    /// The state that the conversation has here, if it was set from outside: at the start, and where it was replaced.
    pub state: Option<Box<Machine>>,
    /// The outcomes that followed, in order.
    pub outcomes: Vec<Outcome>,
}

impl TrajectoryEntry {
    /// Creates an entry.
    pub fn new(outcomes: impl IntoIterator<Item = Outcome>) -> Self {
        Self {
            outcomes: outcomes.into_iter().collect(),
            ..Self::default()
        }
    }

    /// Sets the state from which the conversation continues.
    #[must_use]
    pub fn with_state(mut self, state: Machine) -> Self {
        self.state = Some(Box::new(state));
        self
    }
}

impl Trajectory {
    /// Creates the trajectory of a session.
    ///
    /// # Errors
    /// When the entries do not follow from each other.
    pub fn new(
        session: impl Into<String>,
        entries: impl IntoIterator<Item = TrajectoryEntry>,
    ) -> Result<Self, TrajectoryError> {
        let trajectory = Self {
            session: session.into(),
            entries: entries.into_iter().collect(),
        };
        trajectory.play(|_| {}).map_err(TrajectoryError::invalid)?;
        Ok(trajectory)
    }

    /// Returns the id of the session.
    pub fn session(&self) -> &str {
        &self.session
    }

    /// Returns what happened, in order.
    pub fn entries(&self) -> &[TrajectoryEntry] {
        &self.entries
    }

    /// Returns the number of turns that started.
    pub fn turns(&self) -> usize {
        let outcomes = self.entries.iter().flat_map(|entry| &entry.outcomes);
        outcomes
            .filter(|outcome| matches!(outcome, Outcome::TurnStarted(_)))
            .count()
    }

    /// Returns the tokens and calls of all turns.
    pub fn usage(&self) -> UsageTracker {
        self.play(|_| {})
            .map(|machine| machine.usage().clone())
            .unwrap_or_default()
    }

    /// Plays all that happened. `visit` sees every step with the state before it. Returns the state at the end.
    pub(crate) fn play(&self, mut visit: impl FnMut(PlayedStep<'_>)) -> Result<Machine, MachineError> {
        let mut machine = Machine::new(Limits::new());
        for entry in &self.entries {
            if let Some(state) = &entry.state {
                visit(PlayedStep::State(&machine, state));
                machine = (**state).clone();
            }
            for outcome in &entry.outcomes {
                visit(PlayedStep::Outcome(&machine, outcome));
                machine.absorb(outcome.clone())?;
            }
        }
        Ok(machine)
    }
}

/// A step of a trajectory, with the state before it.
pub(crate) enum PlayedStep<'a> {
    /// The conversation was replaced.
    State(&'a Machine, &'a Machine),
    /// An outcome was recorded.
    Outcome(&'a Machine, &'a Outcome),
}

impl StoredSessions {
    /// Returns everything that happened in a session. What its sub-agents did is not part of it, except for their answers.
    ///
    /// # Errors
    /// [`NotFound`](crate::AgentErrorKind::NotFound) if the actor has no session with this id,
    /// [`InvalidState`](crate::AgentErrorKind::InvalidState) if its records are damaged or of a newer version of the program,
    /// [`Storage`](crate::AgentErrorKind::Storage) if the store fails.
    pub async fn trajectory(&self, id: &str) -> Result<Trajectory, AgentError> {
        let records = self.records(id).await?;
        let entries = records.into_iter().map(|record| TrajectoryEntry {
            at: Some(record.at),
            agent: record.agent,
            state: record.state.map(Box::new),
            outcomes: record.outcomes,
        });
        Trajectory::new(id, entries).map_err(AgentError::state_from)
    }
}
