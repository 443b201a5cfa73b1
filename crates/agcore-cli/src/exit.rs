//! [`Failure`]: why a command failed, as a message and an exit code.

mod advice;
mod convert;
mod setup;

use std::{fmt, io};

use agcore::{
    AgentError, LlmError,
    agent::AgentErrorKind,
    chat::FaultKind,
    llm::{LlmErrorKind, TimeoutStage},
};

use self::advice::{CHECK_BASE_URL, INVALID_BASE_URL, MISSING_KEY, advice, is_from_proxy, is_missing_key, is_web_page};

pub(crate) use self::setup::setup_failure;
pub(crate) use agcore_args::{FailureKind, missing};

/// The reason a command failed.
#[derive(Debug)]
pub(crate) struct Failure {
    kind: FailureKind,
    /// The kind of fault, if a model or an agent failed.
    fault: Option<FaultKind>,
    message: String,
    /// Suggestions for what to do next, one on each line.
    advice: Option<String>,
    /// Whether the server knows no such path or model.
    is_not_found: bool,
    /// The time limit that was exceeded, if one of the program's was.
    timeout: Option<TimeoutStage>,
    /// Why the session cannot be used, if it was used elsewhere.
    elsewhere: Option<Elsewhere>,
}

/// The state of a session that another program uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Elsewhere {
    /// Another program is using it.
    InUse,
    /// It was continued, so that the copy here is out of date.
    Continued,
}

impl Failure {
    /// Returns the failure of a command, or of an option, that is not in this build.
    #[cfg_attr(feature = "full", allow(dead_code, reason = "the whole program misses nothing"))]
    pub(crate) fn missing(part: missing::Part, used: &str) -> Self {
        Self::usage(part.sentence(used))
    }

    /// Creates a failure.
    pub(crate) fn new(kind: FailureKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            fault: None,
            message: message.into(),
            advice: None,
            is_not_found: false,
            timeout: None,
            elsewhere: None,
        }
    }

    /// Returns the category of the failure.
    pub(crate) fn kind(&self) -> FailureKind {
        self.kind
    }

    /// Creates a failure of the task, the model or a tool.
    pub(crate) fn task(message: impl Into<String>) -> Self {
        Self::new(FailureKind::Task, message)
    }

    /// Creates a failure for invalid arguments, input or settings.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::new(FailureKind::Usage, message)
    }

    /// Creates a failure for an interruption with Ctrl-C.
    pub(crate) fn cancelled() -> Self {
        Self::new(FailureKind::Cancelled, "cancelled")
    }

    /// Creates a failure for a termination with SIGTERM.
    pub(crate) fn terminated() -> Self {
        Self::new(FailureKind::Terminated, "terminated")
    }

    /// Creates a failure for a panic, whose message is already on standard error.
    pub(crate) fn panicked() -> Self {
        Self::new(
            FailureKind::Panic,
            "the program failed because of a bug; please report it",
        )
    }

    /// Creates a failure for an error while writing output. A reader that has gone away, as `head` does, is not
    /// reported.
    pub(crate) fn output(error: &io::Error) -> Self {
        let kind = match error.kind() {
            io::ErrorKind::BrokenPipe => FailureKind::OutputClosed,
            _ => FailureKind::Task,
        };
        Self::new(kind, format!("cannot write the output: {error}"))
    }

    /// Creates a failure for a provider that cannot be built. An invalid request here means invalid settings.
    pub(crate) fn setup(error: LlmError) -> Self {
        let is_invalid = error.kind() == LlmErrorKind::InvalidRequest;
        let failure = Self::from(error);
        if is_invalid {
            Self {
                kind: FailureKind::Usage,
                ..failure
            }
        } else {
            failure
        }
    }

    /// Creates a failure for a server without a list of models.
    pub(crate) fn no_list() -> Self {
        Self {
            is_not_found: true,
            ..Self::task("the server does not list its models")
        }
    }

    /// Suggests another base URL, in case the server knows no such path.
    pub(crate) fn or_base_url(mut self, url: Option<&str>) -> Self {
        if let Some(url) = url.filter(|_| self.is_not_found) {
            self.advice = Some(format!(
                "Try --base-url {url}, or check the model name (--model, or /model in a chat)."
            ));
        }
        self
    }

    /// Replaces the advice for a time limit that was exceeded, for callers that know where it is set.
    pub(crate) fn or_limit(mut self, advice: impl FnOnce(TimeoutStage) -> String) -> Self {
        if let Some(stage) = self.timeout {
            self.advice = Some(advice(stage));
        }
        self
    }

    /// Returns whether another program is using the session.
    pub(crate) fn is_held(&self) -> bool {
        self.elsewhere == Some(Elsewhere::InUse)
    }

    /// Returns whether the session was continued elsewhere, so that the copy here is out of date.
    pub(crate) fn is_out_of_date(&self) -> bool {
        self.elsewhere == Some(Elsewhere::Continued)
    }

    /// Returns whether the command was interrupted with Ctrl-C.
    pub(crate) fn is_cancelled(&self) -> bool {
        self.kind == FailureKind::Cancelled
    }

    /// Returns whether the output has no reader any more.
    pub(crate) fn is_output_closed(&self) -> bool {
        self.kind == FailureKind::OutputClosed
    }

    /// Returns the kind of error in machine-readable output.
    pub(crate) fn error_kind(&self) -> &'static str {
        self.fault.map_or_else(|| self.kind.name(), FaultKind::as_str)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        match &self.advice {
            Some(advice) => write!(f, "\n{advice}"),
            None => Ok(()),
        }
    }
}

impl From<LlmError> for Failure {
    fn from(error: LlmError) -> Self {
        Self::from(&error)
    }
}

impl From<&LlmError> for Failure {
    fn from(error: &LlmError) -> Self {
        let kind = match error.kind() {
            _ if is_from_proxy(error) => FailureKind::Unreachable,
            // A call of a tool was denied; no server is involved.
            LlmErrorKind::Permission if error.provider().is_none() => FailureKind::Task,
            LlmErrorKind::Authentication | LlmErrorKind::Permission => FailureKind::Key,
            // The server was reached, and its answer broke off.
            LlmErrorKind::Connect if error.partial().is_some() => FailureKind::Task,
            LlmErrorKind::Connect | LlmErrorKind::Timeout(_) => FailureKind::Unreachable,
            LlmErrorKind::ContentFilter => FailureKind::Incomplete,
            LlmErrorKind::Cancelled => return Self::cancelled(),
            _ => FailureKind::Task,
        };
        let message = match (is_missing_key(error), error.provider(), error.kind()) {
            // The advice names the variables; the library's message names a setting of its own.
            (true, Some(provider), _) => format!("{provider}: {MISSING_KEY}"),
            // These messages contain the reason.
            (_, _, LlmErrorKind::Connect | LlmErrorKind::Timeout(_)) => error.to_string(),
            (_, _, LlmErrorKind::InvalidRequest) if error.message().starts_with(INVALID_BASE_URL) => error.to_string(),
            _ if is_web_page(error) => error.chain().replacen(CHECK_BASE_URL, "", 1),
            _ => error.chain(),
        };
        Self {
            fault: Some(error.kind().fault_kind()),
            advice: advice(error),
            is_not_found: error.kind() == LlmErrorKind::NotFound && matches!(error.status(), Some(404 | 405)),
            timeout: match error.kind() {
                LlmErrorKind::Timeout(stage) => Some(stage).filter(|_| error.status().is_none()),
                _ => None,
            },
            ..Self::new(kind, message)
        }
    }
}

impl From<AgentError> for Failure {
    fn from(error: AgentError) -> Self {
        let kind = match (error.llm_error(), error.kind()) {
            (Some(error), _) => return error.into(),
            (None, AgentErrorKind::Cancelled) => return Self::cancelled(),
            (None, AgentErrorKind::InvalidConfig) => FailureKind::Usage,
            (None, AgentErrorKind::LimitReached) => FailureKind::Limit,
            (None, _) => FailureKind::Task,
        };
        let elsewhere = match error.kind() {
            AgentErrorKind::Held => Some(Elsewhere::InUse),
            _ if error.chain().contains("continued elsewhere") => Some(Elsewhere::Continued),
            _ => None,
        };
        let advice = elsewhere.filter(|elsewhere| *elsewhere == Elsewhere::InUse);
        Self {
            fault: Some(error.fault().kind),
            advice: advice.map(|_| "To continue in a copy of the session, add --fork.".to_owned()),
            elsewhere,
            ..Self::new(kind, error.chain())
        }
    }
}
