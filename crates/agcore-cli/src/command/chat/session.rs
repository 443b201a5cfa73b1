//! [`ChatSessions`]: creates and opens the sessions of a chat with its settings.

pub(super) mod options_hook;
pub(super) mod recording;

use std::sync::Arc;

use agcore::{
    AgentSession, AgentSpec,
    agent::StoredSessions,
    chat::{Clock, HeuristicEstimator, TokenEstimator, text::suggestion},
    llm::{ProviderConfig, SystemClock},
    session::Session,
};
use agcore_args::{ChatArgs, ModelOption};
use agcore_settings::{ContextFiles, Project, Settings};
use agcore_terminal::render::sanitized_line;
use agcore_workbench::{
    ModelWindow, Surface, Workbench, chat_prompt, hook_commands::CommandHooks, program_tools::ToolFolder,
};

use super::session::{options_hook::OptionsHook, recording::Recording};

use crate::{
    exit::{Failure, setup_failure},
    prices::Prices,
    sessions::{FIRST_MODEL, FLOW_OPTIONS, FOLDER, KIND, SINGLE, Sessions, current_folder},
};

/// The estimated tokens from which a conversation may be too long for a small model.
const LONG: u64 = 2_000;

/// The end of the title of a copy.
const COPY: &str = " (copy)";

/// Creates and opens sessions that share the provider, the tools and the rules of a chat.
pub(super) struct ChatSessions {
    /// Where they are kept.
    pub(super) sessions: Sessions,
    stored: StoredSessions,
    recording: Option<Recording>,
    /// The context window of the model.
    pub(super) window: Arc<ModelWindow>,
    /// The provider, with the model of agents that name none.
    pub(super) provider: ProviderConfig,
    /// The commands of the settings.
    pub(super) hooks: Arc<CommandHooks>,
}

impl ChatSessions {
    /// Prepares the sessions of a chat.
    ///
    /// # Errors
    /// When the provider cannot be built, or a hook has an invalid matcher.
    pub(super) fn new(
        args: &ChatArgs,
        settings: &Settings,
        workbench: &Workbench,
        sessions: Sessions,
        surface: Surface,
    ) -> Result<Self, Failure> {
        let agent = workbench.agent(settings, surface)?;
        let provider = settings.provider.build();
        let provider = provider.map_err(|error| setup_failure(settings.report(), error))?;
        let record = args.record.as_deref();
        let recording = record.map(|file| Recording::start(file, Arc::clone(&provider)));
        let recording = recording.transpose()?;
        let provider = recording.as_ref().map_or(provider, Recording::provider);
        let prices = Prices::read(args.catalog.as_deref(), settings.prices.as_ref(), &settings.provider)?;
        let catalog = prices.as_ref().map(Prices::catalog);
        let list = prices.as_ref().and_then(Prices::list).cloned();
        let window = ModelWindow::new(provider, settings.provider.clone(), catalog);
        let window = Arc::new(window.with_list(list));
        let mut builder = agent.builder(Arc::clone(&window)).with_session_store(sessions.store());
        if sessions.flow_options().is_some()
            && let Some(hook) = OptionsHook::new(&args.options).map_err(Failure::usage)?
        {
            builder = builder.with_hook(hook);
        }
        let stored = builder.build()?.stored_sessions()?;
        let stored = Prices::billed(prices.as_ref(), stored, &settings.provider.model);
        let stored = described(stored, &sessions);
        Ok(Self {
            sessions,
            stored,
            recording,
            window,
            provider: settings.provider.clone(),
            hooks: Arc::clone(agent.hooks()),
        })
    }

    /// Creates a session, or opens the one that was selected, or a copy of it.
    ///
    /// # Errors
    /// When the session is damaged or of a newer version, or the database fails.
    pub(super) async fn start(
        &self,
        selected: Option<&Session>,
        is_fork: bool,
        agent: &AgentSpec,
    ) -> Result<AgentSession, Failure> {
        self.window
            .use_model(agent_model(agent).unwrap_or(&self.provider.model));
        let opened = match selected {
            None => {
                let new = self.new_for(agent);
                new.create(new.new_id(), agent.clone()).await
            }
            Some(session) if is_fork => self.stored.branch(&session.id, agent.clone()).await,
            Some(session) => self.stored.open(&session.id, agent.clone()).await,
        };
        let opened = opened?;
        if is_fork && selected.is_some() {
            self.name_copy(&opened).await?;
        }
        Ok(opened)
    }

    /// Adds to new sessions which model is to answer first: if they end before, they continue with it.
    fn new_for(&self, agent: &AgentSpec) -> StoredSessions {
        let stored = self.stored.clone();
        match self.sessions.flow_options() {
            // Each of its agents has its own.
            Some(_) => stored,
            None => {
                let model = agent_model(agent).unwrap_or(&self.provider.model);
                stored.with_metadata(FIRST_MODEL, format!("{}:{model}", self.provider.name()))
            }
        }
    }

    /// Gives a session the name that the options contain.
    ///
    /// # Errors
    /// When the database fails.
    pub(super) async fn name(&self, session: &AgentSession, args: &ChatArgs) -> Result<(), Failure> {
        match &args.session.name {
            Some(name) => self.sessions.rename(session.id(), name).await,
            None => Ok(()),
        }
    }

    /// Creates a copy of a session, which another program may be using.
    ///
    /// # Errors
    /// When the session is damaged, or the database fails.
    pub(super) async fn fork(&self, id: &str, agent: &AgentSpec) -> Result<AgentSession, Failure> {
        let copy = self.stored.branch(id, agent.clone()).await?;
        self.name_copy(&copy).await?;
        Ok(copy)
    }

    /// Marks a copy in its title, so that the name of the original still selects one session.
    async fn name_copy(&self, copy: &AgentSession) -> Result<(), Failure> {
        let title = self.stored.get(copy.id()).await?.and_then(|session| session.title);
        match title.filter(|title| !title.ends_with(COPY)) {
            Some(title) => self.sessions.rename(copy.id(), &(title + COPY)).await,
            None => Ok(()),
        }
    }

    /// Opens a session again, with the settings of these sessions.
    ///
    /// # Errors
    /// When the session is damaged, or the database fails.
    pub(super) async fn reopen(&self, id: &str, agent: &AgentSpec) -> Result<AgentSession, Failure> {
        Ok(self.stored.open(id, agent.clone()).await?)
    }

    /// Finds out how long a conversation may become before the model is sent one that may be too long.
    pub(super) async fn learn_window(&self, session: &AgentSession, model: &str) {
        let estimator = HeuristicEstimator::default();
        let messages = session.messages().await;
        let tokens: u64 = messages.iter().map(|message| estimator.message(message)).sum();
        if tokens >= LONG {
            self.window.learn(model).await;
        }
    }

    /// Returns a message for each exchange that could not be recorded.
    pub(super) fn recording_problems(&self) -> Vec<String> {
        self.recording.as_ref().map(Recording::problems).unwrap_or_default()
    }

    /// Forgets a session in which nothing happened.
    pub(super) async fn forget_if_empty(&self, id: &str) {
        if let Ok(Some(session)) = self.stored.get(id).await
            && session.end == 0
        {
            // It is not listed, so it does no harm if this fails.
            let _ = self.stored.delete(id).await;
        }
    }
}

/// Adds to new sessions where and for what they were started.
fn described(mut stored: StoredSessions, sessions: &Sessions) -> StoredSessions {
    if let Some(folder) = current_folder() {
        stored = stored.with_metadata(FOLDER, folder);
    }
    if let Some(options) = sessions.flow_options() {
        stored = stored.with_metadata(FLOW_OPTIONS, options);
    }
    if sessions.is_single() {
        stored = stored.with_metadata(SINGLE, "true");
    }
    if let Some(kind) = sessions.kind().name() {
        stored = stored.with_metadata(KIND, kind);
    }
    stored
}

/// Returns the agent that answers.
pub(in crate::command) fn agent(settings: &Settings) -> AgentSpec {
    AgentSpec::new("assistant", settings.system.as_str())
}

/// Returns the agent that answers a chat: the one that its arguments name, or the default one.
///
/// # Errors
/// When there is no agent with this name.
pub(super) fn agent_of(args: &ChatArgs, settings: &Settings, tools: &Workbench) -> Result<AgentSpec, Failure> {
    let mut agent = match &args.agent {
        None => chat_agent(settings, tools),
        Some(name) => file_agent(&settings.tools.project, name, &settings.context_files)?,
    };
    agent.request = ModelOption::applied(&args.options, &agent.request).map_err(Failure::usage)?;
    Ok(agent)
}

/// Returns the default agent. Unless the settings contain instructions, it knows where it works.
fn chat_agent(settings: &Settings, tools: &Workbench) -> AgentSpec {
    let mut agent = agent(settings);
    if let (Some(base), Ok(folder)) = (&settings.default_system, ToolFolder::of_settings(&settings.tools)) {
        let prompt = chat_prompt(base, folder.path(), tools.prompt_tools(), SystemClock::new().now());
        agent.system_prompt = settings.context_files.appended_to(&prompt);
    }
    agent
}

/// Returns the model with which an agent answers: its own, or that of the settings.
pub(super) fn model_of(agent: &AgentSpec, settings: &Settings) -> String {
    agent_model(agent).unwrap_or(&settings.provider.model).to_owned()
}

/// Returns the model that an agent names itself.
fn agent_model(agent: &AgentSpec) -> Option<&str> {
    Some(agent.request.0.model.as_str()).filter(|model| !model.is_empty())
}

/// Returns the agent of a file, with the instructions of the project.
///
/// # Errors
/// When there is no agent with this name.
pub(super) fn file_agent(project: &Project, name: &str, context: &ContextFiles) -> Result<AgentSpec, Failure> {
    let Some(found) = project.agent(name) else {
        let names = project.agents.iter().map(|agent| agent.spec.name.as_str());
        let near = suggestion(name, names);
        return Err(Failure::usage(format!(
            "unknown agent `{}`{near}\nRun `agcore agents list` to see the agents; those of a folder are used only if you trust it.",
            sanitized_line(name)
        )));
    };
    let mut agent = found.clone();
    agent.system_prompt = context.appended_to(&found.system_prompt);
    Ok(agent)
}
