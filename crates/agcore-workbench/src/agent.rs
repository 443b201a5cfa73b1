//! [`GuardedAgent`]: an agent of the program with everything that limits it.

mod further_folders;

use std::{fmt, sync::Arc};

use agcore::{
    AgentBuilder, LlmProvider, ToolRegistry,
    agent::{AgentConfig, ResultCompression, Skills, ToolSearch, ToolSettings as ToolCalls},
    chat::PriceFn,
    llm::Budgets,
    tools::RegisteredTool,
};
use agcore_settings::{Settings, SettingsError, ToolTable, redaction::Redaction};

use self::further_folders::FurtherFolders;
use crate::{
    chat_tools::ChatTools,
    hook_commands::CommandHooks,
    permission_mode::PlanModeNotice,
    program_tools::WebAccess,
    sample_tools::NotesFile,
    surface::{Deciders, People},
};

/// The tools and skills that a model is offered.
pub(crate) struct Offered {
    pub(crate) tools: ToolRegistry,
    pub(crate) skills: Skills,
}

/// The tools, rules, hooks, budgets and redaction of an agent, all but its model. Created by
/// [`Workbench::agent`](crate::Workbench::agent).
#[derive(Clone)]
pub struct GuardedAgent {
    tools: ToolRegistry,
    skills: Skills,
    people: People,
    hooks: Arc<CommandHooks>,
    config: AgentConfig,
    budgets: Budgets,
    redaction: Redaction,
    offer: ToolTable,
    web: WebAccess,
    chat: Option<ChatTools>,
}

impl fmt::Debug for GuardedAgent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GuardedAgent")
            .field("people", &self.people)
            .finish_non_exhaustive()
    }
}

impl GuardedAgent {
    pub(crate) fn new(offered: Offered, settings: &Settings, deciders: Deciders) -> Result<Self, SettingsError> {
        let Offered { tools, skills } = offered;
        let people = deciders.people;
        for name in deciders.removed {
            tools.unregister(name);
        }
        let limits = &settings.tools;
        let hooks = CommandHooks::new(&limits.hooks, people.folder.path().to_owned(), people.mode.clone())?
            .with_commands(limits.startable.clone(), limits.keep_env.clone());
        let hooks = match deciders.takes_problems {
            true => hooks,
            false => hooks.with_logged_problems(),
        };
        let config = AgentConfig::new()
            .with_trace_content(settings.trace_content)
            .with_trace_propagation(settings.trace_models)
            .with_retry(settings.retry())
            .with_open_questions(deciders.open_questions);
        Ok(Self {
            tools,
            skills,
            people,
            hooks: Arc::new(hooks),
            config,
            budgets: limits.budget.budgets(),
            redaction: limits.redaction.clone(),
            offer: limits.offer.clone(),
            web: WebAccess::of_settings(limits),
            chat: None,
        })
    }

    /// Adds the todos and background commands of a chat.
    pub(crate) fn with_chat_tools(mut self, chat: Option<ChatTools>) -> Self {
        self.chat = chat;
        self
    }

    /// Counts costs at these prices.
    #[must_use]
    pub fn with_price(mut self, price: Option<PriceFn>) -> Self {
        self.budgets.price = price;
        self
    }

    /// Returns the commands of `[hooks]`.
    pub fn hooks(&self) -> &Arc<CommandHooks> {
        &self.hooks
    }

    /// Returns a builder of the agent, with its model.
    pub fn builder(&self, provider: impl LlmProvider + 'static) -> AgentBuilder {
        let calls = ToolCalls::new().with_redactor(self.redaction.clone());
        let config = self.config.clone().with_tools(calls).with_budgets(self.budgets.clone());
        let mut builder = AgentBuilder::new()
            .with_provider(provider)
            .with_config(config)
            .with_hook(PlanModeNotice::new(&self.tools, self.people.mode.clone()))
            .with_hook(FurtherFolders(self.people.folder.clone()))
            .with_tools(self.tools.clone())
            .with_skills(self.skills.clone())
            .with_policy(self.people.policy.clone())
            .with_state(NotesFile::default())
            .with_state(self.people.folder.clone())
            .with_state(self.web.clone());
        if let Some(chat) = &self.chat {
            builder = builder.with_state(chat.jobs().clone()).with_hook(chat.reminder());
        }
        if let Some(audit) = &self.people.audit {
            builder = builder.with_audit(Arc::clone(audit));
        }
        if let Some(search) = tool_search(&self.offer) {
            builder = builder.with_tool_search(search);
        }
        if let Some(tokens) = self.offer.compress_above() {
            // The model changes files by texts that it has read, so it needs them as they are.
            builder = builder.with_compressed_results(ResultCompression::above_tokens(tokens).keep("read_file"));
        }
        match self.hooks.is_empty() {
            true => builder,
            false => builder.with_hook(Arc::clone(&self.hooks)),
        }
    }
}

/// Returns when tools of MCP servers are left out of requests. Those of the program are always offered.
fn tool_search(offer: &ToolTable) -> Option<ToolSearch> {
    let is_of_server = |category: &str| category.starts_with("mcp:");
    let search = ToolSearch::above_tokens(offer.search_above()?)
        .only(move |tool: &RegisteredTool| tool.category().is_some_and(is_of_server));
    Some(offer.pin.iter().fold(search, ToolSearch::pin))
}
