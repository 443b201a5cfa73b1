//! [`TaskOutput`]: the form in which a task returns its result.

use agcore_document::Field;
use serde_json::Value as Json;

use super::{
    form::{Output, TextOutput},
    kind::Outputs,
    report::Report,
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
    /// A value that fits this JSON Schema of an object. Models that return another value are asked to correct it.
    Schema(Json),
}

/// Checks the form of a result.
pub(super) fn output(report: &mut Report<'_>, form: Field<Output>, allowed: Outputs) -> TaskOutput {
    let found = match form.value {
        None => return TaskOutput::Standard,
        Some(Output::Scalar(TextOutput::Text)) => (allowed != Outputs::Fixed).then_some(TaskOutput::Text),
        Some(Output::Other(schema)) => {
            let is_object = schema.get("type").and_then(Json::as_str) == Some("object");
            (is_object && allowed == Outputs::Any).then(|| TaskOutput::Schema(Json::Object(schema)))
        }
    };
    found.unwrap_or_else(|| {
        report.problem(form.place, allowed.names());
        TaskOutput::Standard
    })
}
