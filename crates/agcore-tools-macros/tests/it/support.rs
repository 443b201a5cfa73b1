//! Helpers for the tests.

use std::sync::Arc;

use agcore_tools::{Arguments, Registration, SystemClock, ToolContext, ToolContextBuilder, ToolError};
use serde_json::{Value, json};

/// Returns a builder for the context of a run.
pub(crate) fn context() -> ToolContextBuilder {
    ToolContext::builder(Arc::new(SystemClock::new())).with_session_id("session")
}

/// Calls a tool and returns the value of its output.
pub(crate) async fn call_in(context: &ToolContext, tool: &Registration, arguments: Value) -> Result<Value, ToolError> {
    let Value::Object(arguments) = arguments else {
        panic!("the arguments are not an object")
    };
    let output = tool.tool().execute(&Arguments::from(arguments), context).await?;
    Ok(output.as_value().cloned().expect("the output has a value"))
}

/// As [`call_in`], with an empty context.
pub(crate) async fn call(tool: &Registration, arguments: Value) -> Result<Value, ToolError> {
    call_in(&context().build(), tool, arguments).await
}

/// Returns the schema of one property.
#[track_caller]
pub(crate) fn property(tool: &Registration, name: &str) -> Value {
    tool.tool().parameters()["properties"][name].clone()
}

/// Returns the names of the required arguments.
pub(crate) fn required(tool: &Registration) -> Value {
    tool.tool().parameters().get("required").cloned().unwrap_or(json!([]))
}
