//! [`Expected`]: the value that a type accepts.

use std::fmt;

/// The value that a type accepts.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Expected {
    /// Nothing.
    Null,
    /// A truth value.
    Bool,
    /// A whole number in a range, which is clamped to 64 bits.
    Whole {
        /// The smallest number.
        least: i64,
        /// The largest number.
        most: u64,
    },
    /// A number.
    Number,
    /// A text.
    Text,
    /// A list.
    List,
    /// A table.
    Table,
    /// One of these texts.
    Name(Vec<String>),
    /// A value that the type describes in its own words.
    Other(String),
}

impl fmt::Display for Expected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("nothing"),
            Self::Bool => f.write_str("true or false"),
            Self::Whole { least, most } => match *most > u64::from(u32::MAX) {
                true if *least == 0 => f.write_str("a whole number of at least 0"),
                true => f.write_str("a whole number"),
                false => write!(f, "a whole number from {least} to {most}"),
            },
            Self::Number => f.write_str("a number"),
            Self::Text => f.write_str("a text"),
            Self::List => f.write_str("a list"),
            Self::Table => f.write_str("a table"),
            Self::Name(names) => {
                let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
                write!(f, "one of {}", names.join(", "))
            }
            Self::Other(words) => f.write_str(words),
        }
    }
}
