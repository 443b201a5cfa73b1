//! [`DocumentError`]: a problem of a document, its place and its kind.

mod expected;
mod found;

use std::{error::Error, fmt};

use crate::{document_path::DocumentPath, place::Place};

pub use self::{expected::Expected, found::Found};

/// A problem of a document, with its place and its kind as data.
///
/// ```
/// use agcore_document::{ErrorKind, Format};
///
/// #[derive(Debug, serde::Deserialize)]
/// #[serde(deny_unknown_fields)]
/// #[expect(dead_code)]
/// struct Tea {
///     name: String,
///     minutes: u8,
/// }
///
/// let tea = Format::Toml.parse("name = \"Sencha\"\nminuets = 2")?;
/// let error = tea.read::<Tea>().unwrap_err();
/// assert_eq!(error.to_string(), "2:1: there is no member `minuets`; did you mean `minutes`?");
/// assert!(matches!(error.kind, ErrorKind::UnknownField { .. }));
///
/// let tea = Format::Yaml.parse("name: Sencha\nminutes: 300")?;
/// let error = tea.read::<Tea>().unwrap_err();
/// assert_eq!(error.to_string(), "2:10: minutes: expected a whole number from 0 to 255, found the number 300");
/// # Ok::<(), agcore_document::DocumentError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct DocumentError {
    /// The place.
    pub place: Place,
    /// The path of the value that is refused, such as `cases[0].expect`; empty for the document itself. Unknown and missing members
    /// are not part of it: it is the path of their table.
    pub path: DocumentPath,
    /// The problem.
    pub kind: ErrorKind,
}

/// The kind of a [`DocumentError`]. Its text states the problem and what to do.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The text is not of the format, in the words of its parser.
    Syntax(String),
    /// The format allows it, and this crate does not.
    Unsupported(&'static str),
    /// The document has more bytes or values than its [limits](crate::Limits) allow.
    TooLarge {
        /// The unit of the limit: `bytes` or `values`.
        unit: &'static str,
        /// The limit.
        most: usize,
    },
    /// More lists and tables than this are inside of each other.
    TooDeep(usize),
    /// A key occurs twice in one table, or two tables have the same name.
    DuplicateKey(String),
    /// A table has a member that is not known.
    UnknownField {
        /// The name of the member.
        name: String,
        /// The names that are known.
        known: Vec<String>,
    },
    /// A table lacks a member.
    MissingField(String),
    /// A text is not one of the known ones.
    UnknownName {
        /// The text.
        name: String,
        /// The texts that are known.
        known: Vec<String>,
    },
    /// The value has another type.
    WrongType {
        /// The expected value.
        expected: Expected,
        /// The value.
        found: Found,
    },
    /// The value has the right type, and is not allowed.
    OutOfRange {
        /// The expected value.
        expected: Expected,
        /// The value.
        found: Found,
    },
    /// The type that is read refuses the value, in its own words.
    Refused(String),
}

impl DocumentError {
    pub(crate) fn new(place: Place, path: DocumentPath, kind: ErrorKind) -> Self {
        Self { place, path, kind }
    }

    /// Creates an error about the text itself.
    pub(crate) fn of_text(place: Place, kind: ErrorKind) -> Self {
        Self::new(place, DocumentPath::default(), kind)
    }
}

impl ErrorKind {
    /// Returns the known name that was probably meant.
    pub fn nearest(&self) -> Option<&str> {
        let (Self::UnknownField { name, known } | Self::UnknownName { name, known }) = self else {
            return None;
        };
        let allowed = (name.chars().count() / 3).max(1);
        let near = known.iter().map(|known| (strsim::osa_distance(name, known), known));
        let near = near.filter(|(distance, known)| *distance <= allowed && *distance < known.chars().count());
        near.min().map(|(_, known)| known.as_str())
    }

    fn suggestion(&self, known: &[String], f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(near) = self.nearest() {
            return write!(f, "; did you mean `{near}`?");
        }
        let known: Vec<String> = known.iter().map(|name| format!("`{name}`")).collect();
        match known.as_slice() {
            [] => Ok(()),
            known => write!(f, "; use one of {}", known.join(", ")),
        }
    }
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Syntax(message) | Self::Refused(message) => f.write_str(message),
            Self::Unsupported(message) => f.write_str(message),
            Self::TooLarge { unit, most } => write!(f, "the document has more than {most} {unit}; split it"),
            Self::TooDeep(most) => write!(f, "more than {most} lists and tables are nested; use fewer levels"),
            Self::DuplicateKey(name) => write!(f, "the key {name:?} occurs twice in one table; remove one of them"),
            Self::UnknownField { name, known } => {
                write!(f, "there is no member `{name}`")?;
                self.suggestion(known, f)
            }
            Self::MissingField(name) => write!(f, "the member `{name}` is missing; add it"),
            Self::UnknownName { name, known } => {
                write!(f, "the name {name:?} is not known")?;
                self.suggestion(known, f)
            }
            Self::WrongType { expected, found } => {
                match expected {
                    Expected::Whole { .. } => write!(f, "expected a whole number, found {found}")?,
                    expected => write!(f, "expected {expected}, found {found}")?,
                }
                match (expected, found) {
                    (Expected::Text, Found::Number(_) | Found::Bool(_)) => f.write_str("; quote it"),
                    _ => Ok(()),
                }
            }
            Self::OutOfRange { expected, found } => write!(f, "expected {expected}, found {found}"),
        }
    }
}

/// Formats the place, the path and the problem.
impl fmt::Display for DocumentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.place)?;
        if !self.path.is_empty() {
            write!(f, "{}: ", self.path)?;
        }
        self.kind.fmt(f)
    }
}

impl Error for DocumentError {}
