//! [`AgentConfig`]: settings for all sessions of a bundle.

mod environment;
mod team_limits;

pub use agcore_tools::ToolSettings;

pub use self::{environment::Environment, team_limits::TeamLimits};

use std::time::Duration;

use agcore_cycle::{Budgets, CompactionSettings, machine::Limits};
use agcore_llm::layer::retry::RetryPolicy;

/// The default of [`AgentConfig::max_input_bytes`].
const MAX_INPUT_BYTES: usize = 4 * 1024 * 1024;

/// The default of [`AgentConfig::max_media_bytes`]. No vendor accepts larger requests.
const MAX_MEDIA_BYTES: usize = 64 << 20;

/// Settings for all sessions of a bundle.
///
/// ```
/// use std::time::Duration;
///
/// use agcore_agent::{AgentConfig, BusyPolicy};
///
/// let config = AgentConfig::new()
///     .with_base_prompt("You work in a restaurant.")
///     .with_busy(BusyPolicy::Queue)
///     .with_session_ttl(Duration::from_secs(3600));
/// assert_eq!(config.busy, BusyPolicy::Queue);
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct AgentConfig {
    /// Limits of every turn: tool rounds (10), the length of tool results.
    pub limits: Limits,
    /// The maximum number of turns of a session, including failed ones; `None` means no limit.
    pub max_turns: Option<u32>,
    /// The longest text of the message that starts a turn, in bytes; 4 MiB by default. A longer one is refused with
    /// [`InvalidInput`](crate::AgentErrorKind::InvalidInput) before anything else happens, and so is one that is longer than the
    /// context window of the model, where that is known.
    pub max_input_bytes: usize,
    /// The most bytes of images, recordings and files in the message that starts a turn, counted as they are sent: in base64,
    /// which is a third longer than the file; 64 MiB by default. URLs and ids of uploaded files count with the length of their
    /// text.
    pub max_media_bytes: usize,
    /// How long a session may be used after it was created, by the wall clock; `None` means no limit.
    pub session_ttl: Option<Duration>,
    /// The behavior of a turn that is started while another one runs.
    ///
    /// ```
    /// use agcore_agent::{AgentConfig, BusyPolicy, agent};
    /// # use agcore_testkit::scripted::{ScriptStep, ScriptedProvider};
    ///
    /// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
    /// # let model = ScriptedProvider::new([ScriptStep::text("One."), ScriptStep::text("Two.")]);
    /// let config = AgentConfig::new().with_busy(BusyPolicy::Queue);
    /// let session = agent(model).with_config(config).session()?;
    /// let (first, second) = tokio::join!(session.turn("A").run(), session.turn("B").run());
    /// assert_eq!((&*first?.text(), &*second?.text()), ("One.", "Two."));
    /// # Ok::<(), agcore_agent::AgentError>(())
    /// # }).unwrap();
    /// ```
    pub busy: BusyPolicy,
    /// The behavior of a turn that is started while questions of the turn before it are open.
    pub open_questions: OpenQuestionPolicy,
    /// When a failed call of the model is retried.
    pub retry: RetryPolicy,
    /// When and how conversations are compacted.
    pub compaction: CompactionSettings,
    /// Timeout, concurrency and layers of the calls of tools.
    pub tools: ToolSettings,
    /// Budgets of a turn, of a session and, with a pool, of all sessions together.
    pub budgets: Budgets,
    /// Limits of agents that ask other agents.
    pub team: TeamLimits,
    /// The first layer of every system prompt.
    pub base_prompt: Option<String>,
    /// The second layer: a block of text about the user.
    pub profile_block: Option<String>,
    /// The last layer: where and when the agent works.
    pub environment: Option<Environment>,
    /// Whether spans contain the content of messages; see [`Trace`](agcore_llm::layer::trace::Trace).
    pub trace_content: bool,
    /// Whether requests to models continue the trace; see [`Trace`](agcore_llm::layer::trace::Trace).
    pub trace_propagation: bool,
}

impl Default for AgentConfig {
    fn default() -> Self {
        Self {
            limits: Limits::default(),
            max_turns: None,
            max_input_bytes: MAX_INPUT_BYTES,
            max_media_bytes: MAX_MEDIA_BYTES,
            session_ttl: None,
            busy: BusyPolicy::default(),
            open_questions: OpenQuestionPolicy::default(),
            retry: RetryPolicy::default(),
            compaction: CompactionSettings::default(),
            tools: ToolSettings::default(),
            budgets: Budgets::default(),
            team: TeamLimits::default(),
            base_prompt: None,
            profile_block: None,
            environment: None,
            trace_content: false,
            trace_propagation: false,
        }
    }
}

impl AgentConfig {
    /// Creates the default settings.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the limits of every turn.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets the maximum number of turns of a session.
    #[must_use]
    pub fn with_max_turns(mut self, turns: u32) -> Self {
        self.max_turns = Some(turns);
        self
    }

    /// Sets the longest text of the message that starts a turn, in bytes.
    ///
    /// ```
    /// use agcore_agent::{AgentConfig, AgentErrorKind, agent};
    /// # use agcore_testkit::scripted::ScriptedProvider;
    ///
    /// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
    /// # let model = ScriptedProvider::new([]);
    /// let session = agent(model).with_config(AgentConfig::new().with_max_input_bytes(10)).session()?;
    /// let error = session.turn("Is this too long?").await.unwrap_err();
    /// assert_eq!(error.kind(), AgentErrorKind::InvalidInput);
    /// # Ok::<(), agcore_agent::AgentError>(())
    /// # }).unwrap();
    /// ```
    #[must_use]
    pub fn with_max_input_bytes(mut self, bytes: usize) -> Self {
        self.max_input_bytes = bytes;
        self
    }

    /// Sets the most bytes of images, recordings and files in the message that starts a turn.
    #[must_use]
    pub fn with_max_media_bytes(mut self, bytes: usize) -> Self {
        self.max_media_bytes = bytes;
        self
    }

    /// Sets how long a session may be used after it was created.
    #[must_use]
    pub fn with_session_ttl(mut self, ttl: Duration) -> Self {
        self.session_ttl = Some(ttl);
        self
    }

    /// Sets what happens to a turn that is started while another one runs.
    #[must_use]
    pub fn with_busy(mut self, policy: BusyPolicy) -> Self {
        self.busy = policy;
        self
    }

    /// Sets what happens to a turn that is started while questions of the turn before it are open.
    ///
    /// ```
    /// use agcore_agent::{AgentConfig, AgentErrorKind, OpenQuestionPolicy, agent};
    /// use agcore_chat::ToolCall;
    /// use agcore_testkit::scripted::{ScriptStep, ScriptedProvider};
    /// use agcore_tools::{NoArguments, PermissionRules, Rule, RuleState, SuspendingApprover, typed};
    ///
    /// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
    /// # let model = ScriptedProvider::new([ScriptStep::calls([ToolCall::function("call_1", "pay", "{}")])]);
    /// let session = agent(model)
    ///     .with_tool(typed("pay", "Pays the bill.", |_: NoArguments| async { Ok("paid") }))
    ///     .with_permissions(PermissionRules::default().with_rule(Rule::tool(RuleState::Ask, "pay")))
    ///     .with_approver(SuspendingApprover)
    ///     .with_config(AgentConfig::new().with_open_questions(OpenQuestionPolicy::Refuse))
    ///     .session()?;
    /// session.turn("Pay the bill.").await?;
    ///
    /// let error = session.turn("And the other one?").await.unwrap_err();
    /// assert_eq!(error.kind(), AgentErrorKind::Busy);
    /// assert_eq!(session.questions().await.len(), 1, "the question is still open");
    /// # Ok::<(), agcore_agent::AgentError>(())
    /// # }).unwrap();
    /// ```
    #[must_use]
    pub fn with_open_questions(mut self, policy: OpenQuestionPolicy) -> Self {
        self.open_questions = policy;
        self
    }

    /// Sets when a failed call of the model is retried.
    #[must_use]
    pub fn with_retry(mut self, policy: RetryPolicy) -> Self {
        self.retry = policy;
        self
    }

    /// Sets when and how conversations are compacted.
    #[must_use]
    pub fn with_compaction(mut self, compaction: CompactionSettings) -> Self {
        self.compaction = compaction;
        self
    }

    /// Sets the timeout, the concurrency and the layers of tool calls.
    #[must_use]
    pub fn with_tools(mut self, tools: ToolSettings) -> Self {
        self.tools = tools;
        self
    }

    /// Sets the budgets.
    #[must_use]
    pub fn with_budgets(mut self, budgets: Budgets) -> Self {
        self.budgets = budgets;
        self
    }

    /// Sets the limits of agents that ask other agents.
    #[must_use]
    pub fn with_team(mut self, limits: TeamLimits) -> Self {
        self.team = limits;
        self
    }

    /// Sets the first layer of every system prompt.
    #[must_use]
    pub fn with_base_prompt(mut self, text: impl Into<String>) -> Self {
        self.base_prompt = Some(text.into());
        self
    }

    /// Sets the block of text about the user.
    #[must_use]
    pub fn with_profile_block(mut self, text: impl Into<String>) -> Self {
        self.profile_block = Some(text.into());
        self
    }

    /// Sets where and when the agent works.
    #[must_use]
    pub fn with_environment(mut self, environment: Environment) -> Self {
        self.environment = Some(environment);
        self
    }

    /// Sets whether spans contain the content of messages, system prompts, definitions of tools, and arguments and results of
    /// tool calls. Keys that are recognized by their form are removed.
    #[must_use]
    pub fn with_trace_content(mut self, content: bool) -> Self {
        self.trace_content = content;
        self
    }

    /// Sets whether requests to models have the header `traceparent`. Off by default: it gives a vendor an id that connects the
    /// calls of a conversation, and only a gateway or a model server of one's own adds spans to the trace.
    #[must_use]
    pub fn with_trace_propagation(mut self, propagates: bool) -> Self {
        self.trace_propagation = propagates;
        self
    }
}

/// The behavior of a turn that is started while another one runs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum BusyPolicy {
    /// It fails with [`AgentErrorKind::Busy`](crate::AgentErrorKind::Busy).
    #[default]
    Refuse,
    /// It waits; turns run in the order in which they were first polled.
    Queue,
    /// The running turn and all waiting turns are cancelled, then the new turn runs. Answers to questions never
    /// interrupt a turn: a turn that resumes waits as with `Queue`.
    Interrupt,
}

/// The behavior of a turn that is started while questions of the turn before it are open: an approval, say, that a person has
/// not decided yet.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum OpenQuestionPolicy {
    /// It waits until the questions are answered and their turn has ended, or
    /// [`abandon_turn`](crate::AgentSession::abandon_turn) withdraws them. Its future must not be what answers them: it would
    /// wait forever.
    #[default]
    Queue,
    /// It fails with [`AgentErrorKind::Busy`](crate::AgentErrorKind::Busy). The questions stay open.
    Refuse,
    /// The questions are withdrawn: the calls behind them do not run, and the history records that. Then the new turn runs.
    Withdraw,
}
