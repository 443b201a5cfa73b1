//! [`Failure`]: why a command failed, as a message and an exit code.

use std::{
    error::Error,
    fmt,
    io::{self, Write},
    process::ExitCode,
};

use agcore::{
    AgentError, LlmError,
    agent::AgentErrorKind,
    chat::text::nearest,
    llm::{LlmErrorKind, ProviderType, transport::http::ProxyError},
};

use crate::vendor::key_variable;

/// The reason a command failed.
#[derive(Debug)]
pub(crate) struct Failure {
    kind: FailureKind,
    message: String,
    /// Suggestions for what to do next, one on each line.
    advice: Option<String>,
    /// Whether the server knows no such path or model.
    is_not_found: bool,
}

/// The category of a failure, which determines the exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FailureKind {
    /// The task, the model or a tool failed.
    Task,
    /// Invalid arguments, input or settings.
    Usage,
    /// The API key is missing, was rejected, or lacks a permission.
    Key,
    /// The server could not be reached, or did not answer in time.
    Unreachable,
    /// A tool call was denied because no one could be asked.
    Denied,
    /// Interrupted with Ctrl-C.
    Cancelled,
    /// The reader of the output has gone away.
    OutputClosed,
}

impl Failure {
    /// Creates a failure.
    pub(crate) fn new(kind: FailureKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            advice: None,
            is_not_found: false,
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
        let is_invalid = *error.kind() == LlmErrorKind::InvalidRequest;
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
            self.advice = Some(format!("Try --base-url {url}, or check the model name (--model)."));
        }
        self
    }

    /// Returns whether the command was interrupted with Ctrl-C.
    pub(crate) fn is_cancelled(&self) -> bool {
        self.kind == FailureKind::Cancelled
    }

    /// Returns whether the output has no reader any more.
    pub(crate) fn is_output_closed(&self) -> bool {
        self.kind == FailureKind::OutputClosed
    }

    /// Prints the message to standard error and returns the exit code.
    pub(crate) fn report(&self) -> ExitCode {
        if !self.is_output_closed() {
            // If standard error cannot be written either, the exit code must suffice.
            let _ = writeln!(io::stderr(), "error: {self}");
        }
        ExitCode::from(match self.kind {
            FailureKind::Task => 1,
            FailureKind::Usage => 2,
            FailureKind::Key => 3,
            FailureKind::Unreachable => 4,
            FailureKind::Denied => 6,
            FailureKind::Cancelled => 130,
            FailureKind::OutputClosed => 141,
        })
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
            LlmErrorKind::Connect | LlmErrorKind::Timeout(_) => FailureKind::Unreachable,
            LlmErrorKind::Cancelled => return Self::cancelled(),
            _ => FailureKind::Task,
        };
        let message = match error.kind() {
            // These messages contain the reason.
            LlmErrorKind::Connect | LlmErrorKind::Timeout(_) => error.to_string(),
            _ => error.chain(),
        };
        Self {
            advice: advice(error),
            is_not_found: *error.kind() == LlmErrorKind::NotFound && error.status() == Some(404),
            ..Self::new(kind, message)
        }
    }
}

impl From<AgentError> for Failure {
    fn from(error: AgentError) -> Self {
        match (error.llm_error(), error.kind()) {
            (Some(error), _) => error.into(),
            (None, AgentErrorKind::InvalidConfig) => Self::usage(error.to_string()),
            (None, _) => Self::task(error.chain()),
        }
    }
}

/// Suggests a next step in terms of the program's own options, which the error does not know.
fn advice(error: &LlmError) -> Option<String> {
    let advice = match error.kind() {
        _ if is_from_proxy(error) => {
            "Check the proxy (--proxy or the variable that sets it), or connect without one (--proxy off)."
        }
        LlmErrorKind::Authentication => return Some(key_advice(error)),
        // The message names the new address.
        LlmErrorKind::NotFound if error.status().is_some_and(|status| status < 400) => return None,
        LlmErrorKind::NotFound => {
            "Check the model name (--model; `agcore models` lists the available ones) and the base URL (--base-url), \
             which usually ends in /v1."
        }
        // The message contains the remedy.
        LlmErrorKind::Connect if !error.is_retryable() => return None,
        LlmErrorKind::Connect if is_ollama(error) => {
            "Start Ollama with `ollama serve`, or check the base URL (--base-url)."
        }
        LlmErrorKind::Connect => "Check the base URL (--base-url) and that the server is running.",
        // If part of the reply was read, the server does speak the API.
        LlmErrorKind::Malformed if error.partial().is_none() => {
            let endpoint = provider(error).map_or("/chat/completions", |provider| provider.endpoint());
            return Some(format!(
                "Check the base URL (--base-url): {endpoint} is appended to it."
            ));
        }
        LlmErrorKind::QuotaExhausted => "The account has run out of credit or quota; retrying will not help.",
        LlmErrorKind::ContextLength { .. } => {
            "The conversation is too long for the model: shorten the message or, in a chat, use /compact or /clear."
        }
        _ => return None,
    };
    Some(advice.to_owned())
}

/// Returns whether the proxy failed, and not the server.
fn is_from_proxy(error: &LlmError) -> bool {
    let source = error.source();
    source.is_some_and(<dyn Error>::is::<ProxyError>) || error.status() == Some(407)
}

fn is_ollama(error: &LlmError) -> bool {
    error.provider().is_some_and(|name| name.starts_with("ollama"))
}

/// Returns the provider that the error came from.
fn provider(error: &LlmError) -> Option<ProviderType> {
    error.provider()?.parse().ok()
}

fn key_advice(error: &LlmError) -> String {
    let vendor_name = provider(error).map(|provider| key_variable(&provider));
    let names = vendor_name.map_or_else(
        || "AGCORE_API_KEY".to_owned(),
        |name| format!("{name} or AGCORE_API_KEY"),
    );
    match error.status() {
        Some(_) => {
            format!("The server rejected the API key, or received none: check {names} in the environment or in .env.")
        }
        None => format!("Set {names} in the environment or in .env."),
    }
}

/// Returns `; did you mean `model`?` if a known name resembles this one, else an empty string.
pub(crate) fn suggestion(name: &str, known: impl IntoIterator<Item: AsRef<str>>) -> String {
    nearest(name, known)
        .map(|near| format!("; did you mean `{}`?", near.as_ref()))
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suggests_similar_names() {
        let check = |name: &str, expected: &str| {
            assert_eq!(suggestion(name, ["/model", "/cost", "/clear"]), expected, "{name}");
        };
        check("/modle", "; did you mean `/model`?");
        check("/cots", "; did you mean `/cost`?");
        check("/claer", "; did you mean `/clear`?");
        check("/weather", "");
        check("", "");
    }
}
