//! Helpers for the tests.

use std::sync::Arc;

use agcore_tools::{Arguments, BaseTool, SystemClock, ToolContext, ToolContextBuilder, ToolError};
use serde_json::{Value, json};

/// Returns a builder for the context of a run.
pub(crate) fn context() -> ToolContextBuilder {
    ToolContext::builder(Arc::new(SystemClock::new())).with_session_id("session")
}

/// Calls a tool and returns the value of its output.
pub(crate) async fn call_in(context: &ToolContext, tool: &impl BaseTool, arguments: Value) -> Result<Value, ToolError> {
    let Value::Object(arguments) = arguments else {
        panic!("the arguments are not an object")
    };
    let output = tool.execute(&Arguments::from(arguments), context).await?;
    Ok(output.as_value().cloned().expect("the output has a value"))
}

/// As [`call_in`], with an empty context.
pub(crate) async fn call(tool: &impl BaseTool, arguments: Value) -> Result<Value, ToolError> {
    call_in(&context().build(), tool, arguments).await
}

/// Returns the schema of one property.
#[track_caller]
pub(crate) fn property(tool: &impl BaseTool, name: &str) -> Value {
    tool.parameters()["properties"][name].clone()
}

/// Returns the names of the required arguments.
pub(crate) fn required(tool: &impl BaseTool) -> Value {
    tool.parameters().get("required").cloned().unwrap_or(json!([]))
}
