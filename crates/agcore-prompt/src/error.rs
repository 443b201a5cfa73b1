//! [`PromptError`]: the error type of the crate.

mod printable;
mod location;
mod kind;

pub use kind::PromptErrorKind;
pub use location::Location;
use printable::Printable;

use std::{error::Error, fmt, sync::Arc};

use agcore_chat::{Fault, FaultKind, text::nearest_names};

/// The maximum number of similar names that an error suggests.
const MAX_SUGGESTIONS: usize = 3;

/// An error that occurred while compiling, rendering or composing a prompt.
///
/// The type is one pointer in size and cheap to clone, so that a lazily compiled template can return its error at every
/// use. Retrying never helps: the template, the context or the options have to change. Neither the message nor the kind
/// contains values of the context, only names and excerpts of the template. Control characters and characters that
/// change the direction of text are escaped when the error is printed.
///
/// ```
/// use agcore_prompt::{PromptErrorKind, PromptTemplate};
///
/// let error = PromptTemplate::compile("Hi {{name}}!\n{{#if x}}").unwrap_err();
/// assert_eq!(error.to_string(), "line 2, column 1: expected {{/if}} to close {{#if}}, found the end of the template (near `{{#if x}}`)");
/// assert!(matches!(error.kind(), PromptErrorKind::Syntax { .. }));
/// assert_eq!(error.location().unwrap().line, 2);
/// ```
#[derive(Clone)]
pub struct PromptError(Arc<Inner>);

struct Inner {
    kind: PromptErrorKind,
    location: Option<Location>,
    source: Option<Box<dyn Error + Send + Sync>>,
}

impl PromptError {
    /// Returns the reason for the error.
    pub fn kind(&self) -> &PromptErrorKind {
        &self.0.kind
    }

    /// Returns the location in the template, if the error refers to one.
    pub fn location(&self) -> Option<&Location> {
        self.0.location.as_ref()
    }

    /// Converts the error into serializable data for events and journals.
    pub fn fault(&self) -> Fault {
        let kind = match self.kind() {
            PromptErrorKind::TemplateNotFound { .. } | PromptErrorKind::PartialNotFound { .. } => FaultKind::NotFound,
            PromptErrorKind::Depth { .. }
            | PromptErrorKind::Size { .. }
            | PromptErrorKind::Steps { .. }
            | PromptErrorKind::DataSize { .. } => FaultKind::Limit,
            PromptErrorKind::Io { .. } | PromptErrorKind::Write => FaultKind::Storage,
            _ => FaultKind::InvalidRequest,
        };
        Fault::new(kind, self.to_string())
    }

    #[cold]
    pub(crate) fn new(kind: PromptErrorKind) -> Self {
        Self(Arc::new(Inner {
            kind,
            location: None,
            source: None,
        }))
    }

    #[cold]
    pub(crate) fn at(kind: PromptErrorKind, location: Location) -> Self {
        Self(Arc::new(Inner {
            kind,
            location: Some(location),
            source: None,
        }))
    }

    #[cold]
    pub(crate) fn with_source(kind: PromptErrorKind, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self(Arc::new(Inner {
            kind,
            location: None,
            source: Some(source.into()),
        }))
    }
}

impl fmt::Display for PromptError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.location() {
            None => self.kind().fmt(f),
            Some(location) if location.excerpt.is_empty() => {
                write!(f, "{location}: {}", self.kind())
            }
            Some(location) => write!(
                f,
                "{location}: {} (near `{}`)",
                self.kind(),
                Printable(&location.excerpt)
            ),
        }
    }
}

/// Prints the message and its causes, so that a `main` that returns the error prints sentences.
impl fmt::Debug for PromptError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)?;
        let mut source = self.source();
        while let Some(cause) = source {
            write!(f, ": {}", Printable(cause))?;
            source = cause.source();
        }
        Ok(())
    }
}

impl Error for PromptError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.0.source.as_deref().map(|source| source as _)
    }
}

impl From<PromptErrorKind> for PromptError {
    fn from(kind: PromptErrorKind) -> Self {
        Self::new(kind)
    }
}

/// Returns the known names that are similar to an unknown one, the most similar first.
pub(crate) fn similar_names<N: AsRef<str>>(unknown: &str, known: impl IntoIterator<Item = N>) -> Vec<String> {
    let similar = nearest_names(unknown, known, MAX_SUGGESTIONS);
    similar.into_iter().map(|name| name.as_ref().to_owned()).collect()
}
