//! [`Failure`]: what a person is told when a command fails, and the exit code.

use std::{
    fmt,
    io::{self, Write},
    process::ExitCode,
};

use agcore::{
    AgentError, LlmError,
    llm::{LlmErrorKind, ProviderType},
};

use crate::vendor::{endpoint, key_variable};

/// A command failed.
#[derive(Debug)]
pub(crate) struct Failure {
    kind: FailureKind,
    message: String,
}

/// What failed; each has its exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FailureKind {
    /// The task, the model or a tool failed.
    Task,
    /// Wrong arguments, input or settings.
    Usage,
    /// No key, a wrong one, or one that may not do this.
    Key,
    /// The server cannot be reached, or did not answer in time.
    Unreachable,
    /// Ended by Ctrl-C.
    Cancelled,
    /// Whoever read the output has gone.
    OutputClosed,
}

impl Failure {
    /// Something failed.
    pub(crate) fn new(kind: FailureKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
        }
    }

    /// What failed.
    pub(crate) fn kind(&self) -> FailureKind {
        self.kind
    }

    /// The task failed.
    pub(crate) fn task(message: impl Into<String>) -> Self {
        Self::new(FailureKind::Task, message)
    }

    /// Wrong arguments, input or settings.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::new(FailureKind::Usage, message)
    }

    /// Ended by Ctrl-C.
    pub(crate) fn cancelled() -> Self {
        Self::new(FailureKind::Cancelled, "cancelled")
    }

    /// The output cannot be written. That its reader has gone, as `head` does, is no fault that has to be told.
    pub(crate) fn output(error: &io::Error) -> Self {
        let kind = match error.kind() {
            io::ErrorKind::BrokenPipe => FailureKind::OutputClosed,
            _ => FailureKind::Task,
        };
        Self {
            kind,
            message: format!("the output cannot be written: {error}"),
        }
    }

    /// A provider that cannot be set up: what is wrong stands in the settings.
    pub(crate) fn setup(error: LlmError) -> Self {
        let is_wrong = *error.kind() == LlmErrorKind::InvalidRequest;
        let failure = Self::from(error);
        if is_wrong {
            Self {
                kind: FailureKind::Usage,
                ..failure
            }
        } else {
            failure
        }
    }

    /// Whether it was ended by Ctrl-C.
    pub(crate) fn is_cancelled(&self) -> bool {
        self.kind == FailureKind::Cancelled
    }

    /// Whether the output is of no use any more.
    pub(crate) fn is_output_closed(&self) -> bool {
        self.kind == FailureKind::OutputClosed
    }

    /// Tells the person, and gives the exit code.
    pub(crate) fn report(&self) -> ExitCode {
        if !self.is_output_closed() {
            // Where not even this can be written, the exit code has to do.
            let _ = writeln!(io::stderr(), "error: {self}");
        }
        ExitCode::from(match self.kind {
            FailureKind::Task => 1,
            FailureKind::Usage => 2,
            FailureKind::Key => 3,
            FailureKind::Unreachable => 4,
            FailureKind::Cancelled => 130,
            FailureKind::OutputClosed => 141,
        })
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl From<LlmError> for Failure {
    fn from(error: LlmError) -> Self {
        let kind = match error.kind() {
            LlmErrorKind::Authentication | LlmErrorKind::Permission => FailureKind::Key,
            LlmErrorKind::Connect | LlmErrorKind::Timeout(_) => FailureKind::Unreachable,
            LlmErrorKind::Cancelled => return Self::cancelled(),
            _ => FailureKind::Task,
        };
        let mut message = error.chain();
        if let Some(advice) = advice(&error) {
            message = format!("{message}\n{advice}");
        }
        Self { kind, message }
    }
}

impl From<AgentError> for Failure {
    fn from(error: AgentError) -> Self {
        match error {
            AgentError::Llm(error) => error.into(),
            AgentError::Config { .. } => Self::usage(error.to_string()),
            other => Self::task(other.to_string()),
        }
    }
}

/// The next step, where the command line knows more than the error.
fn advice(error: &LlmError) -> Option<String> {
    let advice = match error.kind() {
        LlmErrorKind::Authentication => return Some(key_advice(error)),
        LlmErrorKind::NotFound => "Check the model's name (--model) and the base URL (--base-url).",
        LlmErrorKind::Connect => "Check the base URL (--base-url) and that the server is running.",
        // A stream that breaks later comes from a model server, after all.
        LlmErrorKind::Malformed if error.partial().is_none() => {
            let endpoint = provider(error).map_or("/chat/completions", |provider| endpoint(&provider));
            return Some(format!(
                "Check the base URL (--base-url): it is what stands before {endpoint}."
            ));
        }
        LlmErrorKind::QuotaExhausted => "The account has no money or allowance left; waiting does not help soon.",
        LlmErrorKind::ContextLength { .. } => {
            "The conversation is too long for the model; shorten it, or forget it with /clear."
        }
        _ => return None,
    };
    Some(advice.to_owned())
}

/// Whose error it is.
fn provider(error: &LlmError) -> Option<ProviderType> {
    error.provider()?.parse().ok()
}

fn key_advice(error: &LlmError) -> String {
    let own = provider(error).map(|provider| key_variable(&provider));
    let names = own.map_or_else(|| "AGCORE_API_KEY".to_owned(), |own| format!("{own} or AGCORE_API_KEY"));
    match error.status() {
        Some(_) => format!("The server refuses the key, or got none: check {names} in the environment or in .env."),
        None => format!("Set {names} in the environment or in .env."),
    }
}
