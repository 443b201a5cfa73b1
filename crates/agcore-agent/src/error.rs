//! [`AgentError`]: why a turn or a session failed.

mod convert;
mod held;

use std::{error::Error, fmt, time::Duration};

use agcore_chat::{ChatResponse, Question, text::error_chain};
use agcore_cycle::CycleError;
use agcore_llm::LlmError;
use agcore_memory::MemoryError;
use agcore_session::SessionError;
use agcore_tools::ToolError;

use crate::plan::PlanError;

/// The reason a turn failed, or a session could not be created. A session stays usable after an error.
///
/// ```
/// use agcore_agent::{AgentBuilder, AgentErrorKind};
///
/// let error = AgentBuilder::new().build().unwrap_err();
/// assert_eq!(error.kind(), AgentErrorKind::InvalidConfig);
/// assert_eq!(
///     error.to_string(),
///     "the agent cannot be built: `provider` is missing; call `with_provider`, for example with `agcore::model`"
/// );
/// ```
pub struct AgentError(Box<Inner>);

struct Inner {
    kind: AgentErrorKind,
    message: String,
    source: Option<Source>,
}

enum Source {
    Cycle(CycleError),
    Tool(ToolError),
    Session(SessionError),
    Memory(MemoryError),
    Plan(PlanError),
    Other(Box<dyn Error + Send + Sync>),
}

/// The kind of an [`AgentError`].
///
/// ```
/// use agcore_agent::{AgentBuilder, AgentErrorKind};
///
/// let error = AgentBuilder::new().build().unwrap_err();
/// assert_eq!(error.kind(), AgentErrorKind::InvalidConfig);
/// assert!(error.to_string().contains("with_provider"), "{error}");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum AgentErrorKind {
    /// A call of the model failed. [`AgentError::llm_error`] returns the reason.
    Model,
    /// The caller cancelled the turn.
    Cancelled,
    /// A hook blocked the turn or a request.
    HookBlocked,
    /// A tool failed in a way that ends the turn, or the tools could not be set up.
    ToolFailure,
    /// A limit or a budget was reached.
    LimitReached,
    /// A store failed: a full disk, an error of the database. What to do is in its message.
    Storage,
    /// The store cannot be reached, or is locked, at the moment. Wait, then [resume](crate::AgentSession::resume) the turn; a
    /// server can do that by itself.
    Unavailable,
    /// The session was continued by another copy of it, in this process or in another one. This copy is out of date:
    /// [open](crate::StoredSessions::open) the session again. Repeating the call does not help.
    Conflict,
    /// The input does not fit the state of the session: messages that cannot be sent, an answer to an unknown question, no
    /// turn to resume.
    InvalidInput,
    /// No answer of a typed turn fits its type, after all repairs.
    InvalidOutput,
    /// Another turn is running, and the [`BusyPolicy`](crate::BusyPolicy) is to refuse; or one waits for answers, and the
    /// [`OpenQuestionPolicy`](crate::OpenQuestionPolicy) is to refuse.
    Busy,
    /// Another handle or another process drives the stored session; [`AgentError::holder`] returns the holder. Nothing was changed.
    Held,
    /// The builder lacks a part, a part is invalid, or an agent names a tool that is not registered.
    InvalidConfig,
    /// A saved session cannot be restored: its data are damaged, or were written by a newer version. Trying again does not help;
    /// restore a backup, or use the newer version.
    InvalidState,
    /// The store has no session with this id.
    NotFound,
    /// A plan cannot be used.
    InvalidPlan,
}

impl AgentError {
    fn new(kind: AgentErrorKind, message: impl Into<String>) -> Self {
        Self(Box::new(Inner {
            kind,
            message: message.into(),
            source: None,
        }))
    }

    fn with_source(mut self, source: Source) -> Self {
        self.0.source = Some(source);
        self
    }

    pub(crate) fn cancelled() -> Self {
        CycleError::cancelled().into()
    }

    pub(crate) fn limit(message: impl Into<String>) -> Self {
        Self::new(AgentErrorKind::LimitReached, message)
    }

    pub(crate) fn busy() -> Self {
        Self::new(
            AgentErrorKind::Busy,
            "the session is busy with another turn; wait for it, cancel it, or choose another BusyPolicy",
        )
    }

    pub(crate) fn asking(first: &Question, count: usize) -> Self {
        let about = if first.tool.is_empty() {
            String::new()
        } else {
            format!(" about the tool `{}`", first.tool)
        };
        let which = match count {
            1 => format!("a question{about}"),
            _ => format!("{count} questions, the first one{about}"),
        };
        Self::new(
            AgentErrorKind::Busy,
            format!(
                "the session waits for the answer to {which}; answer with `resume`, withdraw with `abandon_turn`, or choose \
                 another OpenQuestionPolicy"
            ),
        )
    }

    pub(crate) fn config(field: &str, problem: &str) -> Self {
        Self::new(
            AgentErrorKind::InvalidConfig,
            format!("the agent cannot be built: `{field}` {problem}"),
        )
    }

    pub(crate) fn invalid_tool(error: ToolError) -> Self {
        Self::new(
            AgentErrorKind::InvalidConfig,
            format!("the agent cannot be built: {error}"),
        )
        .with_source(Source::Tool(error))
    }

    pub(crate) fn invalid_agent(problem: String) -> Self {
        Self::new(AgentErrorKind::InvalidConfig, problem)
    }

    pub(crate) fn state(problem: impl fmt::Display) -> Self {
        Self::new(
            AgentErrorKind::InvalidState,
            format!("the saved session cannot be restored: {problem}"),
        )
    }

    pub(crate) fn no_store() -> Self {
        Self::new(
            AgentErrorKind::InvalidConfig,
            "the agent has no store of sessions; call `with_session_store` when it is built",
        )
    }

    pub(crate) fn not_stored() -> Self {
        Self::new(
            AgentErrorKind::InvalidConfig,
            "the session is not stored; create it with `StoredSessions`",
        )
    }

    pub(crate) fn no_task() -> Self {
        Self::new(
            AgentErrorKind::NotFound,
            "the session has no task; continue it with a turn, or begin a task in a new session",
        )
    }

    pub(crate) fn no_contexts(session: &str) -> Self {
        Self::new(
            AgentErrorKind::NotFound,
            format!("the session `{session}` has no contexts; open it with `StoredSessions::open`"),
        )
    }

    pub(crate) fn invalid_skills(message: String) -> Self {
        Self::new(AgentErrorKind::InvalidConfig, message)
    }

    pub(crate) fn invalid_agent_file(problem: impl fmt::Display) -> Self {
        Self::new(
            AgentErrorKind::InvalidConfig,
            format!("the agent cannot be used: {problem}"),
        )
    }

    pub(crate) fn no_session_memory() -> Self {
        Self::new(
            AgentErrorKind::InvalidConfig,
            "the agent has no store for the memory of its sessions; call `with_session_memory` when it is built",
        )
    }

    pub(crate) fn not_found(session: &str) -> Self {
        Self::new(
            AgentErrorKind::NotFound,
            format!("the store has no session `{session}`; list the sessions to see their ids"),
        )
    }

    pub(crate) fn input(problem: impl Into<String>) -> Self {
        Self::new(AgentErrorKind::InvalidInput, problem)
    }

    pub(crate) fn state_from(error: impl Error + Send + Sync + 'static) -> Self {
        Self::state(&error).with_source(Source::Other(Box::new(error)))
    }

    /// Returns the kind of this error.
    pub fn kind(&self) -> AgentErrorKind {
        self.0.kind
    }

    /// Returns what happened, in one sentence.
    pub fn message(&self) -> &str {
        match &self.0.source {
            Some(Source::Cycle(error)) => error.message(),
            _ => &self.0.message,
        }
    }

    /// Returns the error of the agent loop, if a turn failed there.
    pub fn cycle_error(&self) -> Option<&CycleError> {
        match &self.0.source {
            Some(Source::Cycle(error)) => Some(error),
            _ => None,
        }
    }

    /// Returns the provider's error, if a call of the model failed or was cancelled.
    pub fn llm_error(&self) -> Option<&LlmError> {
        self.cycle_error().and_then(CycleError::llm_error)
    }

    /// Returns the error of a tool, if the tools could not be set up.
    pub fn tool_error(&self) -> Option<&ToolError> {
        match &self.0.source {
            Some(Source::Tool(error)) => Some(error),
            _ => None,
        }
    }

    /// Returns the part of the reply that had arrived before the failure.
    pub fn partial(&self) -> Option<&ChatResponse> {
        self.cycle_error().and_then(CycleError::partial)
    }

    /// Returns whether the same call may succeed later.
    pub fn is_retryable(&self) -> bool {
        match (self.0.kind, &self.0.source) {
            (AgentErrorKind::Busy | AgentErrorKind::Unavailable, _) => true,
            (AgentErrorKind::Conflict, _) => false,
            (_, Some(Source::Cycle(error))) => error.is_retryable(),
            (_, Some(Source::Tool(error))) => error.fault().retryable,
            (_, Some(Source::Session(error))) => error.is_recoverable(),
            (_, Some(Source::Memory(error))) => error.is_recoverable(),
            _ => false,
        }
    }

    /// Returns how long to wait before another try, if the server said so.
    pub fn retry_after(&self) -> Option<Duration> {
        self.cycle_error().and_then(CycleError::retry_after)
    }

    /// Returns whether the caller cancelled the turn.
    pub fn is_cancelled(&self) -> bool {
        self.0.kind == AgentErrorKind::Cancelled
    }

    /// Returns this error followed by its sources.
    pub fn chain(&self) -> String {
        error_chain(self)
    }
}

/// Prints this layer only; [`chain`](AgentError::chain) adds the sources. An error of the loop prints as it does alone.
impl fmt::Display for AgentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0.source {
            Some(Source::Cycle(error)) => error.fmt(f),
            _ => f.write_str(&self.0.message),
        }
    }
}

/// Prints the sentence and its causes, as [`chain`](AgentError::chain) does, so that `fn main() -> Result<(), AgentError>`
/// ends with a readable message. The alternate form (`{:#?}`) prints the fields.
impl fmt::Debug for AgentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !f.alternate() {
            return f.write_str(&self.chain());
        }
        let mut debug = f.debug_struct("AgentError");
        debug.field("kind", &self.0.kind);
        match &self.0.source {
            Some(Source::Cycle(error)) => debug.field("cycle_error", error),
            Some(Source::Tool(error)) => debug.field("message", &self.0.message).field("tool_error", error),
            Some(Source::Session(error)) => debug.field("message", &self.0.message).field("session_error", error),
            Some(Source::Memory(error)) => debug.field("message", &self.0.message).field("memory_error", error),
            Some(Source::Plan(error)) => debug.field("message", &self.0.message).field("plan_error", error),
            Some(Source::Other(error)) => debug.field("message", &self.0.message).field("source", error),
            None => debug.field("message", &self.0.message),
        };
        debug.finish()
    }
}

impl Error for AgentError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self.0.source.as_ref()? {
            // The message of these errors is the one of this layer.
            Source::Cycle(error) => error.source(),
            Source::Tool(error) => error.source(),
            Source::Session(error) => error.source(),
            Source::Memory(error) => error.source(),
            Source::Plan(error) => error.source(),
            Source::Other(error) => error.source(),
        }
    }
}
