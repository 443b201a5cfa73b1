//! Rewriting JSON Schemas into the forms that vendors enforce, and values into the form that Rust types read.
//!
//! ```
//! use agcore_chat::schema::closed;
//! use serde_json::json;
//!
//! let schema = closed(&json!({"type": "object", "properties": {}}))?.into_owned();
//! assert_eq!(schema, json!({"type": "object", "properties": {}, "additionalProperties": false}));
//! # Ok::<(), agcore_chat::schema::SchemaError>(())
//! ```

pub(crate) mod check;
mod closed;
mod whole;

use std::{error::Error, fmt};

pub use closed::closed;
pub use whole::whole_numbers;

/// The reason a JSON Schema cannot be rewritten into the form that an API requires, and the location of the problem.
///
/// Rewriting recurses: the innermost call creates the error, and each enclosing call adds the member it went through
/// with [`within`](Self::within).
///
/// ```
/// use agcore_chat::schema::SchemaError;
///
/// let error = SchemaError::new("`not` is not supported").within("city").within("properties");
/// assert_eq!(error.to_string(), "at $.properties.city, `not` is not supported");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SchemaError {
    /// Members from the location up to the root.
    path: Vec<String>,
    reason: String,
}

impl SchemaError {
    /// Creates an error at the root of the schema.
    pub fn new(reason: impl Into<String>) -> Self {
        Self {
            path: Vec::new(),
            reason: reason.into(),
        }
    }

    /// Moves the location into a member of an enclosing schema.
    #[must_use]
    pub fn within(mut self, member: impl Into<String>) -> Self {
        self.path.push(member.into());
        self
    }
}

impl fmt::Display for SchemaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("at $")?;
        for member in self.path.iter().rev() {
            write!(f, ".{member}")?;
        }
        write!(f, ", {}", self.reason)
    }
}

impl Error for SchemaError {}
