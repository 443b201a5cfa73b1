//! [`EditorSession`]: a session of the program that is open in an editor.

use std::{
    path::Path,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use agcore::{
    AgentError, AgentSession, AgentSpec, ToolRegistry,
    chat::{Answer, QuestionId},
};
use agcore_acp::{
    AcpError, AcpErrorKind, CallView, Choice, Choices, CommandInfo, CommandResult, FileChange, HostedSession,
};
use agcore_settings::{
    Settings,
    vendor::{check_timeouts, versioned_url},
};
use agcore_terminal::render::{compaction_line, sanitized_line};
use agcore_workbench::{
    Workbench,
    permission_mode::PermissionMode,
    policy::mode_switch::ModeSwitch,
    program_tools::{FileEdit, Previews, ToolFolder},
};
use async_trait::async_trait;
use serde_json::Value;

use super::failure::failed;
use crate::{
    command::chat::session::{ChatSessions, model_of},
    exit::Failure,
    sessions::answers_of,
};

/// The time that a server has to list its models while a session is opened.
const LIST_LIMIT: Duration = Duration::from_secs(2);

/// The largest number of models that are offered.
const MAX_MODELS: usize = 200;

/// The parts of a session that has started.
pub(super) struct Parts {
    pub(super) session: AgentSession,
    pub(super) chats: ChatSessions,
    pub(super) agent: AgentSpec,
    pub(super) modes: ModeSwitch,
    pub(super) folder: ToolFolder,
}

/// Takes the change that a call has made.
type EditsMade = Box<dyn Fn(&str) -> Option<FileEdit> + Send + Sync>;

/// A session of the program that is open in an editor.
pub(super) struct EditorSession {
    session: AgentSession,
    chats: ChatSessions,
    agent: Mutex<AgentSpec>,
    modes: ModeSwitch,
    /// The mode in which the session was opened.
    start: PermissionMode,
    folder: ToolFolder,
    made: EditsMade,
    settings: Settings,
    workbench: Workbench,
    /// The models that the server lists.
    listed: Vec<String>,
    notices: Vec<String>,
    /// The number of open sessions of the process.
    open: Arc<AtomicUsize>,
}

impl EditorSession {
    pub(super) async fn new(
        parts: Parts,
        settings: Settings,
        workbench: Workbench,
        notices: Vec<String>,
        open: Arc<AtomicUsize>,
    ) -> Self {
        let Parts {
            session,
            chats,
            agent,
            modes,
            folder,
        } = parts;
        let model = model_of(&agent, &settings);
        chats.learn_window(&session, &model).await;
        Self {
            listed: listed(&settings).await,
            made: Box::new(folder.edits_made()),
            start: modes.current().get(),
            agent: Mutex::new(agent),
            session,
            chats,
            modes,
            folder,
            settings,
            workbench,
            notices,
            open,
        }
    }

    fn model(&self) -> String {
        let agent = self.agent.lock().unwrap_or_else(PoisonError::into_inner);
        model_of(&agent, &self.settings)
    }

    async fn compact(&self) -> Result<String, AcpError> {
        let report = self.session.compact().await.map_err(|error| self.explain(error))?;
        if let Some(fault) = &report.fault {
            let reason = sanitized_line(&fault.to_string());
            return Err(AcpError::new(
                AcpErrorKind::Internal,
                format!("cannot summarize the conversation: {reason}"),
            ));
        }
        Ok(match report.method {
            Some(method) => compaction_line(method, report.tokens_before, report.tokens_after),
            None => format!(
                "There is nothing to compact; a request has about {} tokens.",
                report.tokens_before
            ),
        })
    }

    fn status(&self) -> String {
        format!(
            "Model: {}\nPermission mode: {}\nFolder: {}\nSession: {}\n\nTo continue in a terminal: `agcore chat --resume {}`",
            sanitized_line(&self.model()),
            self.modes.current().get().as_str(),
            self.folder.path().display(),
            self.session.id(),
            self.session.id(),
        )
    }
}

/// Returns the models that the server lists, sorted, or none if it does not answer.
async fn listed(settings: &Settings) -> Vec<String> {
    let config = settings.provider.clone().with_timeouts(check_timeouts());
    let answer = tokio::time::timeout(LIST_LIMIT, config.list_models()).await;
    let models = answer.ok().and_then(Result::ok).flatten().unwrap_or_default();
    let mut names: Vec<String> = models.into_iter().map(|model| model.id).collect();
    names.sort();
    names.dedup();
    names.truncate(MAX_MODELS);
    names
}

/// Describes a call, with its change, or why it would fail.
pub(super) fn view(
    tool: &str,
    tools: &ToolRegistry,
    arguments: &Value,
    root: &Path,
    edit: Option<Result<FileEdit, String>>,
) -> CallView {
    let (edit, problem) = match edit.transpose() {
        Ok(edit) => (edit, None),
        Err(problem) => (None, Some(problem)),
    };
    CallView::new(tool, tools.get(tool).as_ref(), arguments, root)
        .with_change(edit.map(change))
        .with_problem(problem)
}

fn change(edit: FileEdit) -> FileChange {
    FileChange {
        path: edit.path,
        before: edit.before,
        after: edit.after,
    }
}

fn mode(mode: PermissionMode) -> Choice {
    let (name, description) = match mode {
        PermissionMode::Default => ("Ask", "Asks before calls that change something"),
        PermissionMode::AcceptEdits => ("Accept edits", "Changes files without asking, and asks about commands"),
        PermissionMode::Plan => ("Plan", "Reads only"),
        PermissionMode::DontAsk => ("Don't ask", "Denies what would need a question"),
        PermissionMode::BypassPermissions => ("Bypass permissions", "Allows everything that no rule denies"),
    };
    Choice::new(mode.as_str(), name).with_description(description)
}

#[async_trait]
impl HostedSession for EditorSession {
    fn session(&self) -> &AgentSession {
        &self.session
    }

    fn folder(&self) -> &Path {
        self.folder.path()
    }

    fn modes(&self) -> Choices {
        let mut modes = vec![
            PermissionMode::Default,
            PermissionMode::AcceptEdits,
            PermissionMode::Plan,
        ];
        if !modes.contains(&self.start) {
            modes.push(self.start);
        }
        Choices::new(
            self.modes.current().get().as_str(),
            modes.into_iter().map(mode).collect(),
        )
    }

    fn set_mode(&self, id: &str) -> Result<(), AcpError> {
        let invalid = |reason: String| AcpError::new(AcpErrorKind::InvalidInput, reason);
        let known = [
            PermissionMode::Default,
            PermissionMode::AcceptEdits,
            PermissionMode::Plan,
            self.start,
        ];
        let wanted = known.into_iter().find(|mode| mode.as_str() == id);
        let wanted = wanted.ok_or_else(|| invalid(format!("there is no permission mode `{}`", sanitized_line(id))))?;
        if wanted == self.modes.current().get() || self.modes.change(wanted) {
            return Ok(());
        }
        Err(invalid(
            "the mode `dontAsk` is chosen when the program starts, and cannot be entered or left later".to_owned(),
        ))
    }

    fn models(&self) -> Choices {
        let current = self.model();
        let mut names = self.listed.clone();
        if !names.contains(&current) {
            names.insert(0, current.clone());
        }
        let choice = |name: String| Choice::new(name.clone(), sanitized_line(&name));
        Choices::new(current, names.into_iter().map(choice).collect())
    }

    fn set_model(&self, id: &str) -> Result<(), AcpError> {
        if !self.models().all.iter().any(|model| model.id == id) {
            return Err(AcpError::new(
                AcpErrorKind::InvalidInput,
                format!("the server does not list the model `{}`", sanitized_line(id)),
            ));
        }
        let mut agent = self.agent.lock().unwrap_or_else(PoisonError::into_inner);
        *agent = agent.clone().with_model(id);
        self.session.switch_agent(Arc::new(agent.clone()));
        self.chats.window.use_model(id);
        Ok(())
    }

    fn commands(&self) -> Vec<CommandInfo> {
        vec![
            CommandInfo::new("compact", "Summarize the older part of the conversation to make space"),
            CommandInfo::new(
                "status",
                "Show the model, the permission mode, and how to continue in a terminal",
            ),
        ]
    }

    async fn command(&self, name: &str, argument: &str) -> Result<Option<CommandResult>, AcpError> {
        match name {
            "compact" | "status" if !argument.is_empty() => Err(AcpError::new(
                AcpErrorKind::InvalidInput,
                format!("/{name} takes no text after it; send the text as a message of its own"),
            )),
            "compact" => Ok(Some(CommandResult::Text(self.compact().await?))),
            "status" => Ok(Some(CommandResult::Text(self.status()))),
            _ => Ok(None),
        }
    }

    fn describe(&self, tool: &str, arguments: &Value) -> CallView {
        view(tool, &self.workbench.registry, arguments, self.folder.path(), None)
    }

    fn preview(&self, call_id: &str, tool: &str, arguments: &Value) -> CallView {
        let edit = Previews::new(&self.folder).edit_of_question(call_id, tool, arguments);
        view(tool, &self.workbench.registry, arguments, self.folder.path(), edit)
    }

    fn change_made(&self, call_id: &str) -> Option<FileChange> {
        (self.made)(call_id).map(change)
    }

    async fn answers(&self) -> Result<Vec<(QuestionId, Answer)>, AcpError> {
        answers_of(&self.chats.sessions, &self.session).await.map_err(failed)
    }

    fn explain(&self, error: AgentError) -> AcpError {
        let failure = Failure::from(error).or_base_url(versioned_url(&self.settings.provider).as_deref());
        failed(failure.or_limit(|stage| self.settings.limits.advice(stage)))
    }

    fn notices(&self) -> Vec<String> {
        self.notices.clone()
    }

    async fn close(&self) {
        self.release().await;
        self.chats.forget_if_empty(self.session.id()).await;
    }

    async fn release(&self) {
        self.workbench.servers.close().await;
        self.open.fetch_sub(1, Ordering::SeqCst);
    }
}
