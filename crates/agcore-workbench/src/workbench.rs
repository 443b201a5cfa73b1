//! [`Workbench`]: the tools of the program, of MCP servers, and of the skills and agents of a folder.

mod agent_tools;

use std::sync::Arc;

use agcore::{
    ToolRegistry,
    agent::{Skills, SubAgent, ToolSource},
    tools::{Registration, ToolError},
};
use agcore_sandbox::{Mode, Support};
use agcore_settings::{
    McpServers, Project, SandboxSettings, Settings, SettingsError, ToolSettings, places::wide_folder_warning,
};
use url::Url;

use self::agent_tools::remove_unusable;
use crate::{
    agent::{GuardedAgent, Offered},
    chat_prompt::PromptTools,
    chat_tools::{self, ChatTools},
    mcp::Servers,
    permission_mode::ASKS_AGENT,
    program_tools,
    server_answers::{ServerAnswers, ServerQuestions},
    surface::Surface,
};

/// The tools that agents are offered, and the MCP servers behind some of them. Clones share both.
///
/// [`agent`](Self::agent) is the only place of the program where an agent with tools is assembled, so that rules, hooks, budgets
/// and redaction hold wherever it runs.
#[derive(Debug, Clone)]
pub struct Workbench {
    /// All tools.
    pub registry: ToolRegistry,
    /// The MCP servers, connected or not.
    pub servers: Arc<Servers>,
    /// The skills and agents in files.
    pub project: Project,
    /// Why some agents in files cannot be used, one sentence for each.
    pub unusable: Vec<String>,
    /// Everything that is not as the settings want it, for the user, one sentence for each.
    pub warnings: Vec<String>,
    /// The todos and background commands of a chat, if it has tools for them.
    pub chat: Option<ChatTools>,
    offers_tools: bool,
}

impl Workbench {
    /// Registers the tools of the program, of skills and of agents in files, and connects to the MCP servers, which cannot ask the
    /// user. Without `offers_tools`, the model is offered no tools, and no server is started.
    ///
    /// Servers that fail are kept with their errors, and agents that name unknown tools are not registered; both are among the
    /// [warnings](Self::warnings).
    ///
    /// # Errors
    /// When two tools have the same name.
    pub async fn open(settings: &ToolSettings, offers_tools: bool) -> Result<Self, ToolError> {
        Self::connect(settings, offers_tools, None).await
    }

    /// Like [`open`](Self::open), for MCP servers that can ask the user, the model, and for the folder if it is trusted. Also
    /// offers what `agcore knowledge` and `agcore memory` keep.
    ///
    /// # Errors
    /// As for [`open`](Self::open).
    pub async fn open_for_user(settings: &Settings, offers_tools: bool) -> Result<(Self, ServerQuestions), ToolError> {
        let folder = settings
            .trusted_folder()
            .and_then(|folder| Url::from_directory_path(folder).ok());
        let (answers, questions) = ServerAnswers::new(folder.into_iter().map(String::from).collect());
        let workbench = Self::connect(&settings.tools, offers_tools, Some(&answers)).await?;
        #[cfg(feature = "sqlite")]
        let workbench = workbench.with_kept_tools().await;
        Ok((workbench, questions))
    }

    /// Adds the tools that only chats and single messages have: `update_todos` for a list of steps, and `shell` with commands in
    /// the background, with `shell_output` and `shell_stop`. [`ChatTools`] must then be asked for news before each message.
    ///
    /// # Errors
    /// When an MCP server has a tool with one of these names.
    pub fn with_chat_tools(mut self) -> Result<Self, ToolError> {
        if self.offers_tools {
            chat_tools::register(&self.registry)?;
            self.chat = Some(ChatTools::default());
        }
        Ok(self)
    }

    /// Returns which tools the default instructions describe.
    pub fn prompt_tools(&self) -> PromptTools {
        match (&self.chat, self.offers_tools) {
            (Some(_), _) => PromptTools::Chat,
            (None, true) => PromptTools::Program,
            (None, false) => PromptTools::None,
        }
    }

    /// Adds the tools for the knowledge and the memory of the user's database.
    #[cfg(feature = "sqlite")]
    async fn with_kept_tools(mut self) -> Self {
        if self.offers_tools {
            let warning = crate::kept_tools::register(&mut self.registry).await;
            self.warnings.extend(warning);
        }
        self
    }

    async fn connect(
        settings: &ToolSettings,
        offers_tools: bool,
        answers: Option<&ServerAnswers>,
    ) -> Result<Self, ToolError> {
        let registry = registry(&settings.project)?;
        let none = McpServers::default();
        let servers = if offers_tools { &settings.mcp } else { &none };
        let servers = Arc::new(Servers::connect(servers, &settings.startable, &registry, answers).await);
        let mut warnings = servers.warnings();
        if offers_tools {
            warnings.extend(wide_folder_warning());
            warnings.extend(sandbox_warning(&settings.sandbox));
        }
        let unusable = match offers_tools {
            true => remove_unusable(&registry, &settings.project.agents, &settings.mcp),
            false => Vec::new(),
        };
        warnings.extend(unusable.iter().cloned());
        Ok(Self {
            registry,
            servers,
            project: settings.project.clone(),
            unusable,
            warnings,
            chat: None,
            offers_tools,
        })
    }

    /// Assembles an agent for a surface: its tools and skills with the rules, hooks, budgets and redaction of the settings.
    ///
    /// # Errors
    /// When a rule names an unknown tool, a hook has an invalid matcher, stored grants cannot be read, or the current directory
    /// cannot be opened.
    pub fn agent(&self, settings: &Settings, surface: Surface) -> Result<GuardedAgent, SettingsError> {
        let deciders = surface.deciders(&self.registry, settings)?;
        let agent = GuardedAgent::new(self.offered(), settings, deciders)?;
        Ok(agent.with_chat_tools(self.chat.clone()))
    }

    /// Returns the tools and skills that the model is offered.
    fn offered(&self) -> Offered {
        match self.offers_tools {
            true => Offered {
                tools: self.registry.clone(),
                skills: self.project.skills.clone(),
            },
            false => Offered {
                tools: ToolRegistry::new(),
                skills: Skills::default(),
            },
        }
    }
}

/// Returns that commands are not confined although no setting has turned the sandbox off, and what happens then.
fn sandbox_warning(settings: &SandboxSettings) -> Option<String> {
    if settings.mode == Mode::Off {
        return None;
    }
    // Where no sandbox exists at all, only those who ask for one are interested.
    if !settings.is_required && cfg!(not(any(target_os = "linux", target_os = "macos"))) {
        return None;
    }
    let reason = Support::of_system().missing.as_ref()?;
    Some(match settings.is_required {
        true => format!(
            "commands are refused, because this system cannot confine them: {reason}; `--sandbox off` runs them without a sandbox"
        ),
        false => format!(
            "commands run without a sandbox, because this system cannot confine them: {reason}; `--sandbox off` hides this warning, \
             and `required = true` in the table [sandbox] refuses commands"
        ),
    })
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
