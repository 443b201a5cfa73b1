//! Tools that a client offers, and how the model may use them.

use agcore_chat::{ToolDefinition, tool_name};
use serde_json::{Map, Value};

use super::{fields::Fields, limits::RequestLimits};
use crate::error::ApiError;

/// The place of the members of a function.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// In the member `function`, as in Chat Completions.
    Nested,
    /// Beside the type, as in Responses.
    Flat,
}

/// Reads the tools; there are no tools if `tool_choice` forbids them.
///
/// # Errors
/// When a tool has a wrong form or another type, or the choice cannot be honoured.
pub(super) fn tools(fields: &mut Fields, form: Form, limits: &RequestLimits) -> Result<Vec<ToolDefinition>, ApiError> {
    let is_off = match fields.take("tool_choice") {
        None => false,
        Some(Value::String(choice)) if choice == "auto" => false,
        Some(Value::String(choice)) if choice == "none" => true,
        Some(_) => {
            let reason = "the agent decides which tools it calls; send `auto` or `none`";
            return Err(ApiError::unsupported("tool_choice", reason));
        }
    };
    let reason = "the agent may call several tools at once";
    fields.refuse("parallel_tool_calls", reason, |value| *value == Value::Bool(true))?;
    let tools = fields.array("tools", limits.max_tools)?.into_iter().enumerate();
    let tools = tools.map(|(index, value)| tool(value, &format!("tools[{index}]"), form, limits));
    let tools = tools.collect::<Result<Vec<_>, _>>()?;
    Ok(match is_off {
        true => Vec::new(),
        false => tools,
    })
}

fn tool(value: Value, path: &str, form: Form, limits: &RequestLimits) -> Result<ToolDefinition, ApiError> {
    let (bytes, max) = (value.to_string().len(), limits.max_tool_bytes);
    if bytes > max {
        let message = format!("`{path}` has {bytes} bytes, and {max} are allowed; shorten the schema");
        return Err(ApiError::too_large(path, message));
    }
    let mut fields = Fields::of(value, path)?;
    if fields.text("type")? != "function" {
        let reason = "only tools of the type `function` can be offered; the agent has its own";
        return Err(ApiError::unsupported(&fields.path("type"), reason));
    }
    if form == Form::Nested {
        let function = fields.object("function")?;
        fields = function.ok_or_else(|| fields.invalid("function", "is missing; it must be an object"))?;
    }
    let name = fields.text("name")?;
    tool_name::check(&name)
        .map_err(|_| fields.invalid("name", "must have 1 to 128 letters, digits, `_`, `-`, `.` and `/`"))?;
    let description = fields.optional_text("description")?.unwrap_or_default();
    let parameters = match fields.take("parameters") {
        None => Value::Object(Map::new()),
        Some(parameters @ Value::Object(_)) => parameters,
        Some(_) => return Err(fields.invalid("parameters", "must be a JSON Schema")),
    };
    Ok(ToolDefinition::new(name, description, parameters))
}
