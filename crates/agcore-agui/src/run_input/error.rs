//! [`RunInputError`]: an input that is refused.

use std::{error::Error, fmt};

use serde_json::Value;

/// The kind of a [`RunInputError`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RunInputErrorKind {
    /// The body is not JSON.
    Syntax,
    /// A member is missing, or has a wrong form.
    Invalid,
    /// The body or a list in it is too large.
    TooLarge,
}

/// The type of a member that is not there.
pub(super) const MISSING: &str = "nothing";

/// An input that is refused. It does not contain the values of the client, except for types and sizes.
#[derive(Debug)]
pub struct RunInputError {
    kind: RunInputErrorKind,
    path: String,
    message: String,
    source: Option<serde_json::Error>,
}

impl RunInputError {
    pub(super) fn syntax(error: serde_json::Error) -> Self {
        let message = format!(
            "the body is not JSON (line {}, column {}); send an object of the type RunAgentInput",
            error.line(),
            error.column()
        );
        Self {
            kind: RunInputErrorKind::Syntax,
            path: String::new(),
            message,
            source: Some(error),
        }
    }

    pub(super) fn invalid(path: impl Into<String>, found: &str, rule: &str) -> Self {
        let path = path.into();
        let place = if path.is_empty() { "the body" } else { &path };
        Self {
            kind: RunInputErrorKind::Invalid,
            message: match found {
                MISSING => format!("{place} is missing; it {rule}"),
                found => format!("{place}: {found} is refused: it {rule}"),
            },
            path,
            source: None,
        }
    }

    pub(super) fn too_large(path: impl Into<String>, message: String) -> Self {
        Self {
            kind: RunInputErrorKind::TooLarge,
            path: path.into(),
            message,
            source: None,
        }
    }

    /// Returns the kind.
    pub fn kind(&self) -> RunInputErrorKind {
        self.kind
    }

    /// Returns the path of the member, such as `messages[2].content`; empty for the body as a whole.
    pub fn path(&self) -> &str {
        &self.path
    }
}

impl fmt::Display for RunInputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Error for RunInputError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        let source = self.source.as_ref()?;
        Some(source)
    }
}

/// Names the type of a value, for errors.
pub(super) fn type_of(value: Option<&Value>) -> &'static str {
    match value {
        None => MISSING,
        Some(Value::Null) => "null",
        Some(Value::Bool(_)) => "a boolean",
        Some(Value::Number(_)) => "a number",
        Some(Value::String(_)) => "this text",
        Some(Value::Array(_)) => "an array",
        Some(Value::Object(_)) => "an object",
    }
}
