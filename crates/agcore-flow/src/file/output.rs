//! [`TaskOutput`]: the form in which a task returns its result.

use serde_json::Value as Json;

use super::{
    node::{Node, Value},
    reader::Reader,
};

/// The form in which a task returns its result.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub enum TaskOutput {
    /// The form that belongs to the task: a checked value in most tasks, a text in tasks of graphs.
    #[default]
    Standard,
    /// A text, which observers see while it is written.
    Text,
    /// A value that fits this JSON Schema of an object. Models that return something else are asked to correct it.
    Schema(Json),
}

/// The forms that a task may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outputs {
    /// The form cannot be chosen.
    Fixed,
    FixedOrText,
    Text,
    Any,
}

impl Outputs {
    fn names(self) -> &'static str {
        match self {
            Self::Fixed => "the form of this result cannot be chosen; remove `output`",
            Self::FixedOrText | Self::Text => {
                "`text` is the only form that can be chosen here; remove `output` or use it"
            }
            Self::Any => "`text` or the JSON Schema of an object is expected here",
        }
    }
}

/// Reads the form of a result.
pub(super) fn output(reader: &mut Reader<'_>, node: &Node, allowed: Outputs) -> TaskOutput {
    let found = match &node.value {
        Value::Text(text) if text == "text" && allowed != Outputs::Fixed => Some(TaskOutput::Text),
        Value::Table(_) if allowed == Outputs::Any => {
            let schema = node.to_json();
            let is_object = schema.get("type").and_then(Json::as_str) == Some("object");
            is_object.then_some(TaskOutput::Schema(schema))
        }
        _ => None,
    };
    found.unwrap_or_else(|| {
        reader.problem(node.place, allowed.names());
        TaskOutput::Standard
    })
}
