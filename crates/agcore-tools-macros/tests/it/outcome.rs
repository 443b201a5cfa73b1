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
    assert_eq!(call(&divide_tool(), json!({"a": 6, "b": 2})).await.unwrap(), 3);
    let error = call(&divide_tool(), json!({"a": 6, "b": 0})).await.unwrap_err();
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
    assert_eq!(call(&output_tool(), json!({})).await.unwrap(), json!({"a": 1}));
    assert_eq!(call(&nameless_tool(), json!({})).await.unwrap(), json!([1, 2]));
}

#[tokio::test]
async fn a_function_that_cannot_fail_returns_a_value() {
    /// Doubles.
    #[tool]
    async fn double(a: i64) -> i64 {
        a * 2
    }
    /// Greets, on a thread that may block.
    #[tool(blocking)]
    fn greet() -> &'static str {
        "Good day"
    }
    /// Finds nothing.
    #[tool]
    async fn find() -> Option<String> {
        None
    }
    assert_eq!(call(&double_tool(), json!({"a": 4})).await.unwrap(), 8);
    assert_eq!(call(&greet_tool(), json!({})).await.unwrap(), "Good day");
    assert_eq!(call(&find_tool(), json!({})).await.unwrap(), json!(null));
    assert_eq!(double(5).await, 10);
}

#[tokio::test]
async fn a_failure_behind_an_alias_is_not_a_value() {
    /// An alias that no attribute can recognize by its name, with an error that could be serialized.
    type Answer = Result<String, String>;
    /// Fails.
    #[tool]
    async fn fail() -> Answer {
        Err("it is closed".to_owned())
    }
    let error = call(&fail_tool(), json!({})).await.unwrap_err();
    assert!(error.to_string().contains("it is closed"), "{error}");
}

/// An error type of the application.
#[derive(Debug)]
struct Closed(&'static str);

impl std::fmt::Display for Closed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} is closed", self.0)
    }
}

impl std::error::Error for Closed {}

/// Visits a place.
#[tool]
async fn visit(place: String) -> Result<String, Closed> {
    if place == "zoo" {
        Err(Closed("the zoo"))
    } else {
        Ok(place)
    }
}

/// Counts the visitors of a place.
#[tool]
async fn visitors(place: String, count: String) -> Result<i64, Box<dyn std::error::Error + Send + Sync>> {
    visit(place).await?;
    Ok(count.parse::<i64>()?)
}

/// Hides why it fails.
#[tool]
async fn secretive() -> Result<(), ToolError> {
    Err(ToolError::other(Closed("the vault")))
}

#[tokio::test]
async fn the_model_sees_the_text_of_any_error() {
    for (tool, arguments, expected) in [
        (visit_tool(), json!({"place": "zoo"}), "the zoo is closed"),
        (
            visitors_tool(),
            json!({"place": "zoo", "count": "1"}),
            "the zoo is closed",
        ),
        (
            visitors_tool(),
            json!({"place": "x", "count": "y"}),
            "invalid digit found in string",
        ),
        (secretive_tool(), json!({}), "the tool failed"),
    ] {
        assert_eq!(call(&tool, arguments).await.unwrap_err().model_text(), expected);
    }
}
