//! [`Host`]: the program behind the door, which has the sessions.

use std::path::{Path, PathBuf};

use agcore_agent::{AgentError, AgentSession};
use agcore_chat::{Answer, Content, QuestionId};
use agent_client_protocol::v1::schema::McpServer;
use async_trait::async_trait;
use serde_json::Value;

use crate::{
    call_view::{CallView, FileChange},
    editor::Editor,
    error::AcpError,
};

/// The program behind the door: it creates, opens and lists sessions. The door itself knows the protocol only.
#[async_trait]
pub trait Host: Send + Sync + 'static {
    /// Describes the program.
    fn program(&self) -> Program;

    /// Creates a session.
    ///
    /// # Errors
    /// When the folder cannot be used, or the settings are invalid.
    async fn create(&self, request: OpenRequest, editor: Editor) -> Result<Box<dyn HostedSession>, AcpError>;

    /// Opens a session that exists.
    ///
    /// # Errors
    /// When there is no such session, the folder cannot be used, or the settings are invalid.
    async fn open(&self, id: &str, request: OpenRequest, editor: Editor) -> Result<Box<dyn HostedSession>, AcpError>;

    /// Lists the sessions with a conversation, those changed last first: of a folder, or all of them. `cursor` is that of the last
    /// page.
    ///
    /// # Errors
    /// When the sessions cannot be read, or the cursor is not one of this host.
    async fn list(&self, folder: Option<&Path>, cursor: Option<&str>) -> Result<SessionPage, AcpError>;

    /// Deletes a session. It is not an error if there is no such session.
    ///
    /// # Errors
    /// When the sessions cannot be written, or another program is using the session.
    async fn delete(&self, id: &str) -> Result<(), AcpError>;

    /// Checks that a model can be asked, after the user was to set a key.
    ///
    /// # Errors
    /// What is missing, and how the user sets it.
    async fn check_sign_in(&self) -> Result<(), AcpError>;
}

/// A session of the host that is open in an editor.
#[async_trait]
pub trait HostedSession: Send + Sync {
    /// Returns the session.
    fn session(&self) -> &AgentSession;

    /// Returns the folder in which it works, without links.
    fn folder(&self) -> &Path;

    /// Returns the permission modes.
    fn modes(&self) -> Choices;

    /// Changes the permission mode. It applies to the next call, also of a turn that runs.
    ///
    /// # Errors
    /// When there is no such mode, or it cannot be entered.
    fn set_mode(&self, id: &str) -> Result<(), AcpError>;

    /// Returns the models that can answer, if they are known.
    fn models(&self) -> Choices;

    /// Changes the model. It applies to the next turn.
    ///
    /// # Errors
    /// When there is no such model.
    fn set_model(&self, id: &str) -> Result<(), AcpError>;

    /// Returns the context window of the model, in tokens, if it is known.
    fn window(&self) -> Option<u64> {
        self.session().bundle().provider().info().capabilities.context_window
    }

    /// Returns the commands that begin with a `/`.
    fn commands(&self) -> Vec<CommandInfo> {
        Vec::new()
    }

    /// Carries out a command. Returns `None` if there is no such command: the prompt is a message then.
    ///
    /// # Errors
    /// When the command fails.
    async fn command(&self, name: &str, argument: &str) -> Result<Option<CommandResult>, AcpError> {
        let _ = (name, argument);
        Ok(None)
    }

    /// Describes a call.
    fn describe(&self, tool: &str, arguments: &Value) -> CallView {
        let known = self.session().bundle().tools().get(tool);
        CallView::new(tool, known.as_ref(), arguments, self.folder())
    }

    /// Describes a call of a suspended turn about which the user is asked, with the change that it would make now. `call_id` is the
    /// id of the call that runs if the answer is yes: a host that can binds it to the file that is shown.
    fn preview(&self, call_id: &str, tool: &str, arguments: &Value) -> CallView {
        let _ = call_id;
        self.describe(tool, arguments)
    }

    /// Returns the change of a file that a call has made. It is asked once for each call that has succeeded.
    fn change_made(&self, call_id: &str) -> Option<FileChange> {
        let _ = call_id;
        None
    }

    /// Returns the answers to open questions that were given elsewhere.
    ///
    /// # Errors
    /// When they cannot be read.
    async fn answers(&self) -> Result<Vec<(QuestionId, Answer)>, AcpError> {
        Ok(Vec::new())
    }

    /// Explains why a turn failed, with what the user can do.
    fn explain(&self, error: AgentError) -> AcpError {
        error.into()
    }

    /// Returns what the user should know about the session, one sentence for each.
    fn notices(&self) -> Vec<String> {
        Vec::new()
    }

    /// Ends what belongs to the session, such as MCP servers. No turn runs any more.
    async fn close(&self) {}

    /// Like [`close`](Self::close), for a session that is opened again at once: it must still exist then.
    async fn release(&self) {
        self.close().await;
    }
}

/// The program, as editors show it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Program {
    /// The name for programs, such as `agcore`.
    pub name: String,
    /// The name for people.
    pub title: String,
    /// The version.
    pub version: String,
    /// How the user gives the program a key. Keys never pass through the protocol.
    pub sign_in: String,
}

impl Program {
    /// Describes a program.
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        let name = name.into();
        Self {
            title: name.clone(),
            name,
            version: version.into(),
            sign_in: String::new(),
        }
    }

    /// Sets how the user gives the program a key.
    #[must_use]
    pub fn with_sign_in(mut self, text: impl Into<String>) -> Self {
        self.sign_in = text.into();
        self
    }
}

/// The wishes of an editor for a session that is created or opened.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct OpenRequest {
    /// The folder in which the session is to work: an absolute path, which may not exist.
    pub folder: PathBuf,
    /// MCP servers that the editor wants to add. A host must not start them on the word of the editor alone.
    pub mcp_servers: Vec<McpServer>,
}

/// A part of the list of sessions.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct SessionPage {
    /// The sessions.
    pub sessions: Vec<ListedSession>,
    /// Where the next page begins; `None` on the last one.
    pub next: Option<String>,
}

impl SessionPage {
    /// Creates a page.
    pub fn new(sessions: Vec<ListedSession>, next: Option<String>) -> Self {
        Self { sessions, next }
    }
}

/// A session in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ListedSession {
    /// The id.
    pub id: String,
    /// The folder in which it was started.
    pub folder: PathBuf,
    /// The title.
    pub title: Option<String>,
    /// When it was changed last, in RFC 3339.
    pub updated_at: String,
}

impl ListedSession {
    /// Creates an entry of a list.
    pub fn new(id: impl Into<String>, folder: impl Into<PathBuf>, updated_at: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            folder: folder.into(),
            title: None,
            updated_at: updated_at.into(),
        }
    }

    /// Sets the title.
    #[must_use]
    pub fn with_title(mut self, title: Option<String>) -> Self {
        self.title = title;
        self
    }
}

/// A choice between several values, one of them the current one.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Choices {
    /// The id of the current value.
    pub current: String,
    /// All values, the current one included.
    pub all: Vec<Choice>,
}

impl Choices {
    /// Creates a choice.
    pub fn new(current: impl Into<String>, all: Vec<Choice>) -> Self {
        Self {
            current: current.into(),
            all,
        }
    }
}

/// A value of a choice.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Choice {
    /// The id.
    pub id: String,
    /// The name for people.
    pub name: String,
    /// The meaning.
    pub description: Option<String>,
}

impl Choice {
    /// Creates a value.
    pub fn new(id: impl Into<String>, name: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            name: name.into(),
            description: None,
        }
    }

    /// Sets the meaning.
    #[must_use]
    pub fn with_description(mut self, text: impl Into<String>) -> Self {
        self.description = Some(text.into());
        self
    }
}

/// A command that begins with a `/`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct CommandInfo {
    /// The name, without the `/`.
    pub name: String,
    /// Its effect.
    pub description: String,
    /// The kind of text that may follow the name.
    pub hint: Option<String>,
}

impl CommandInfo {
    /// Describes a command without an argument.
    pub fn new(name: impl Into<String>, description: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            description: description.into(),
            hint: None,
        }
    }

    /// Sets what follows the name.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

/// The result of a command.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum CommandResult {
    /// A text for the user, without a turn.
    Text(String),
    /// A message that begins a turn.
    Message(Content),
}
