//! [`ChatSessions`]: creates and opens the sessions of a chat with its settings, and [`ChatTools`], which they offer.

use std::sync::Arc;

use agcore::{
    AgentBuilder, AgentSession, AgentSpec, ToolRegistry,
    agent::{AgentConfig, StoredSessions},
    memory::session::Session,
    tools::{Approver, AuditSink},
};

use crate::{
    args::{ChatArgs, PermissionMode},
    exit::Failure,
    mcp::Servers,
    permission_mode::PlanModeNotice,
    policy::Policy,
    program_tools::{self, ToolFolder},
    sample_tools::NotesFile,
    sessions::{FOLDER, Sessions, current_folder},
    settings::{McpServers, Settings, ToolSettings},
    trust_dialog::print_notices,
};

/// The tools that a chat offers to the model: those of the program, and those of MCP servers.
#[derive(Clone)]
pub(in crate::command) struct ChatTools {
    /// All tools.
    pub(in crate::command) registry: ToolRegistry,
    /// The MCP servers, connected or not.
    pub(in crate::command) servers: Arc<Servers>,
}

impl ChatTools {
    /// Connects to the MCP servers, unless the model is offered no tools. Servers that fail are reported, and
    /// kept with their errors.
    ///
    /// # Errors
    /// When two tools of the program have the same name, or standard error is closed.
    pub(in crate::command) async fn open(settings: &ToolSettings, is_offered: bool) -> Result<Self, Failure> {
        let registry = program_tools::registry().map_err(|error| Failure::task(error.to_string()))?;
        let none = McpServers::default();
        let servers = if is_offered { &settings.mcp } else { &none };
        let servers = Arc::new(Servers::connect(servers, &registry).await);
        let warnings = servers.warnings().into_iter();
        let warnings: Vec<String> = warnings.map(|warning| format!("warning: {warning}")).collect();
        print_notices(&warnings)?;
        Ok(Self { registry, servers })
    }
}

/// Creates and opens sessions that share the provider, the tools and the rules of a chat.
pub(super) struct ChatSessions {
    /// Where they are kept.
    pub(super) sessions: Sessions,
    stored: StoredSessions,
}

/// The approver of calls, and the sink of decisions about them.
pub(super) struct People {
    pub(super) approver: Option<Arc<dyn Approver>>,
    pub(super) audit: Option<Arc<dyn AuditSink>>,
    /// The mode that decides about calls that need approval.
    pub(super) mode: PermissionMode,
    /// The folder of the tools, whose changes the approver sees.
    pub(super) folder: ToolFolder,
}

impl ChatSessions {
    /// Prepares the sessions of a chat. Returns them and the policy of their tools.
    ///
    /// # Errors
    /// When the provider cannot be built, a rule names an unknown tool, or the grants cannot be read.
    pub(super) fn new(
        args: &ChatArgs,
        settings: &Settings,
        tools: &ChatTools,
        sessions: Sessions,
        people: People,
    ) -> Result<(Self, Policy), Failure> {
        let mode = people.mode;
        let tools = tools.registry.clone();
        let policy = Policy::for_mode(&tools, &settings.tools, mode)?;
        let offered = if args.no_tools { ToolRegistry::new() } else { tools };
        let plan_notice = (mode == PermissionMode::Plan).then(|| PlanModeNotice::new(&offered));
        let provider = settings.provider.build();
        let mut builder = AgentBuilder::new()
            .with_provider(provider.map_err(|error| settings.setup_failure(error))?)
            .with_config(AgentConfig::new().with_trace_content(settings.trace_content))
            .with_tools(offered)
            .with_policy(policy.with_approver(people.approver))
            .with_session_store(sessions.store())
            .with_state(NotesFile::default())
            .with_state(people.folder)
            .with_state(settings.tools.allowed_urls());
        if let Some(audit) = people.audit {
            builder = builder.with_audit(audit);
        }
        if let Some(notice) = plan_notice {
            builder = builder.with_hook(notice);
        }
        let mut stored = builder.build()?.stored_sessions()?;
        if let Some(folder) = current_folder() {
            stored = stored.with_metadata(FOLDER, folder);
        }
        Ok((Self { sessions, stored }, policy))
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
        let opened = match selected {
            None => self.stored.create_new(agent.clone()).await,
            Some(session) if is_fork => self.stored.branch_new(&session.id, agent.clone()).await,
            Some(session) => self.stored.open(&session.id, agent.clone()).await,
        };
        Ok(opened?)
    }

    /// Opens a session again, with the settings of these sessions.
    ///
    /// # Errors
    /// When the session is damaged, or the database fails.
    pub(super) async fn reopen(&self, id: &str, agent: &AgentSpec) -> Result<AgentSession, Failure> {
        Ok(self.stored.open(id, agent.clone()).await?)
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

/// Returns the agent that answers.
pub(in crate::command) fn agent(settings: &Settings) -> AgentSpec {
    AgentSpec::new("assistant", settings.system.as_str())
}
