//! [`RuntimeBundle`]: the parts that sessions share.

mod agent_settings;
mod id;
mod known_tools;

use std::{fmt, sync::Arc, time::Duration};

use agcore_chat::{Actor, Biller, Clock, StopCheck, ToolDefinition};
use agcore_cycle::{Hooks, SharedBudget};
use agcore_llm::{LlmProvider, Random};
use agcore_memory::MemoryStore;
use agcore_session::{Billing, SessionStore};
use agcore_tools::{AuditSink, ClientTool, Extensions, ToolPolicy, ToolRegistry};
use serde_json::{Map, Value};

pub(crate) use self::{
    agent_settings::{AgentPart, AgentSettings},
    known_tools::{KnownTools, unknown_tool},
};
use crate::{
    agent::{Agent, AgentSpec, Members},
    config::{AgentConfig, OpenQuestionPolicy},
    durable::TurnLog,
    error::AgentError,
    session_data::ShortResults,
    skills::{Skills, USE_SKILL},
    tape::{Tape, TapeProvider},
    tool_source::{ToolOffer, ToolSource},
};

/// The name of the default agent of a builder.
pub(crate) const DEFAULT_AGENT: &str = "assistant";

/// The parts that sessions share: provider, tools, permissions, hooks, clock, settings. Cheap to clone. Built by
/// [`AgentBuilder`](crate::AgentBuilder).
///
/// ```
/// use agcore_agent::{AgentBuilder, AgentSpec};
/// use agcore_testkit::scripted::{ScriptStep, ScriptedProvider};
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
/// # let model = ScriptedProvider::new([ScriptStep::text("Welcome!"), ScriptStep::text("Hello again.")]);
/// let bundle = AgentBuilder::new().with_provider(model).build()?;
/// let cook = AgentSpec::new("cook", "You are a cook.");
///
/// let session = bundle.session("table-7", cook.clone());
/// session.turn("Hello").await?;
///
/// // Save the session, and continue it later or in another process.
/// let saved = session.export().await;
/// let session = bundle.restore(saved, cook)?;
/// assert_eq!(session.turn("Hello").await?.text(), "Hello again.");
/// assert_eq!(session.messages().await.len(), 4);
/// # Ok::<(), agcore_agent::AgentError>(())
/// # }).unwrap();
/// ```
#[derive(Clone)]
pub struct RuntimeBundle(Arc<Parts>);

#[derive(Clone)]
pub(crate) struct Parts {
    pub(crate) provider: Arc<dyn LlmProvider>,
    pub(crate) agent: Arc<AgentSpec>,
    /// The agents to which conversations can be handed over.
    pub(crate) members: Members,
    pub(crate) tools: ToolRegistry,
    /// Decides which of the tools requests contain, if that is not all of them.
    pub(crate) offer: Option<Arc<dyn ToolOffer>>,
    /// Shows models shorter results, if that is wanted.
    pub(crate) short_results: Option<Arc<ShortResults>>,
    pub(crate) policy: ToolPolicy,
    pub(crate) audit: Option<Arc<dyn AuditSink>>,
    pub(crate) extensions: Extensions,
    pub(crate) hooks: Hooks,
    pub(crate) store: Option<Arc<dyn SessionStore>>,
    /// The settings of the sessions in the store, if they are not the default ones.
    pub(crate) sessions: Option<Arc<SessionSettings>>,
    pub(crate) skills: Skills,
    /// Where the sessions keep their memory.
    pub(crate) session_memory: Option<Arc<dyn MemoryStore>>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) random: Random,
    pub(crate) config: AgentConfig,
    pub(crate) settings: Arc<AgentSettings>,
    /// Answers calls of tools instead of the tools, in a replay.
    pub(crate) tape: Option<Arc<Tape>>,
    /// A budget that is kept elsewhere, from which all turns draw.
    pub(crate) shared_budget: Option<SharedBudget>,
    /// Is asked directly before each call of a model or a tool.
    pub(crate) stop_check: Option<StopCheck>,
}

/// The settings that the stored sessions of a bundle share.
#[derive(Clone)]
pub(crate) struct SessionSettings {
    pub(crate) actor: Arc<Actor>,
    pub(crate) metadata: Map<String, Value>,
    pub(crate) keeps_events: bool,
    pub(crate) log: Option<Arc<dyn TurnLog>>,
    pub(crate) biller: Option<Arc<dyn Biller>>,
    pub(crate) billing: Option<Billing>,
    pub(crate) patience: Duration,
}

impl RuntimeBundle {
    pub(crate) fn new(parts: Parts) -> Self {
        Self(Arc::new(parts))
    }

    pub(crate) fn parts(&self) -> &Parts {
        &self.0
    }

    /// Returns a bundle of the same parts with other settings.
    pub(crate) fn with_config(&self, config: AgentConfig) -> Self {
        Self::new(Parts {
            settings: Arc::new(AgentSettings::new(&config)),
            config,
            ..self.parts().clone()
        })
    }

    /// Returns a bundle whose turns draw from a budget that is kept elsewhere, besides the budgets of the bundle: those of all its
    /// sessions, and of the sub-agents that work for them.
    #[must_use]
    pub fn with_shared_budget(&self, budget: SharedBudget) -> Self {
        Self::new(Parts {
            shared_budget: Some(budget),
            ..self.parts().clone()
        })
    }

    /// Returns a bundle whose turns ask a check directly before each call of a model or a tool whether it may begin: those of all
    /// its sessions, and of the sub-agents that work for them. A turn that may not continue ends as if it was cancelled.
    #[must_use]
    pub fn with_stop_check(&self, check: StopCheck) -> Self {
        Self::new(Parts {
            stop_check: Some(check),
            ..self.parts().clone()
        })
    }

    /// Returns a bundle that works for a turn of another one: it spends from the same budget, and stops with it.
    pub(crate) fn for_the_turn_of(&self, other: &Self) -> Self {
        let (shared_budget, stop_check) = (&other.parts().shared_budget, &other.parts().stop_check);
        if shared_budget.is_none() && stop_check.is_none() {
            return self.clone();
        }
        let parts = self.parts().clone();
        Self::new(Parts {
            shared_budget: shared_budget.clone().or(parts.shared_budget),
            stop_check: stop_check.clone().or(parts.stop_check),
            ..parts
        })
    }

    /// Returns a bundle with other skills. Its tools are those of this bundle as they are now, with `use_skill` for these skills.
    ///
    /// # Errors
    /// [`InvalidConfig`](crate::AgentErrorKind::InvalidConfig) if another tool has a name that conflicts with `use_skill`.
    pub fn with_skills(&self, skills: Skills) -> Result<Self, AgentError> {
        let parts = self.parts();
        let mut tools = parts.tools.detached();
        tools.unregister(USE_SKILL);
        skills.clone().add_to(&mut tools).map_err(AgentError::invalid_tool)?;
        Ok(Self::new(Parts {
            tools,
            skills,
            ..parts.clone()
        }))
    }

    /// Returns a bundle that also has tools that a client offers and runs, as [`ClientTool`]s. The other tools are those of this
    /// bundle as they are now. An agent that lists its tools has to list them as well.
    ///
    /// # Errors
    /// [`InvalidConfig`](crate::AgentErrorKind::InvalidConfig) if a name or a schema is invalid, or if the name is that of another
    /// tool: a client cannot replace the tools of an agent.
    pub fn with_client_tools(&self, tools: impl IntoIterator<Item = ToolDefinition>) -> Result<Self, AgentError> {
        let parts = self.parts();
        let all = parts.tools.detached();
        let tools = tools.into_iter().map(ClientTool::new);
        all.register_all(tools).map_err(AgentError::invalid_tool)?;
        Ok(Self::new(Parts {
            tools: all,
            ..parts.clone()
        }))
    }

    /// Returns a bundle whose agents share a JSON document with the application: they see its newest version with each call of the
    /// model, and change it with the tool `update_state`. An agent that lists its tools has to list it as well. See
    /// [`LocalState`](crate::LocalState) for an example.
    ///
    /// # Errors
    /// [`InvalidConfig`](crate::AgentErrorKind::InvalidConfig) if another tool is named `update_state`.
    #[cfg(feature = "shared-state")]
    pub fn with_shared_state(&self, state: Arc<dyn crate::SharedState>) -> Result<Self, AgentError> {
        let parts = self.parts();
        let (show, update) = crate::session_data::access(state);
        let tools = parts.tools.detached();
        tools.register(update).map_err(AgentError::invalid_tool)?;
        Ok(Self::new(Parts {
            tools,
            hooks: parts.hooks.clone().with_first(show),
            ..parts.clone()
        }))
    }

    /// Returns a bundle without the tools that clients run. A client knows only the calls of the agent that it talks to.
    pub(crate) fn without_client_tools(&self) -> Self {
        let parts = self.parts();
        if !parts.tools.list().iter().any(|tool| tool.tool().is_run_by_client()) {
            return self.clone();
        }
        let tools = parts.tools.detached();
        for tool in parts.tools.list() {
            if tool.tool().is_run_by_client() {
                tools.unregister(tool.name());
            }
        }
        Self::new(Parts { tools, ..parts.clone() })
    }

    /// Returns a bundle in which model and tools are replaced by a tape. Hooks, whose effects are on the tape, do not run, and
    /// nothing is written to a store.
    pub(crate) fn with_tape(&self, tape: Arc<Tape>) -> Self {
        let parts = self.parts();
        let mut config = parts.config.clone();
        config.session_ttl = None;
        // On the tape, every turn that was started ran.
        config.open_questions = OpenQuestionPolicy::Withdraw;
        config.compaction.provider = None;
        Self::new(Parts {
            provider: Arc::new(TapeProvider::new(Arc::clone(&tape), Arc::clone(&parts.provider))),
            tape: Some(tape),
            hooks: Hooks::default(),
            store: None,
            sessions: None,
            session_memory: None,
            shared_budget: None,
            stop_check: None,
            settings: Arc::new(AgentSettings::new(&config)),
            config,
            ..parts.clone()
        })
    }

    /// Returns a new id for a session: a UUID of version 7.
    pub(crate) fn new_id(&self) -> String {
        id::uuid_v7(self.0.clock.now(), &self.0.random)
    }

    /// Returns the agent with this name: the default one, or a member.
    pub(crate) fn member(&self, name: &str) -> Option<Arc<dyn Agent>> {
        let parts = self.parts();
        let member = parts.members.get(name).cloned();
        member.or_else(|| (parts.agent.name == name).then(|| Arc::clone(&parts.agent) as Arc<dyn Agent>))
    }

    /// Returns the default agent.
    pub fn agent(&self) -> &AgentSpec {
        &self.0.agent
    }

    /// Warns if instructions of the builder have no effect on a session, because the session has an agent of its own.
    pub(crate) fn warn_of_unused_instructions(&self, agent: &dyn Agent) {
        let own = self.agent();
        let is_set = own.name == DEFAULT_AGENT && !own.system_prompt.is_empty();
        if is_set && self.0.members.get(agent.name()).is_none() && agent.system_prompt() != own.system_prompt {
            tracing::warn!(
                agent = agent.name(),
                "`with_instructions` has no effect on a session with an agent of its own; put the instructions into its AgentSpec, \
                 or use AgentConfig::with_base_prompt for all agents"
            );
        }
    }

    /// Returns the provider, wrapped in the layers for retries and tracing.
    pub fn provider(&self) -> &Arc<dyn LlmProvider> {
        &self.0.provider
    }

    /// Returns the tools. Changes reach all sessions with their next turn.
    pub fn tools(&self) -> &ToolRegistry {
        &self.0.tools
    }

    /// Returns the policy of the tools.
    pub fn policy(&self) -> &ToolPolicy {
        &self.0.policy
    }

    /// Returns the values that tools find in their context.
    pub fn extensions(&self) -> &Extensions {
        &self.0.extensions
    }

    /// Returns the settings.
    pub fn config(&self) -> &AgentConfig {
        &self.0.config
    }
}

impl fmt::Debug for RuntimeBundle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RuntimeBundle")
            .field("provider", &self.0.provider)
            .field("config", &self.0.config)
            .finish_non_exhaustive()
    }
}
