//! [`AgentConfig`]: what holds for all sessions of a bundle.

use std::time::Duration;

use agcore_llm::{Budgets, CompactionSettings, RetryPolicy, cycle::machine::Limits};

use crate::environment::Environment;

/// What holds for all sessions of a bundle. All of it takes effect.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct AgentConfig {
    /// Limits of every turn: rounds of tools (10), the length of tool results.
    pub limits: Limits,
    /// How many turns a session may have, failed ones included; none is no limit.
    pub max_turns: Option<u32>,
    /// How long a session may be used after it was made, by the wall clock; none is no limit.
    pub session_ttl: Option<Duration>,
    /// What happens to a turn that is submitted while another runs.
    pub busy: BusyPolicy,
    /// When a failed call of the model is made again.
    pub retry: RetryPolicy,
    /// When and how conversations are made shorter.
    pub compaction: CompactionSettings,
    /// What a turn, a session, and with a pool all sessions together may spend.
    pub budgets: Budgets,
    /// The first layer of every system prompt.
    pub base_prompt: Option<String>,
    /// The second layer: what is known of the user, as a block that is ready to be shown.
    pub profile_block: Option<String>,
    /// The last layer: where and when the agent works.
    pub environment: Option<Environment>,
    /// Whether spans hold what was said, too; see [`Trace`](agcore_llm::Trace).
    pub trace_content: bool,
}

impl AgentConfig {
    /// The default settings.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the limits of every turn.
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets how many turns a session may have.
    pub fn with_max_turns(mut self, turns: u32) -> Self {
        self.max_turns = Some(turns);
        self
    }

    /// Sets how long a session may be used.
    pub fn with_session_ttl(mut self, ttl: Duration) -> Self {
        self.session_ttl = Some(ttl);
        self
    }

    /// Sets what happens to a turn that is submitted while another runs.
    pub fn with_busy(mut self, policy: BusyPolicy) -> Self {
        self.busy = policy;
        self
    }

    /// Sets when a failed call of the model is made again.
    pub fn with_retry(mut self, policy: RetryPolicy) -> Self {
        self.retry = policy;
        self
    }

    /// Sets when and how conversations are made shorter.
    pub fn with_compaction(mut self, compaction: CompactionSettings) -> Self {
        self.compaction = compaction;
        self
    }

    /// Sets what may be spent.
    pub fn with_budgets(mut self, budgets: Budgets) -> Self {
        self.budgets = budgets;
        self
    }

    /// Sets the first layer of every system prompt.
    pub fn with_base_prompt(mut self, text: impl Into<String>) -> Self {
        self.base_prompt = Some(text.into());
        self
    }

    /// Sets what is known of the user.
    pub fn with_profile_block(mut self, text: impl Into<String>) -> Self {
        self.profile_block = Some(text.into());
        self
    }

    /// Sets where and when the agent works.
    pub fn with_environment(mut self, environment: Environment) -> Self {
        self.environment = Some(environment);
        self
    }

    /// Says whether spans hold what was said, too.
    pub fn with_trace_content(mut self, content: bool) -> Self {
        self.trace_content = content;
        self
    }
}

/// What happens to a turn that is submitted while another runs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum BusyPolicy {
    /// It is refused with [`AgentError::Busy`](crate::AgentError::Busy).
    #[default]
    Refuse,
    /// It waits for its place; turns run in the order in which they were first polled.
    Queue,
    /// The turn that runs and all that wait are cancelled, then it runs.
    Interrupt,
}
