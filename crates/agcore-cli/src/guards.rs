//! [`Guards`]: what limits the agents of the program, and the only way to build one that calls tools.

use std::sync::Arc;

use agcore::{
    AgentBuilder, LlmProvider,
    agent::{AgentConfig, OpenQuestionPolicy, Skills, ToolSettings as ToolCalls},
    chat::PriceFn,
    llm::Budgets,
    tools::{AuditSink, ToolPolicy, ToolRegistry},
};

use crate::{
    exit::Failure,
    hook_commands::CommandHooks,
    permission_mode::{CurrentMode, PlanModeNotice},
    program_tools::{ToolFolder, WebAccess},
    redaction::Redaction,
    sample_tools::NotesFile,
    settings::Settings,
};

/// The rules, hooks, budgets and redaction of agents. Every command that runs an agent takes its builder from here, so that none of
/// them can be forgotten: chats, single messages, tasks, flows, `serve` with its flows, `eval` and `sessions replay`.
#[derive(Clone)]
pub(crate) struct Guards {
    policy: ToolPolicy,
    audit: Option<Arc<dyn AuditSink>>,
    hooks: Arc<CommandHooks>,
    mode: CurrentMode,
    config: AgentConfig,
    budgets: Budgets,
    redaction: Redaction,
    folder: ToolFolder,
    web: WebAccess,
}

impl Guards {
    /// Creates the guards of the settings. `policy` contains the rules and the approver of `mode`.
    ///
    /// # Errors
    /// When a hook has an invalid matcher.
    pub(crate) fn new(
        settings: &Settings,
        policy: ToolPolicy,
        mode: impl Into<CurrentMode>,
        folder: ToolFolder,
    ) -> Result<Self, Failure> {
        let (mode, tools) = (mode.into(), &settings.tools);
        let hooks = CommandHooks::new(&tools.hooks, folder.path().to_owned(), mode.clone())?
            .with_commands(tools.startable.clone(), tools.keep_env.clone());
        let config = AgentConfig::new()
            .with_trace_content(settings.trace_content)
            .with_retry(settings.retry());
        Ok(Self {
            policy,
            audit: None,
            hooks: Arc::new(hooks),
            mode,
            config,
            budgets: tools.budget.budgets(),
            redaction: tools.redaction.clone(),
            folder,
            web: tools.web_access(),
        })
    }

    /// Reports decisions about calls.
    pub(crate) fn with_audit(mut self, audit: Option<Arc<dyn AuditSink>>) -> Self {
        self.audit = audit;
        self
    }

    /// Sets what happens to a message while a question waits for its answer.
    pub(crate) fn with_open_questions(mut self, policy: OpenQuestionPolicy) -> Self {
        self.config = self.config.with_open_questions(policy);
        self
    }

    /// Counts costs at these prices.
    pub(crate) fn with_price(mut self, price: Option<PriceFn>) -> Self {
        self.budgets.price = price;
        self
    }

    /// Returns the commands of `[hooks]`.
    pub(crate) fn hooks(&self) -> &Arc<CommandHooks> {
        &self.hooks
    }

    /// Returns a builder with the guards, for an agent with these tools and skills.
    pub(crate) fn builder(
        &self,
        provider: impl LlmProvider + 'static,
        (tools, skills): (ToolRegistry, Skills),
    ) -> AgentBuilder {
        let calls = ToolCalls::new().with_redactor(self.redaction.clone());
        let config = self.config.clone().with_tools(calls).with_budgets(self.budgets.clone());
        let mut builder = AgentBuilder::new()
            .with_provider(provider)
            .with_config(config)
            .with_hook(PlanModeNotice::new(&tools, self.mode.clone()))
            .with_tools(tools)
            .with_skills(skills)
            .with_policy(self.policy.clone())
            .with_state(NotesFile::default())
            .with_state(self.folder.clone())
            .with_state(self.web.clone());
        if let Some(audit) = &self.audit {
            builder = builder.with_audit(Arc::clone(audit));
        }
        match self.hooks.is_empty() {
            true => builder,
            false => builder.with_hook(Arc::clone(&self.hooks)),
        }
    }
}
