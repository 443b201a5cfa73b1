//! What the tests share.

use std::sync::Arc;

use agcore_tools::{Arguments, BaseTool, TokioClock, ToolContext, ToolContextBuilder, ToolError};
use serde_json::{Value, json};

/// A context for one run.
pub(crate) fn context() -> ToolContextBuilder {
    ToolContext::builder(Arc::new(TokioClock::new())).session_id("session")
}

/// Calls a tool, and gives back the value of its output.
pub(crate) async fn call_in(context: &ToolContext, tool: &impl BaseTool, arguments: Value) -> Result<Value, ToolError> {
    let Value::Object(arguments) = arguments else {
        panic!("arguments are an object")
    };
    let output = tool.execute(&Arguments::from(arguments), context).await?;
    Ok(output.as_value().cloned().expect("a value"))
}

/// As [`call_in`], in a context without anything.
pub(crate) async fn call(tool: &impl BaseTool, arguments: Value) -> Result<Value, ToolError> {
    call_in(&context().build(), tool, arguments).await
}

/// The schema of one property.
#[track_caller]
pub(crate) fn property(tool: &impl BaseTool, name: &str) -> Value {
    tool.parameters()["properties"][name].clone()
}

/// The names of the arguments that must be given.
pub(crate) fn required(tool: &impl BaseTool) -> Value {
    tool.parameters().get("required").cloned().unwrap_or(json!([]))
}
