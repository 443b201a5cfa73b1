//! [`AgentBuilder`]: puts the parts of a [`RuntimeBundle`] together.

mod needs_session;
mod offer;

use std::{fmt, sync::Arc};

use agcore_chat::Clock;
use agcore_cycle::{Hook, Hooks};
use agcore_llm::{
    LlmProvider, Random, SystemClock,
    layer::{retry::Retry, trace::Trace},
    system_random,
};
use agcore_memory::MemoryStore;
use agcore_session::SessionStore;
use agcore_tools::{
    Approver, AuditSink, Extensions, IntoRegistration, PermissionRules, ToolContext, ToolError, ToolPolicy,
    ToolRegistry,
};

use self::offer::OfferSettings;
#[cfg(feature = "tool-search")]
use crate::tool_source::ToolSearch;
#[cfg(feature = "knowledge")]
use crate::tools::KnowledgeTools;
use crate::{
    agent::{Agent, AgentSpec, Members},
    bundle::{AgentSettings, DEFAULT_AGENT, KnownTools, Parts, RuntimeBundle},
    config::AgentConfig,
    error::AgentError,
    session::AgentSession,
    session_data::ResultCompression,
    skills::{Skills, USE_SKILL},
    team::handoff_tool,
    tool_source::ToolSource,
};

/// Returns a builder for an agent that uses `model`: the short way to a first agent.
///
/// ```
/// use agcore_agent::agent;
/// use agcore_testkit::scripted::{ScriptStep, ScriptedProvider};
/// use agcore_tools::{NoArguments, typed};
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
/// let dice = typed("dice", "Rolls a die.", |_: NoArguments| async { Ok(4) });
/// # let model = ScriptedProvider::new([
/// #     ScriptStep::calls([agcore_chat::ToolCall::function("call_1", "dice", "{}")]),
/// #     ScriptStep::text("You rolled a 4."),
/// # ]);
/// let session = agent(model).with_instructions("You like games.").with_tool(dice).session()?;
/// assert_eq!(session.turn("Roll the die for me.").await?.text(), "You rolled a 4.");
/// # Ok::<(), agcore_agent::AgentError>(())
/// # }).unwrap();
/// ```
pub fn agent(model: impl LlmProvider + 'static) -> AgentBuilder {
    AgentBuilder::new().with_provider(model)
}

/// Puts the parts of a [`RuntimeBundle`] together. Only a provider is required.
///
/// ```
/// use agcore_agent::{AgentBuilder, AgentConfig, AgentSpec};
/// use agcore_testkit::scripted::{ScriptStep, ScriptedProvider};
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
/// # let model = ScriptedProvider::new([ScriptStep::text("Welcome!")]);
/// let bundle = AgentBuilder::new()
///     .with_provider(model)
///     .with_config(AgentConfig::new().with_base_prompt("You work in a restaurant."))
///     .build()?;
///
/// // One bundle serves many sessions, each with an agent and an id of your choice.
/// let session = bundle.session("table-7", AgentSpec::new("cook", "You are a cook."));
/// assert_eq!(session.turn("Hello").await?.text(), "Welcome!");
/// # Ok::<(), agcore_agent::AgentError>(())
/// # }).unwrap();
/// ```
#[must_use = "a builder does nothing before `build` or `session`"]
pub struct AgentBuilder {
    provider: Option<Arc<dyn LlmProvider>>,
    agent: AgentSpec,
    members: Members,
    /// The name of a member that was added twice, reported by `build`.
    member_twice: Option<String>,
    tools: ToolRegistry,
    offer: OfferSettings,
    /// The first tool that could not be registered, reported by `build`.
    tool_error: Option<ToolError>,
    policy: ToolPolicy,
    audit: Option<Arc<dyn AuditSink>>,
    extensions: Extensions,
    hooks: Vec<Arc<dyn Hook>>,
    store: Option<Arc<dyn SessionStore>>,
    skills: Skills,
    session_memory: Option<Arc<dyn MemoryStore>>,
    clock: Option<Arc<dyn Clock>>,
    random: Option<Random>,
    config: AgentConfig,
}

impl Default for AgentBuilder {
    fn default() -> Self {
        Self {
            provider: None,
            agent: AgentSpec::new(DEFAULT_AGENT, ""),
            members: Members::default(),
            member_twice: None,
            tools: ToolRegistry::default(),
            offer: OfferSettings::default(),
            tool_error: None,
            policy: ToolPolicy::default(),
            audit: None,
            extensions: Extensions::default(),
            hooks: Vec::new(),
            store: None,
            skills: Skills::default(),
            session_memory: None,
            clock: None,
            random: None,
            config: AgentConfig::default(),
        }
    }
}

impl AgentBuilder {
    /// Creates a builder without a provider.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the provider of the model. [`build`](Self::build) wraps it in the retry policy of the settings.
    pub fn with_provider(mut self, provider: impl LlmProvider + 'static) -> Self {
        self.provider = Some(Arc::new(provider));
        self
    }

    /// Sets the instructions of the default agent, which answers in sessions that get no agent of their own: those of
    /// [`session`](Self::session) and [`RuntimeBundle::new_session`]. A session that is created with an
    /// [`AgentSpec`] has the instructions of that agent, and a warning is logged. For instructions to all agents,
    /// see [`AgentConfig::with_base_prompt`](crate::AgentConfig::with_base_prompt).
    pub fn with_instructions(mut self, system_prompt: impl Into<String>) -> Self {
        self.agent.system_prompt = system_prompt.into();
        self
    }

    /// Sets the default agent, which answers in sessions that name none.
    pub fn with_agent(mut self, agent: AgentSpec) -> Self {
        self.agent = agent;
        self
    }

    /// Adds an agent to which others can hand over the conversation. It gets a tool `transfer_to_NAME`, which only agents see that
    /// [name it](AgentSpec::with_handoffs) among their handoffs.
    ///
    /// The agent that takes over answers the user from then on, also in later turns. It sees the whole conversation, with its own
    /// system prompt, tools and parameters. Within a turn, the conversation never goes back to an agent that had it: agents
    /// cannot pass it on in a circle.
    ///
    /// ```
    /// use agcore_agent::{AgentSpec, agent};
    /// use agcore_chat::ToolCall;
    /// use agcore_testkit::scripted::{ScriptStep, ScriptedProvider};
    ///
    /// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
    /// # let model = ScriptedProvider::new([
    /// #     ScriptStep::calls([ToolCall::function("call_1", "transfer_to_billing", r#"{"reason": "an invoice"}"#)]),
    /// #     ScriptStep::text("Invoice 7 is paid."),
    /// # ]);
    /// let desk = AgentSpec::new("desk", "You find out what customers need.").with_handoffs(["billing"]);
    /// let billing = AgentSpec::new("billing", "You answer questions about invoices.").with_description("invoices");
    /// let session = agent(model).with_agent(desk).with_member(billing).session()?;
    ///
    /// assert_eq!(session.turn("Is invoice 7 paid?").await?.text(), "Invoice 7 is paid.");
    /// assert_eq!(session.agent().name(), "billing");
    /// # Ok::<(), agcore_agent::AgentError>(())
    /// # }).unwrap();
    /// ```
    pub fn with_member(mut self, agent: impl Agent + 'static) -> Self {
        let agent: Arc<dyn Agent> = Arc::new(agent);
        if self.members.add(Arc::clone(&agent)) {
            self.with_tool(handoff_tool(&*agent))
        } else {
            self.member_twice.get_or_insert_with(|| agent.name().to_owned());
            self
        }
    }

    /// Adds a tool. [`build`](Self::build) reports a tool that cannot be registered.
    pub fn with_tool(mut self, tool: impl IntoRegistration) -> Self {
        if let Err(error) = self.tools.register(tool) {
            self.tool_error.get_or_insert(error);
        }
        self
    }

    /// Adds a list of tools, or sets the registry of tools in place of those that were added before. A registry is shared:
    /// tools that are registered later reach all sessions with their next turn. [`build`](Self::build) reports a tool that
    /// cannot be registered.
    pub fn with_tools(mut self, tools: impl ToolSource) -> Self {
        if let Err(error) = tools.add_to(&mut self.tools) {
            self.tool_error.get_or_insert(error);
        }
        self
    }

    /// Adds the tools of a wiki: `retrieve`, `read_page`, `remember`, `update_page` and `forget`. Pass a
    /// [`MemoryRetriever`](agcore_memory::search::MemoryRetriever), or [`KnowledgeTools`] with other settings.
    /// [`build`](Self::build) reports tools that cannot be registered.
    #[cfg(feature = "knowledge")]
    pub fn with_knowledge(self, tools: impl Into<KnowledgeTools>) -> Self {
        self.with_tools(tools.into())
    }

    /// Offers skills: the system prompt lists them, and the model reads them with the tool `use_skill`. That of a registry that was
    /// [set](Self::with_tools) before is kept, so that bundles can share one.
    pub fn with_skills(mut self, skills: Skills) -> Self {
        self.skills = skills.clone();
        match self.tools.get(USE_SKILL) {
            Some(_) => self,
            None => self.with_tools(skills),
        }
    }

    /// Sets the permission rules. By default, tools that delete or use a shell are denied.
    pub fn with_permissions(mut self, rules: impl Into<PermissionRules>) -> Self {
        self.policy.rules = Arc::new(rules.into());
        self
    }

    /// Shows the model long results of tools in a shorter form. See [`ResultCompression`] for an example.
    pub fn with_compressed_results(mut self, compression: ResultCompression) -> Self {
        self.offer.results = Some(compression);
        self
    }

    /// Leaves tools out of requests until the model loads them, if there are many. See [`ToolSearch`] for an example.
    #[cfg(feature = "tool-search")]
    pub fn with_tool_search(mut self, search: ToolSearch) -> Self {
        self.offer.search = Some(search);
        self
    }

    /// Sets who approves calls that the rules neither allow nor deny. Without an approver, these are denied, with a warning in the
    /// log.
    pub fn with_approver(mut self, approver: impl Approver + 'static) -> Self {
        self.policy = self.policy.with_approver(Arc::new(approver));
        self
    }

    /// Sets rules, approver and remembered grants at once.
    pub fn with_policy(mut self, policy: ToolPolicy) -> Self {
        self.policy = policy;
        self
    }

    /// Sets the sink that receives a record of every decision about a call and of the end of every call.
    pub fn with_audit(mut self, sink: impl AuditSink + 'static) -> Self {
        self.audit = Some(Arc::new(sink));
        self
    }

    /// Adds a value that typed tools receive as `State<T>`; one of each type.
    pub fn with_state<T: Send + Sync + 'static>(mut self, value: T) -> Self {
        self.extensions.insert(value);
        self
    }

    /// Adds a hook. Hooks run in the order in which they were added.
    pub fn with_hook(mut self, hook: impl Hook + 'static) -> Self {
        self.hooks.push(Arc::new(hook));
        self
    }

    /// Sets the store of sessions. [`RuntimeBundle::stored_sessions`] creates and opens sessions that are written to it while
    /// their turns run; all others stay in memory.
    pub fn with_session_store(mut self, store: impl SessionStore + 'static) -> Self {
        self.store = Some(Arc::new(store));
        self
    }

    /// Sets the store of [session memory](crate::SessionMemory), from which turns learn what was noted in their session.
    pub fn with_session_memory(mut self, store: impl MemoryStore + 'static) -> Self {
        self.session_memory = Some(Arc::new(store));
        self
    }

    /// Sets the clock. The default is the system clock.
    pub fn with_clock(mut self, clock: impl Clock + 'static) -> Self {
        self.clock = Some(Arc::new(clock));
        self
    }

    /// Sets the source of randomness, for retry jitter and session ids. The default is the system's.
    pub fn with_random(mut self, random: Random) -> Self {
        self.random = Some(random);
        self
    }

    /// Sets the settings.
    pub fn with_config(mut self, config: AgentConfig) -> Self {
        self.config = config;
        self
    }

    /// Builds the bundle.
    ///
    /// The tools that the default agent, the members and the sub-agents name must be registered. If the registry was
    /// [set](Self::with_tools) and there are other handles to it, tools may still be added to it, such as those of an MCP server:
    /// then a tool that is missing is a warning in the log, and an error of the turn that needs it.
    ///
    /// # Errors
    /// [`InvalidConfig`](crate::AgentErrorKind::InvalidConfig) with the name of the part that is missing or invalid.
    pub fn build(self) -> Result<RuntimeBundle, AgentError> {
        if let Some(error) = self.tool_error {
            return Err(AgentError::invalid_tool(error));
        }
        if let Some(name) = self.member_twice {
            let problem = format!("contains two agents named `{name}`; rename one of them");
            return Err(AgentError::config("members", &problem));
        }
        if self.config.team.budget.is_some() && self.config.budgets.pool.is_some() {
            let problem =
                "cannot be used together with `budgets.pool`, from which sub-agents spend as well; set one of them";
            return Err(AgentError::config("team.budget", problem));
        }
        let missing = "is missing; call `with_provider`, for example with `agcore::model`";
        let provider = self.provider.ok_or_else(|| AgentError::config("provider", missing))?;
        check_turns(&self.config)?;
        for problem in self.policy.rules.check(&self.tools.snapshot()) {
            tracing::warn!("{problem}");
        }
        let known = KnownTools::of(&self.tools);
        known.check(&self.agent)?;
        self.members.all().try_for_each(|member| known.check(&**member))?;
        let clock = self.clock.unwrap_or_else(|| Arc::new(SystemClock::new()));
        let context = ToolContext::builder(Arc::clone(&clock)).with_extensions(self.extensions.clone());
        let checked = self.tools.executor(context.with_state(known).build()).build();
        checked.map_err(AgentError::invalid_tool)?;
        let random = self.random.unwrap_or_else(system_random);
        let (retry, times) = (self.config.retry.clone(), Arc::clone(&clock));
        let retry = Retry::new(provider, retry, times, Arc::clone(&random));
        let traced = Trace::new(retry, Arc::clone(&clock))
            .with_content(self.config.trace_content)
            .with_propagation(self.config.trace_propagation);
        let settings = Arc::new(AgentSettings::new(&self.config));
        let (offer, short_results) = self.offer.build(&settings)?;
        Ok(RuntimeBundle::new(Parts {
            provider: Arc::new(traced),
            agent: Arc::new(self.agent),
            members: self.members,
            tools: self.tools,
            offer,
            short_results,
            policy: self.policy,
            audit: self.audit,
            extensions: self.extensions,
            hooks: Hooks::new(self.hooks),
            store: self.store,
            sessions: None,
            skills: self.skills,
            session_memory: self.session_memory,
            clock,
            random,
            settings,
            config: self.config,
            tape: None,
            shared_budget: None,
            stop_check: None,
        }))
    }

    /// Builds the bundle and starts a session with the default agent, under a new id.
    ///
    /// # Errors
    /// As [`build`](Self::build).
    pub fn session(self) -> Result<AgentSession, AgentError> {
        Ok(self.build()?.new_session())
    }
}

fn check_turns(config: &AgentConfig) -> Result<(), AgentError> {
    let problem = "is 0, so no turn could ever run; set it to 1 or more, or leave it unset";
    match config.max_turns {
        Some(0) => Err(AgentError::config("max_turns", problem)),
        _ => Ok(()),
    }
}

impl fmt::Debug for AgentBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AgentBuilder")
            .field("provider", &self.provider)
            .field("agent", &self.agent)
            .field("config", &self.config)
            .finish_non_exhaustive()
    }
}
