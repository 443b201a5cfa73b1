//! [`SchemaTool`]: a tool whose schema must arrive unchanged.

use agcore_tools::{Arguments, BaseTool, ToolContext, ToolError, ToolOutput};
use async_trait::async_trait;
use serde_json::{Value, json};

/// A tool whose schema must arrive unchanged.
pub(crate) struct SchemaTool(Value);

impl SchemaTool {
    pub(crate) fn new() -> Self {
        let address = json!({"$anchor": "addressDef", "type": "object", "properties": {
            "street": {"type": "string"}, "city": {"type": "string"}}});
        let contact =
            json!([{"properties": {"phone": {"type": "string"}}}, {"properties": {"email": {"type": "string"}}}]);
        Self(json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "$defs": {"address": address},
            "properties": {
                "name": {"type": "string"},
                "address": {"$ref": "#/$defs/address"},
                "contactMethod": {"type": "string", "enum": ["phone", "email"]},
                "phone": {"type": "string"},
                "email": {"type": "string"},
            },
            "allOf": [{"anyOf": contact}],
            "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
            "then": {"required": ["phone"]},
            "else": {"required": ["email"]},
            "additionalProperties": false,
        }))
    }
}

#[async_trait]
impl BaseTool for SchemaTool {
    fn name(&self) -> &str {
        "json_schema_2020_12_tool"
    }

    fn description(&self) -> &str {
        "Has a schema with many keywords."
    }

    fn parameters(&self) -> &Value {
        &self.0
    }

    async fn execute(&self, arguments: &Arguments, _: &ToolContext) -> Result<ToolOutput, ToolError> {
        Ok(ToolOutput::text(arguments.as_value().to_string()))
    }
}
