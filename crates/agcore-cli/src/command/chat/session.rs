//! [`ChatSessions`]: creates and opens the sessions of a chat with its settings, and [`ChatTools`], which they offer.

use std::sync::Arc;

use agcore::{
    AgentSession, AgentSpec, ToolRegistry,
    agent::{OpenQuestionPolicy, Skills, StoredSessions, SubAgent, ToolSource},
    chat::{Clock, HeuristicEstimator, TokenEstimator},
    llm::{ProviderConfig, SystemClock},
    memory::session::Session,
    tools::{AuditSink, Registration, ToolError, ToolPolicy},
};
use url::Url;

use super::{agent_tools::remove_unusable, options_hook::OptionsHook, recording::Recording};
use crate::{
    args::{ChatArgs, ModelOption},
    chat_prompt::chat_prompt,
    exit::{Failure, suggestion},
    guards::Guards,
    hook_commands::CommandHooks,
    kept_tools,
    mcp::Servers,
    model_window::ModelWindow,
    permission_mode::{ASKS_AGENT, CurrentMode},
    places::wide_folder_warning,
    prices::Prices,
    program_tools::{self, ToolFolder},
    render::sanitized_line,
    server_question::{ServerAnswers, ServerQuestions},
    sessions::{FIRST_MODEL, FLOW_OPTIONS, FOLDER, KIND, SINGLE, Sessions, current_folder},
    settings::{ContextFiles, McpServers, Project, Settings, ToolSettings},
    trust_dialog::print_notices,
};

/// The estimated tokens from which a conversation may be too long for a small model.
const LONG: u64 = 2_000;

/// The tools that a chat offers to the model: those of the program, and those of MCP servers.
#[derive(Clone)]
pub(in crate::command) struct ChatTools {
    /// All tools.
    pub(in crate::command) registry: ToolRegistry,
    /// The MCP servers, connected or not.
    pub(in crate::command) servers: Arc<Servers>,
    /// The skills and agents in files.
    pub(in crate::command) project: Project,
    /// Why some agents in files cannot be used, one sentence for each.
    pub(super) unusable: Vec<String>,
}

impl ChatTools {
    /// Registers the tools of the program, of skills and of agents in files, and connects to the MCP servers, unless the model is offered no tools. Servers that fail are reported, and
    /// kept with their errors. They cannot ask the user. Agents that name unknown tools are reported and not registered.
    ///
    /// # Errors
    /// When two tools have the same name, or standard error is closed.
    pub(in crate::command) async fn open(settings: &ToolSettings, is_offered: bool) -> Result<Self, Failure> {
        Self::connect(settings, is_offered, None).await
    }

    /// Like [`open`](Self::open), for MCP servers that can ask the user, the model, and for the folder if it is trusted.
    ///
    /// # Errors
    /// As for [`open`](Self::open).
    pub(in crate::command) async fn open_for_user(
        settings: &Settings,
        is_offered: bool,
    ) -> Result<(Self, ServerQuestions), Failure> {
        let folder = settings
            .trusted_folder()
            .and_then(|folder| Url::from_directory_path(folder).ok());
        let (answers, questions) = ServerAnswers::new(folder.into_iter().map(String::from).collect());
        let tools = Self::connect(&settings.tools, is_offered, Some(&answers)).await?;
        if is_offered {
            let warning = kept_tools::register(&mut tools.registry.clone()).await;
            let warnings: Vec<String> = warning
                .map(|warning| format!("warning: {warning}"))
                .into_iter()
                .collect();
            print_notices(&warnings)?;
        }
        Ok((tools, questions))
    }

    async fn connect(
        settings: &ToolSettings,
        is_offered: bool,
        answers: Option<&ServerAnswers>,
    ) -> Result<Self, Failure> {
        let registry = registry(&settings.project).map_err(|error| Failure::task(error.to_string()))?;
        let none = McpServers::default();
        let servers = if is_offered { &settings.mcp } else { &none };
        let servers = Arc::new(Servers::connect(servers, &settings.startable, &registry, answers).await);
        let mut warnings = servers.warnings();
        if is_offered {
            warnings.extend(wide_folder_warning());
        }
        let unusable = match is_offered {
            true => remove_unusable(&registry, &settings.project.agents, &settings.mcp),
            false => Vec::new(),
        };
        warnings.extend(unusable.iter().cloned());
        let warnings = warnings.into_iter();
        let warnings: Vec<String> = warnings.map(|warning| format!("warning: {warning}")).collect();
        print_notices(&warnings)?;
        Ok(Self {
            registry,
            servers,
            project: settings.project.clone(),
            unusable,
        })
    }

    /// Returns what the model is offered: all tools and skills, or nothing.
    pub(in crate::command) fn offered(&self, is_offered: bool) -> (ToolRegistry, Skills) {
        match is_offered {
            true => (self.registry.clone(), self.project.skills.clone()),
            false => (ToolRegistry::new(), Skills::default()),
        }
    }
}

/// Returns the tools of the program, that of skills, and one for each agent with a description.
fn registry(project: &Project) -> Result<ToolRegistry, ToolError> {
    let mut tools = program_tools::registry()?;
    project.skills.clone().add_to(&mut tools)?;
    for agent in &project.agents {
        let spec = &agent.spec;
        if !spec.description.trim().is_empty() {
            let tool = SubAgent::new(spec.clone(), spec.description.as_str());
            tools.register(Registration::from(tool).with_tag(ASKS_AGENT))?;
        }
    }
    Ok(tools)
}

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

/// The rules and the approver of calls, and the sink of decisions about them.
pub(super) struct People {
    pub(super) policy: ToolPolicy,
    pub(super) audit: Option<Arc<dyn AuditSink>>,
    /// The mode that decides about calls that need approval.
    pub(super) mode: CurrentMode,
    /// The folder of the tools, whose changes the approver sees.
    pub(super) folder: ToolFolder,
}

impl ChatSessions {
    /// Prepares the sessions of a chat.
    ///
    /// # Errors
    /// When the provider cannot be built, or a hook has an invalid matcher.
    pub(super) fn new(
        args: &ChatArgs,
        settings: &Settings,
        tools: &ChatTools,
        sessions: Sessions,
        people: People,
    ) -> Result<Self, Failure> {
        // The terminal shows questions before it takes a message; nothing may wait for them unseen.
        let guards = Guards::new(settings, people.policy, people.mode, people.folder)?
            .with_audit(people.audit)
            .with_open_questions(OpenQuestionPolicy::Refuse);
        let provider = settings.provider.build();
        let provider = provider.map_err(|error| settings.setup_failure(error))?;
        let record = args.record.as_deref();
        let recording = record.map(|file| Recording::start(file, Arc::clone(&provider)));
        let recording = recording.transpose()?;
        let provider = recording.as_ref().map_or(provider, Recording::provider);
        let prices = Prices::read(args.catalog.as_deref(), settings.prices.as_ref())?;
        let catalog = prices.as_ref().map(Prices::catalog);
        let window = Arc::new(ModelWindow::new(provider, settings.provider.clone(), catalog));
        let offered = tools.offered(!args.no_tools);
        let mut builder = guards
            .builder(Arc::clone(&window), offered)
            .with_session_store(sessions.store());
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
            hooks: Arc::clone(guards.hooks()),
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
            None => self.new_for(agent).create_new(agent.clone()).await,
            Some(session) if is_fork => self.stored.branch_new(&session.id, agent.clone()).await,
            Some(session) => self.stored.open(&session.id, agent.clone()).await,
        };
        let opened = opened?;
        if is_fork && selected.is_some() {
            self.name_copy(&opened).await?;
        }
        self.hooks.set_session(opened.id());
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
        let copy = self.stored.branch_new(id, agent.clone()).await?;
        self.name_copy(&copy).await?;
        self.hooks.set_session(copy.id());
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
        let opened = self.stored.open(id, agent.clone()).await?;
        self.hooks.set_session(opened.id());
        Ok(opened)
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
pub(super) fn agent_of(args: &ChatArgs, settings: &Settings) -> Result<AgentSpec, Failure> {
    let mut agent = match &args.agent {
        None => chat_agent(args, settings),
        Some(name) => file_agent(&settings.tools.project, name, &settings.context_files)?,
    };
    agent.request = ModelOption::applied(&args.options, &agent.request).map_err(Failure::usage)?;
    Ok(agent)
}

/// Returns the default agent. Unless the settings contain instructions, it knows where it works.
fn chat_agent(args: &ChatArgs, settings: &Settings) -> AgentSpec {
    let mut agent = agent(settings);
    if let (Some(base), Ok(folder)) = (&settings.default_system, settings.tools.folder()) {
        let prompt = chat_prompt(base, folder.path(), !args.no_tools, SystemClock::new().now());
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
