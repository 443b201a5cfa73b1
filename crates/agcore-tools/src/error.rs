//! [`ToolError`]: the error of a tool or a call, with one text for the operator and another for the model.

mod convert;

pub use self::convert::IntoToolError;

use std::{borrow::Cow, error::Error, fmt, sync::Arc, time::Duration};

use agcore_chat::{Fault, FaultKind, SchemaViolation, text::clip};

/// The longest text that reaches the model, in bytes, so that a hostile message cannot fill the context window.
const MODEL_TEXT_BYTES: usize = 4096;

/// The longest tool name that an error message quotes, in bytes.
pub(crate) const NAME_BYTES: usize = 128;

/// The error of a tool or of a call to it.
///
/// An error has two texts. [`Display`](fmt::Display) and [`message`](Self::message) are for the operator and print one
/// layer; the cause is in [`source`](Error::source). [`model_text`](Self::model_text) is what the model gets to see,
/// and never contains the cause.
///
/// In a tool, `?` converts a [`String`] or `&str`, the usual errors of the standard library, a [`serde_json::Error`], and
/// any error in a `Box<dyn Error + Send + Sync>` into [`ToolErrorKind::ExecutionFailed`], whose text the model sees. Use
/// [`ToolError::from_error`] for any other error, or return it from a function with the attribute `#[tool]`.
/// [`ToolError::other`] hides the text from the model.
///
/// Cheap to clone.
///
/// ```
/// use std::error::Error;
///
/// use agcore_tools::{ToolError, ToolErrorKind};
///
/// fn parse_port(text: &str) -> Result<u16, ToolError> {
///     text.parse().map_err(|error| ToolError::other(error).with_model_text("the port must be a number"))
/// }
///
/// let error = parse_port("http").unwrap_err();
/// assert_eq!(error.kind(), ToolErrorKind::Other);
/// assert_eq!(error.model_text(), "the port must be a number");
/// // The cause is for the operator only.
/// assert_eq!(error.to_string(), "the tool failed");
/// assert_eq!(error.source().unwrap().to_string(), "invalid digit found in string");
/// ```
#[derive(Clone)]
pub struct ToolError(Arc<Inner>);

#[derive(Clone)]
struct Inner {
    kind: ToolErrorKind,
    message: String,
    model_text: Option<String>,
    detail: Detail,
    source: Option<Arc<dyn Error + Send + Sync>>,
}

/// Data that only some kinds carry.
#[derive(Debug, Clone, Default)]
enum Detail {
    #[default]
    None,
    NearNames(Vec<String>),
    Violations(Vec<SchemaViolation>),
    DeniedByPerson,
}

/// The kinds of failure that a caller may want to distinguish.
///
/// The kind is `Copy`, so [`ToolError::kind`] returns it by value. An error whose kind carries data, such as
/// `LlmError`, returns a reference instead.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ToolErrorKind {
    /// There is no tool with this name. From a tool: the item that it was asked for does not exist.
    NotFound,
    /// A tool with this name is already registered.
    Duplicate,
    /// The tool, its schema, a rule or the context is not usable.
    Config,
    /// The tool ran and failed, or panicked.
    ExecutionFailed,
    /// The arguments do not match what the tool expects.
    InvalidArguments,
    /// A rule or a person denied the call.
    PermissionDenied,
    /// The call did not finish in time.
    Timeout,
    /// The caller cancelled the call.
    Cancelled,
    /// The transport to the tool failed: a pipe, a connection.
    Transport,
    /// The peer violated the protocol.
    Protocol,
    /// The tool's server is not connected.
    NotConnected,
    /// The operating system reported an error to the code that runs the tool.
    Io,
    /// Any other failure.
    Other,
}

impl ToolErrorKind {
    /// Returns the name of the kind in logs and audit records.
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
    /// Creates an error with one text for both the operator and the model.
    pub fn new(kind: ToolErrorKind, message: impl Into<String>) -> Self {
        Self(Arc::new(Inner {
            kind,
            message: message.into(),
            model_text: None,
            detail: Detail::None,
            source: None,
        }))
    }

    /// Creates an [`ExecutionFailed`](ToolErrorKind::ExecutionFailed) error. The model sees the message, too.
    pub fn failed(message: impl Into<String>) -> Self {
        Self::new(ToolErrorKind::ExecutionFailed, message)
    }

    /// Wraps any other error as the cause. The model learns only that the tool failed; use
    /// [`with_model_text`](Self::with_model_text) to give it more detail.
    pub fn other(cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::new(ToolErrorKind::Other, "the tool failed").with_source(cause)
    }

    /// Creates a [`NotFound`](ToolErrorKind::NotFound) error; `near` lists the names that the caller may have meant.
    pub fn not_found(name: &str, near: Vec<String>) -> Self {
        let name = clip(name, NAME_BYTES);
        let hint = match near.as_slice() {
            [] => "use only the tools you were given".to_owned(),
            names => format!("did you mean {}?", names.join(" or ")),
        };
        Self::new(
            ToolErrorKind::NotFound,
            format!("there is no tool named {name:?}; {hint}"),
        )
        .with_detail(Detail::NearNames(near))
    }

    /// Creates a [`Duplicate`](ToolErrorKind::Duplicate) error.
    pub fn duplicate(name: &str) -> Self {
        Self::new(
            ToolErrorKind::Duplicate,
            format!("a tool named {name:?} is already registered; unregister it first, or register with a prefix"),
        )
    }

    /// Creates a [`Duplicate`](ToolErrorKind::Duplicate) error for two tools that a vendor could not distinguish.
    pub(crate) fn same_portable_name(name: &str, other: &str, portable: &str) -> Self {
        Self::new(
            ToolErrorKind::Duplicate,
            format!(
                "the tools {name:?} and {other:?} cannot be registered together: both are {portable:?} for vendors that \
                 accept only letters, digits, `_` and `-`; rename one, or register it with a prefix"
            ),
        )
    }

    /// Creates an [`InvalidArguments`](ToolErrorKind::InvalidArguments) error that lists all violations.
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

    /// Creates a [`PermissionDenied`](ToolErrorKind::PermissionDenied) error for a call that a rule denies. `reason`
    /// names the rule for the operator; the model learns only that the call is not allowed.
    pub fn denied_by_policy(tool: &str, reason: &str) -> Self {
        Self::new(ToolErrorKind::PermissionDenied, format!("{tool} was denied: {reason}")).with_model_text(format!(
            "permission denied: this call of {tool} is not allowed; do not repeat it, try a different approach"
        ))
    }

    /// Creates a [`PermissionDenied`](ToolErrorKind::PermissionDenied) error for a call that a person denies. The model
    /// sees the person's message.
    pub fn denied_by_person(tool: &str, message: &str) -> Self {
        let reason = if message.trim().is_empty() {
            "no reason was given"
        } else {
            message
        };
        Self::new(
            ToolErrorKind::PermissionDenied,
            format!("{tool} was denied by a person: {reason}"),
        )
        .with_detail(Detail::DeniedByPerson)
    }

    /// Creates a [`Timeout`](ToolErrorKind::Timeout) error.
    pub fn timeout(tool: &str, limit: Duration) -> Self {
        Self::new(
            ToolErrorKind::Timeout,
            format!("{tool} did not finish within {limit:?} and was stopped; its effects, if any, are unknown"),
        )
    }

    /// Creates a [`Cancelled`](ToolErrorKind::Cancelled) error.
    pub fn cancelled() -> Self {
        Self::new(ToolErrorKind::Cancelled, "the call was cancelled")
    }

    /// Sets the cause. Only the operator sees it.
    #[must_use]
    pub fn with_source(mut self, cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Arc::make_mut(&mut self.0).source = Some(Arc::from(cause.into()));
        self
    }

    /// Replaces the text for the model.
    #[must_use]
    pub fn with_model_text(mut self, text: impl Into<String>) -> Self {
        Arc::make_mut(&mut self.0).model_text = Some(text.into());
        self
    }

    fn with_detail(mut self, detail: Detail) -> Self {
        Arc::make_mut(&mut self.0).detail = detail;
        self
    }

    /// Returns the kind of failure.
    pub fn kind(&self) -> ToolErrorKind {
        self.0.kind
    }

    /// Returns the text for the operator, without the cause.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// Returns the text for the model: at most 4 KiB (plus an ellipsis where it was cut), without causes.
    pub fn model_text(&self) -> Cow<'_, str> {
        let text = self.0.model_text.as_ref().unwrap_or(&self.0.message);
        clip(text, MODEL_TEXT_BYTES)
    }

    /// Returns whether a failure before the tool ran is worth showing to the model, which may do better with its next
    /// call. An executor shows the model every error that the tool itself returns, whatever its kind.
    ///
    /// True for [`ExecutionFailed`](ToolErrorKind::ExecutionFailed),
    /// [`InvalidArguments`](ToolErrorKind::InvalidArguments), [`Timeout`](ToolErrorKind::Timeout) and
    /// [`Other`](ToolErrorKind::Other). This is not a statement about retries: repeating the same call unchanged may
    /// well fail again.
    pub fn is_for_model(&self) -> bool {
        use ToolErrorKind as Kind;
        matches!(
            self.0.kind,
            Kind::ExecutionFailed | Kind::InvalidArguments | Kind::Timeout | Kind::Other
        )
    }

    /// Returns the names that the caller may have meant, when the tool was not found.
    pub fn near_names(&self) -> &[String] {
        match &self.0.detail {
            Detail::NearNames(names) => names,
            _ => &[],
        }
    }

    /// Returns the violations, when the arguments are invalid.
    pub fn violations(&self) -> &[SchemaViolation] {
        match &self.0.detail {
            Detail::Violations(violations) => violations,
            _ => &[],
        }
    }

    /// Returns whether a person, rather than a rule, denied the call.
    pub fn is_denied_by_person(&self) -> bool {
        matches!(self.0.detail, Detail::DeniedByPerson)
    }

    /// Returns the serializable form of this error: its kind and the operator's text.
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
        if let Some(text) = &self.0.model_text {
            debug.field("model_text", text);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_model_text_does_not_contain_the_cause() {
        let error = ToolError::other("password is hunter2");
        assert_eq!(error.model_text(), "the tool failed");
        assert_eq!(
            error.source().map(ToString::to_string).as_deref(),
            Some("password is hunter2")
        );
        assert_eq!(error.clone().kind(), ToolErrorKind::Other);
    }

    #[test]
    fn the_model_text_is_cut_at_a_character_boundary() {
        let error = ToolError::failed("é".repeat(5000));
        assert!(error.model_text().len() <= MODEL_TEXT_BYTES + '…'.len_utf8());
        assert!(error.model_text().ends_with("é…"));
    }

    #[test]
    fn only_four_kinds_are_for_the_model() {
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
        let for_model: Vec<_> = kinds
            .into_iter()
            .chain(more)
            .chain(rest)
            .filter(|kind| ToolError::new(*kind, "x").is_for_model())
            .collect();
        assert_eq!(
            for_model,
            [
                Kind::ExecutionFailed,
                Kind::InvalidArguments,
                Kind::Timeout,
                Kind::Other
            ]
        );
    }
}
