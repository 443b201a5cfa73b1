//! [`Failure`]: what a person is told when a command fails, and the exit code.

use std::{fmt, process::ExitCode};

use agcore::{AgentError, LlmError, llm::LlmErrorKind};

/// A command failed.
#[derive(Debug)]
pub(crate) struct Failure {
    kind: FailureKind,
    message: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FailureKind {
    /// The task, the model or a tool failed.
    Turn,
    /// Wrong arguments or settings.
    Settings,
    /// No key, a wrong one, or one that may not do this.
    Key,
    /// The server cannot be reached, or did not answer in time.
    Unreachable,
    /// Cancelled.
    Cancelled,
}

impl Failure {
    /// The task failed.
    pub(crate) fn turn(message: impl Into<String>) -> Self {
        Self { kind: FailureKind::Turn, message: message.into() }
    }

    /// Wrong arguments or settings.
    pub(crate) fn settings(message: impl Into<String>) -> Self {
        Self { kind: FailureKind::Settings, message: message.into() }
    }

    /// Whether it was cancelled by Ctrl-C.
    pub(crate) fn is_cancelled(&self) -> bool {
        self.kind == FailureKind::Cancelled
    }

    /// Tells the person, and gives the exit code.
    #[expect(clippy::print_stderr, reason = "this is where a failed command tells why")]
    pub(crate) fn report(&self) -> ExitCode {
        eprintln!("error: {self}");
        ExitCode::from(match self.kind {
            FailureKind::Turn => 1,
            FailureKind::Settings => 2,
            FailureKind::Key => 3,
            FailureKind::Unreachable => 4,
            FailureKind::Cancelled => 130,
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
            LlmErrorKind::Cancelled => FailureKind::Cancelled,
            _ => FailureKind::Turn,
        };
        let mut message = error.chain();
        if let Some(advice) = advice(error.kind()) {
            message = format!("{message}\n{advice}");
        }
        Self { kind, message }
    }
}

impl From<AgentError> for Failure {
    fn from(error: AgentError) -> Self {
        match error {
            AgentError::Llm(error) => error.into(),
            AgentError::Config { .. } => Self::settings(error.to_string()),
            other => Self::turn(other.to_string()),
        }
    }
}

/// The next step, where the command line knows more than the error.
fn advice(kind: &LlmErrorKind) -> Option<&'static str> {
    Some(match kind {
        LlmErrorKind::Authentication => {
            "Set OPENAI_API_KEY (or AGCORE_API_KEY for another vendor) in the environment or in .env."
        }
        LlmErrorKind::NotFound => "Check the model's name (--model) and the base URL (--base-url).",
        LlmErrorKind::Connect => "Check the base URL (--base-url) and that the server is running.",
        LlmErrorKind::Malformed => {
            "The URL answers, but not as a model server; --base-url must be what stands before /chat/completions."
        }
        LlmErrorKind::QuotaExhausted => "The account has no money or allowance left; waiting does not help soon.",
        LlmErrorKind::ContextLength { .. } => "The conversation is too long for the model; begin a new one with /clear.",
        _ => return None,
    })
}
