//! [`Limits`]: the largest document that is read.

/// The limits of a document, which are the same in every format.
///
/// An alias of YAML counts as much as the value that it repeats, so a document with aliases is limited like the same document
/// without them.
///
/// ```
/// use agcore_document::{Format, Limits};
///
/// let limits = Limits::default().with_max_values(4);
/// assert!(Format::Yaml.parse_within("[1, 2, 3]", &limits).is_ok());
/// assert!(Format::Yaml.parse_within("a: &x [1]\nb: *x", &limits).is_err());
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// The largest size in bytes: of the document, and of all names and texts in it.
    pub max_bytes: usize,
    /// The deepest nesting of lists and tables.
    pub max_depth: usize,
    /// The largest number of values.
    pub max_values: usize,
}

/// Allows 8 MiB, a depth of 64, and a million values.
impl Default for Limits {
    fn default() -> Self {
        Self {
            max_bytes: 8 << 20,
            max_depth: 64,
            max_values: 1_000_000,
        }
    }
}

impl Limits {
    /// Sets the largest size in bytes.
    #[must_use]
    pub fn with_max_bytes(mut self, bytes: usize) -> Self {
        self.max_bytes = bytes;
        self
    }

    /// Sets the deepest nesting of lists and tables.
    #[must_use]
    pub fn with_max_depth(mut self, depth: usize) -> Self {
        self.max_depth = depth;
        self
    }

    /// Sets the largest number of values.
    #[must_use]
    pub fn with_max_values(mut self, values: usize) -> Self {
        self.max_values = values;
        self
    }
}
