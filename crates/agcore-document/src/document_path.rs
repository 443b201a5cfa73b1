//! [`DocumentPath`]: the way from a document to one of its values.

use std::fmt;

use crate::node::{Node, Value};

/// The number of characters of a name that are shown.
const SHOWN_CHARS: usize = 64;

/// The way from a document to one of its values; empty for the document itself.
///
/// ```
/// use agcore_document::{DocumentPath, Format, Step};
///
/// let document = Format::Toml.parse("[[cases]]\nname = 'a'")?;
/// let path = DocumentPath::from_iter([Step::Member("cases".into()), Step::Item(0), Step::Member("name".into())]);
/// assert_eq!(path.to_string(), "cases[0].name");
/// assert_eq!(document.at(&path).unwrap().shown(), "\"a\"");
/// # Ok::<(), agcore_document::DocumentError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DocumentPath(Vec<Step>);

/// A step of a [`DocumentPath`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// To the member of a table with this name.
    Member(String),
    /// To the item of a list with this index.
    Item(usize),
}

impl DocumentPath {
    /// Returns the steps, beginning at the document.
    pub fn steps(&self) -> &[Step] {
        &self.0
    }

    /// Returns whether this is the path of the document itself.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds a step at the end.
    pub(crate) fn push(&mut self, step: Step) {
        self.0.push(step);
    }
}

impl FromIterator<Step> for DocumentPath {
    fn from_iter<I: IntoIterator<Item = Step>>(steps: I) -> Self {
        Self(steps.into_iter().collect())
    }
}

impl Node {
    /// Returns the value at a path that begins at this one.
    pub fn at(&self, path: &DocumentPath) -> Option<&Self> {
        path.steps().iter().try_fold(self, |node, step| match step {
            Step::Member(name) => Some(&node.member(name)?.node),
            Step::Item(index) => match &node.value {
                Value::List(items) => items.get(*index),
                _ => None,
            },
        })
    }
}

/// Formats the path as `cases[0].expect`. The start of a long name is shown, and control characters are escaped.
impl fmt::Display for DocumentPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, step) in self.0.iter().enumerate() {
            match step {
                Step::Item(index) => write!(f, "[{index}]")?,
                Step::Member(name) => {
                    let shown: String = name.chars().take(SHOWN_CHARS).collect();
                    let dot = if index == 0 { "" } else { "." };
                    write!(f, "{dot}{}", shown.escape_debug())?;
                }
            }
        }
        Ok(())
    }
}
