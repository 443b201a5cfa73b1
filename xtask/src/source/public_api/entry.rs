//! The entries of an API.

use std::collections::BTreeSet;

/// One public item: a type, a field, a function, an implementation of a trait.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Entry {
    /// The path of the item, or of the type for which a trait is implemented.
    pub(crate) path: String,
    /// Whether the entry implements a trait; such entries follow the one of the type.
    pub(crate) is_implementation: bool,
    /// The item on one line.
    pub(crate) text: String,
    /// The external crates that occur in the signature, by their names in code.
    pub(crate) crates: BTreeSet<String>,
}
