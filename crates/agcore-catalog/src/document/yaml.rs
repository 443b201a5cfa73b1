//! YAML documents.

use agcore_yaml::{Limits, Node, Place, Value};

/// Reads a document, or returns what is wrong and where.
pub(super) fn parse(text: &str) -> Result<Node, (Place, String)> {
    match agcore_yaml::parse(text, &Limits::default()) {
        Ok(root) => Ok(root.unwrap_or_else(|| Node::new(Place::START, Value::Table(Vec::new())))),
        Err(error) => Err((error.place, error.problem)),
    }
}
