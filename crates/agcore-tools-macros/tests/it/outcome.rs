//! The return value of the function.

use agcore_tools::{ToolError, ToolErrorKind, ToolOutput, tool};
use serde::Serialize;
use serde_json::json;

use crate::support::call;

/// Divides.
#[tool]
async fn divide(a: i64, b: i64) -> Result<i64, ToolError> {
    let quotient = a.checked_div(b);
    quotient.ok_or_else(|| "division by zero is not defined".into())
}

#[tokio::test]
async fn returns_the_error_of_the_function() {
    assert_eq!(call(&divide(), json!({"a": 6, "b": 2})).await.unwrap(), 3);
    let error = call(&divide(), json!({"a": 6, "b": 0})).await.unwrap_err();
    assert_eq!(error.kind(), ToolErrorKind::ExecutionFailed);
    assert!(error.to_string().contains("not defined"), "{error}");
}

/// An alias for the usual result.
type Outcome<T> = Result<T, ToolError>;

#[tokio::test]
async fn accepts_any_value_that_converts_into_an_output() {
    /// Returns a `ToolOutput`.
    #[tool]
    async fn output() -> Result<ToolOutput, ToolError> {
        ToolOutput::json(&json!({"a": 1}))
    }
    /// Returns an unnamed type through an alias of the result.
    #[tool]
    async fn nameless() -> Outcome<impl Serialize> {
        Ok([1, 2])
    }
    assert_eq!(call(&output(), json!({})).await.unwrap(), json!({"a": 1}));
    assert_eq!(call(&nameless(), json!({})).await.unwrap(), json!([1, 2]));
}
