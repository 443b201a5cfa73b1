//! [`RemoteTool`]: the definition of a tool that a server offers.

use std::borrow::Cow;

use agcore_chat::{
    ToolAnnotations,
    text::{clip, prefix},
    tool_name,
};
use rmcp::model::Tool;
use serde_json::{Map, Value, json};

use crate::convert::repair_schema;

/// The longest description that is kept, in bytes.
const DESCRIPTION_BYTES: usize = 16 * 1024;

/// The definition of a tool that a server offers.
///
/// The description comes from the server. A model reads it, so it can try to instruct the model: it is data of a foreign
/// program, like every result of the tool. [`ToolsetOptions::with_filter`](crate::ToolsetOptions::with_filter) lets an
/// application check or replace it.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct RemoteTool {
    /// The name that the server knows.
    pub name: String,
    /// The description for the model; empty if the server has none.
    pub description: String,
    /// The JSON Schema of the arguments.
    pub parameters: Value,
    /// The JSON Schema of the structured result, if the server declares one.
    pub output_schema: Option<Value>,
    /// How the tool behaves, as the server claims. Never a reason to allow a call.
    pub annotations: ToolAnnotations,
}

impl RemoteTool {
    pub(crate) fn new(tool: Tool) -> Self {
        let mut parameters = Value::Object(tool.input_schema.as_ref().clone());
        repair_schema(&mut parameters);
        // Every schema of arguments describes an object; some servers leave that out.
        if let Value::Object(members) = &mut parameters {
            members.entry("type").or_insert_with(|| json!("object"));
        }
        let output_schema = tool.output_schema.map(|schema| {
            let mut schema = Value::Object(schema.as_ref().clone());
            repair_schema(&mut schema);
            schema
        });
        let mut annotations = ToolAnnotations::new();
        let hints = tool.annotations.unwrap_or_default();
        annotations.title = tool.title.or(hints.title).map(|title| clip(&title, 200).into_owned());
        annotations.read_only = hints.read_only_hint;
        annotations.destructive = hints.destructive_hint;
        annotations.idempotent = hints.idempotent_hint;
        annotations.open_world = hints.open_world_hint;
        Self {
            name: tool.name.into_owned(),
            description: clip(tool.description.as_deref().unwrap_or_default(), DESCRIPTION_BYTES).into_owned(),
            parameters,
            output_schema,
            annotations,
        }
    }

    /// Returns the name under which the tool is registered: every character that agcore does not accept becomes `_`.
    pub(crate) fn local_name(&self, prefix_bytes: usize) -> Cow<'_, str> {
        let room = tool_name::MAX_BYTES.saturating_sub(prefix_bytes);
        if self.name.len() <= room && tool_name::check(&self.name).is_ok() {
            return Cow::Borrowed(&self.name);
        }
        let is_accepted = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/');
        let name: String = self
            .name
            .chars()
            .map(|c| if is_accepted(c) { c } else { '_' })
            .collect();
        let name = prefix(&name, room);
        Cow::Owned(if name.is_empty() {
            "_".to_owned()
        } else {
            name.to_owned()
        })
    }
}

/// The arguments of a call.
pub(super) type JsonObject = Map<String, Value>;

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(name: &str, expected: &str) {
        let tool = serde_json::from_value(json!({"name": name, "inputSchema": {}})).unwrap();
        let tool = RemoteTool::new(tool);
        assert_eq!(tool.local_name(0), expected);
        assert_eq!(tool.parameters, json!({"type": "object"}));
    }

    #[test]
    fn local_names_are_accepted_by_the_registry() {
        check("fs.read-file/x_1", "fs.read-file/x_1");
        check("read file", "read_file");
        check("größe\n", "gr__e_");
        check("", "_");
        check(&"x".repeat(200), &"x".repeat(128));
    }
}
