//! [`SessionState`]: a session as data.

use std::{
    sync::Arc,
    time::{Duration, SystemTime},
};

use agcore_chat::{Actor, Question};
use agcore_cycle::machine::Machine;
use agcore_tools::{RunState, ToolSession};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{error::AgentError, turn::Lineage};

/// The version that this code writes. It also reads all older ones.
///
/// | version | what it added |
/// |---|---|
/// | 1 | |
/// | 2 | `actor` and `run_state`: missing ones are the local actor and no values |
/// | 3 | `agent` |
const VERSION: u16 = 3;

/// The longest time by which the creation time may be ahead, because the clocks of machines differ.
const CLOCK_SKEW: Duration = Duration::from_secs(24 * 60 * 60);

/// A session as data: the state of its conversation, and what its tools remember. Serialize it to JSON, deserialize it in
/// any process.
///
/// ```
/// use agcore_agent::{AgentBuilder, AgentSpec, SessionState};
/// # use agcore_testkit::scripted::{ScriptStep, ScriptedProvider};
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
/// # let model = ScriptedProvider::new([ScriptStep::text("Good day, Ada."), ScriptStep::text("You are Ada.")]);
/// let bundle = AgentBuilder::new().with_provider(model).build()?;
/// let session = bundle.session("s-1", AgentSpec::new("host", "You greet people."));
/// session.turn("I am Ada.").await?;
/// let saved = serde_json::to_string(&session.export().await)?;
///
/// // Later, perhaps in another process:
/// let state: SessionState = serde_json::from_str(&saved)?;
/// let session = bundle.restore(state, AgentSpec::new("host", "You greet people."))?;
/// assert_eq!(session.turn("Who am I?").await?.text(), "You are Ada.");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SessionState {
    version: u16,
    id: Arc<str>,
    /// For whom the session acts.
    #[serde(default)]
    actor: Actor,
    cycle: Machine,
    /// The name of the member to which the conversation was handed over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    agent: Option<String>,
    tools: Value,
    /// The values that the steps of an unfinished turn share.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    run_state: Map<String, Value>,
    /// When the session was created, in milliseconds since 1970.
    made_ms: u64,
}

/// The parts of a session that its state consists of.
pub(crate) struct SessionParts {
    pub(crate) id: Arc<str>,
    pub(crate) actor: Arc<Actor>,
    pub(crate) machine: Machine,
    pub(crate) tools: ToolSession,
    pub(crate) run_state: Option<RunState>,
    pub(crate) created: SystemTime,
    /// The name of the member to which the conversation was handed over.
    pub(crate) agent: Option<String>,
    pub(crate) lineage: Lineage,
}

impl SessionState {
    pub(super) fn new(parts: SessionParts) -> Self {
        let since = parts.created.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        // Of a turn that has ended, nothing is shared any more.
        let run_state = parts.run_state.filter(|_| parts.machine.is_open());
        let run_state = run_state.map(|state| state.snapshot()).unwrap_or_default();
        Self {
            version: VERSION,
            id: parts.id,
            actor: Arc::unwrap_or_clone(parts.actor),
            cycle: parts.machine,
            agent: parts.agent,
            tools: parts.tools.export(),
            run_state,
            made_ms: u64::try_from(since.as_millis()).unwrap_or(u64::MAX),
        }
    }

    /// Returns the id of the session.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Returns the actor on whose behalf the session acts.
    pub fn actor(&self) -> &Actor {
        &self.actor
    }

    /// Returns the questions that a suspended turn waits for.
    pub fn questions(&self) -> impl Iterator<Item = &Question> {
        self.cycle.questions()
    }

    pub(crate) fn into_parts(self, now: SystemTime) -> Result<SessionParts, AgentError> {
        if !(1..=VERSION).contains(&self.version) {
            let message = format!(
                "it has version {}, but this program reads versions 1 to {VERSION}; use a newer version of the program",
                self.version
            );
            return Err(AgentError::state(message));
        }
        let tools = ToolSession::restore(self.tools).map_err(AgentError::state_from)?;
        let created = SystemTime::UNIX_EPOCH.checked_add(Duration::from_millis(self.made_ms));
        // A session that was created in the future would never expire.
        let created = created
            .filter(|created| created.duration_since(now).is_ok_and(|ahead| ahead <= CLOCK_SKEW) || *created <= now);
        let created = created.ok_or_else(|| AgentError::state("its creation time `made_ms` is in the future"))?;
        Ok(SessionParts {
            id: self.id,
            actor: Arc::new(self.actor),
            machine: self.cycle,
            tools,
            run_state: Some(RunState::restore(self.run_state)),
            created: created.min(now),
            agent: self.agent,
            lineage: Lineage::default(),
        })
    }
}
