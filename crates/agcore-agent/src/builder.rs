//! [`AgentBuilder`]: makes a [`RuntimeBundle`].

use std::{fmt, sync::Arc};

use agcore_chat::Clock;
use agcore_llm::{Hook, Hooks, LlmProvider, Retry, SystemClock, Trace, system_random};
use agcore_tools::{Approver, AuditSink, Extensions, PermissionRules, ToolPolicy, ToolRegistry};

use crate::{
    bundle::{Parts, RuntimeBundle},
    config::AgentConfig,
    error::AgentError,
};

/// Puts the parts of a [`RuntimeBundle`] together. Only a provider is required.
#[derive(Default)]
#[must_use = "a builder does nothing before `build`"]
pub struct AgentBuilder {
    provider: Option<Arc<dyn LlmProvider>>,
    tools: Option<ToolRegistry>,
    policy: ToolPolicy,
    audit: Option<Arc<dyn AuditSink>>,
    extensions: Extensions,
    hooks: Vec<Arc<dyn Hook>>,
    clock: Option<Arc<dyn Clock>>,
    config: AgentConfig,
}

impl AgentBuilder {
    /// A builder without a provider.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets who answers. The retry policy of the settings is put around it.
    pub fn with_provider(mut self, provider: impl LlmProvider + 'static) -> Self {
        self.provider = Some(Arc::new(provider));
        self
    }

    /// Sets the tools.
    pub fn with_tools(mut self, tools: ToolRegistry) -> Self {
        self.tools = Some(tools);
        self
    }

    /// Sets the permission rules. By default tools that delete or use a shell are denied.
    pub fn with_permissions(mut self, rules: impl Into<PermissionRules>) -> Self {
        self.policy.rules = Arc::new(rules.into());
        self
    }

    /// Sets who is asked about calls that the rules do not allow. Without, these are denied.
    pub fn with_approver(mut self, approver: impl Approver + 'static) -> Self {
        self.policy = self.policy.with_approver(Arc::new(approver));
        self
    }

    /// Sets rules, approver and remembered grants at once.
    pub fn with_policy(mut self, policy: ToolPolicy) -> Self {
        self.policy = policy;
        self
    }

    /// Sets who is told of every decision about a call and of every end of one.
    pub fn with_audit(mut self, sink: impl AuditSink + 'static) -> Self {
        self.audit = Some(Arc::new(sink));
        self
    }

    /// Adds a value that typed tools take as `State<T>`; one of each type.
    pub fn with_state<T: Send + Sync + 'static>(mut self, value: T) -> Self {
        self.extensions.insert(value);
        self
    }

    /// Adds a hook; hooks run in the order in which they were added.
    pub fn with_hook(mut self, hook: impl Hook + 'static) -> Self {
        self.hooks.push(Arc::new(hook));
        self
    }

    /// Sets the clock; the system's by default.
    pub fn with_clock(mut self, clock: impl Clock + 'static) -> Self {
        self.clock = Some(Arc::new(clock));
        self
    }

    /// Sets the settings.
    pub fn with_config(mut self, config: AgentConfig) -> Self {
        self.config = config;
        self
    }

    /// The bundle.
    ///
    /// # Errors
    /// [`AgentError::Config`] naming the field that is missing or wrong.
    pub fn build(self) -> Result<RuntimeBundle, AgentError> {
        let missing = |field, problem: &str| AgentError::Config {
            field,
            problem: problem.to_owned(),
        };
        let provider = self
            .provider
            .ok_or_else(|| missing("provider", "is missing: call `with_provider`, or take `agcore::model`"))?;
        if self.config.max_turns == Some(0) {
            return Err(missing(
                "max_turns",
                "is 0, so that no turn could ever run: set at least 1, or none",
            ));
        }
        let clock = self.clock.unwrap_or_else(|| Arc::new(SystemClock::new()));
        let retry = Retry::new(provider, self.config.retry.clone(), Arc::clone(&clock), system_random());
        let traced = Trace::new(retry, Arc::clone(&clock)).with_content(self.config.trace_content);
        Ok(RuntimeBundle::new(Parts {
            provider: Arc::new(traced),
            tools: self.tools.unwrap_or_default(),
            policy: self.policy,
            audit: self.audit,
            extensions: self.extensions,
            hooks: Hooks::new(self.hooks),
            clock,
            config: self.config,
        }))
    }
}

impl fmt::Debug for AgentBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AgentBuilder")
            .field("provider", &self.provider)
            .field("config", &self.config)
            .finish_non_exhaustive()
    }
}
