//! [`ToolError`]: what went wrong with a tool, with one text for the operator and another for the model.

use std::{borrow::Cow, error::Error, fmt, sync::Arc, time::Duration};

use agcore_chat::{Fault, FaultKind, SchemaViolation};

use crate::clip::clip;

/// Text handed to a model is cut here, in bytes, so that a hostile message cannot fill the window.
const MODEL_TEXT_BYTES: usize = 4096;

/// What went wrong with a tool or its call.
///
/// Cheap to clone. [`Display`](fmt::Display) is the operator's text, one layer of it; the cause is in
/// [`source`](Error::source). What the model is told is [`model_text`](Self::model_text): it never contains the cause.
///
/// Returned from a tool, `?` turns [`std::io::Error`] and [`serde_json::Error`] into [`ToolErrorKind::ExecutionFailed`];
/// for any other error there is [`ToolError::other`].
#[derive(Clone)]
pub struct ToolError(Arc<Inner>);

#[derive(Clone)]
struct Inner {
    kind: ToolErrorKind,
    message: String,
    for_model: Option<String>,
    detail: Detail,
    source: Option<Arc<dyn Error + Send + Sync>>,
}

/// What some kinds know besides.
#[derive(Debug, Clone, Default)]
enum Detail {
    #[default]
    None,
    Near(Vec<String>),
    Violations(Vec<SchemaViolation>),
    ByPerson,
}

/// The kinds of failure that a caller may want to tell apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ToolErrorKind {
    /// There is no tool of that name.
    NotFound,
    /// A tool of that name is there already.
    Duplicate,
    /// The tool, its schema, a rule or the context is not fit for use.
    Config,
    /// The tool ran and failed, or panicked.
    ExecutionFailed,
    /// The arguments are not what the tool expects.
    InvalidArguments,
    /// A rule or a person said no.
    PermissionDenied,
    /// The call did not end in time.
    Timeout,
    /// The caller gave up.
    Cancelled,
    /// The way to the tool broke: a pipe, a connection.
    Transport,
    /// The other side broke the protocol.
    Protocol,
    /// The tool's server is not connected.
    NotConnected,
    /// The operating system failed the machinery around the tool.
    Io,
    /// Nothing above fits.
    Other,
}

impl ToolErrorKind {
    /// The kind's name in logs and audit records.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NotFound => "not_found",
            Self::Duplicate => "duplicate",
            Self::Config => "config",
            Self::ExecutionFailed => "execution_failed",
            Self::InvalidArguments => "invalid_arguments",
            Self::PermissionDenied => "permission_denied",
            Self::Timeout => "timeout",
            Self::Cancelled => "cancelled",
            Self::Transport => "transport",
            Self::Protocol => "protocol",
            Self::NotConnected => "not_connected",
            Self::Io => "io",
            Self::Other => "other",
        }
    }
}

impl fmt::Display for ToolErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl ToolError {
    /// An error with a text that serves the operator and the model alike.
    pub fn new(kind: ToolErrorKind, message: impl Into<String>) -> Self {
        Self(Arc::new(Inner {
            kind,
            message: message.into(),
            for_model: None,
            detail: Detail::None,
            source: None,
        }))
    }

    /// The tool ran and failed; the text is for the model, too.
    pub fn failed(message: impl Into<String>) -> Self {
        Self::new(ToolErrorKind::ExecutionFailed, message)
    }

    /// Any other error as the cause. The model is told only that the tool failed; to tell it more, use
    /// [`with_model_text`](Self::with_model_text).
    pub fn other(cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::caused(ToolErrorKind::Other, "the tool failed", cause.into())
    }

    /// No tool of that name; `near` are names that the caller may have meant.
    pub fn not_found(name: &str, near: Vec<String>) -> Self {
        let name = clip(name, 128);
        let hint = match near.as_slice() {
            [] => "use only the tools that were given".to_owned(),
            names => format!("did you mean {}?", names.join(" or ")),
        };
        Self::new(
            ToolErrorKind::NotFound,
            format!("there is no tool named {name:?}; {hint}"),
        )
        .with_detail(Detail::Near(near))
    }

    /// A tool of that name is there already.
    pub fn duplicate(name: &str) -> Self {
        Self::new(
            ToolErrorKind::Duplicate,
            format!("a tool named {name:?} is registered already; unregister it first, or register with a prefix"),
        )
    }

    /// The arguments of a tool have these faults.
    pub fn invalid_arguments(tool: &str, violations: Vec<SchemaViolation>) -> Self {
        use fmt::Write as _;
        let mut text = format!("invalid arguments for {tool}:");
        for (index, violation) in violations.iter().enumerate() {
            let separator = if index == 0 { " " } else { "; " };
            // Writing to a String cannot fail.
            let _ = write!(text, "{separator}{violation}");
        }
        Self::new(ToolErrorKind::InvalidArguments, text).with_detail(Detail::Violations(violations))
    }

    /// A rule said no; `reason` names it, for the operator. The model learns only that it may not.
    pub fn denied_by_policy(tool: &str, reason: &str) -> Self {
        Self::new(ToolErrorKind::PermissionDenied, format!("{tool} was denied: {reason}")).with_model_text(format!(
            "permission denied: this call of {tool} is not allowed here; do not try it again, go on another way"
        ))
    }

    /// A person said no, with these words for the model.
    pub fn denied_by_person(tool: &str, message: &str) -> Self {
        let said = if message.trim().is_empty() {
            "no reason was given"
        } else {
            message
        };
        Self::new(
            ToolErrorKind::PermissionDenied,
            format!("{tool} was denied by a person: {said}"),
        )
        .with_detail(Detail::ByPerson)
    }

    /// The call did not end in time.
    pub fn timeout(tool: &str, limit: Duration) -> Self {
        Self::new(
            ToolErrorKind::Timeout,
            format!("{tool} did not end within {limit:?} and was stopped; its effects, if any, are unknown"),
        )
    }

    /// The caller gave up.
    pub fn cancelled() -> Self {
        Self::new(ToolErrorKind::Cancelled, "the call was cancelled")
    }

    /// An error with a cause; neither the cause nor its text reaches the model.
    pub fn caused(
        kind: ToolErrorKind,
        message: impl Into<String>,
        cause: impl Into<Box<dyn Error + Send + Sync>>,
    ) -> Self {
        Self::new(kind, message).with_source(cause)
    }

    /// Adds the cause, for the operator.
    pub fn with_source(mut self, cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Arc::make_mut(&mut self.0).source = Some(Arc::from(cause.into()));
        self
    }

    /// Replaces what the model is told.
    pub fn with_model_text(mut self, text: impl Into<String>) -> Self {
        Arc::make_mut(&mut self.0).for_model = Some(text.into());
        self
    }

    fn with_detail(mut self, detail: Detail) -> Self {
        Arc::make_mut(&mut self.0).detail = detail;
        self
    }

    /// What kind of failure.
    pub fn kind(&self) -> ToolErrorKind {
        self.0.kind
    }

    /// What the operator is told, without the cause.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// What the model is told: fit to act on, at most 4 KiB, without causes.
    pub fn model_text(&self) -> Cow<'_, str> {
        let text = self.0.for_model.as_ref().unwrap_or(&self.0.message);
        clip(text, MODEL_TEXT_BYTES)
    }

    /// Whether the failure is worth showing to the model, which may do better with the next call: execution failed,
    /// invalid arguments, timeout of a single call, other.
    pub fn is_recoverable(&self) -> bool {
        use ToolErrorKind as Kind;
        matches!(
            self.0.kind,
            Kind::ExecutionFailed | Kind::InvalidArguments | Kind::Timeout | Kind::Other
        )
    }

    /// Names that the caller may have meant, when the tool was not found.
    pub fn near_names(&self) -> &[String] {
        match &self.0.detail {
            Detail::Near(names) => names,
            _ => &[],
        }
    }

    /// What is wrong with the arguments, when they are invalid.
    pub fn violations(&self) -> &[SchemaViolation] {
        match &self.0.detail {
            Detail::Violations(violations) => violations,
            _ => &[],
        }
    }

    /// Whether a person, not a rule, denied the call.
    pub fn is_denied_by_person(&self) -> bool {
        matches!(self.0.detail, Detail::ByPerson)
    }

    /// The serializable face of this error.
    pub fn fault(&self) -> Fault {
        use ToolErrorKind as Kind;
        let kind = match self.0.kind {
            Kind::Cancelled => FaultKind::Cancelled,
            Kind::Timeout => FaultKind::Timeout,
            Kind::PermissionDenied => FaultKind::Permission,
            Kind::Transport | Kind::NotConnected => FaultKind::Connection,
            Kind::Protocol => FaultKind::Malformed,
            _ => FaultKind::Tool,
        };
        Fault::new(kind, self.0.message.clone())
    }
}

impl fmt::Display for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)
    }
}

impl fmt::Debug for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = f.debug_struct("ToolError");
        debug.field("kind", &self.0.kind).field("message", &self.0.message);
        if let Some(text) = &self.0.for_model {
            debug.field("for_model", text);
        }
        if let Some(source) = &self.0.source {
            debug.field("source", source);
        }
        debug.finish_non_exhaustive()
    }
}

impl Error for ToolError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.0.source.as_deref().map(|source| source as &(dyn Error + 'static))
    }
}

/// The tool could not reach a file or device; the model is told which kind of failure, without paths.
impl From<std::io::Error> for ToolError {
    fn from(error: std::io::Error) -> Self {
        let message = format!("an input or output operation failed: {}", error.kind());
        Self::caused(ToolErrorKind::ExecutionFailed, message, error)
    }
}

/// The tool met JSON it could not read or write.
impl From<serde_json::Error> for ToolError {
    fn from(error: serde_json::Error) -> Self {
        Self::caused(
            ToolErrorKind::ExecutionFailed,
            "the tool met JSON of another form than it expected",
            error,
        )
    }
}

/// The tool failed, in words for the model.
impl From<String> for ToolError {
    fn from(message: String) -> Self {
        Self::failed(message)
    }
}

/// The tool failed, in words for the model.
impl From<&str> for ToolError {
    fn from(message: &str) -> Self {
        Self::failed(message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn causes_stay_with_the_operator() {
        let error = ToolError::other("password is hunter2");
        assert_eq!(error.model_text(), "the tool failed");
        assert_eq!(
            error.source().map(ToString::to_string).as_deref(),
            Some("password is hunter2")
        );
        assert_eq!(error.clone().kind(), ToolErrorKind::Other);
    }

    #[test]
    fn text_for_the_model_is_bounded_and_whole_characters() {
        let error = ToolError::failed("é".repeat(5000));
        assert!(error.model_text().len() <= MODEL_TEXT_BYTES + '…'.len_utf8());
        assert!(error.model_text().ends_with("é…"));
    }

    #[test]
    fn recoverable_is_what_a_model_can_do_better() {
        use ToolErrorKind as Kind;
        let kinds = [
            Kind::NotFound,
            Kind::Duplicate,
            Kind::Config,
            Kind::ExecutionFailed,
            Kind::InvalidArguments,
        ];
        let more = [
            Kind::PermissionDenied,
            Kind::Timeout,
            Kind::Cancelled,
            Kind::Transport,
            Kind::Protocol,
        ];
        let rest = [Kind::NotConnected, Kind::Io, Kind::Other];
        let recoverable: Vec<_> = kinds
            .into_iter()
            .chain(more)
            .chain(rest)
            .filter(|kind| ToolError::new(*kind, "x").is_recoverable())
            .collect();
        assert_eq!(
            recoverable,
            [
                Kind::ExecutionFailed,
                Kind::InvalidArguments,
                Kind::Timeout,
                Kind::Other
            ]
        );
    }
}
