//! Patterns, which only the feature `schema` understands.

use agcore_tools::{ToolErrorKind, ToolRegistry};
use serde_json::json;

use crate::support::{Echo, error_text, executor_for, settle, text};

#[test]
fn rejects_invalid_patterns_at_registration() {
    let schema = json!({"type": "object", "properties": {"a": {"pattern": "("}}});
    let error = ToolRegistry::new()
        .register(Echo::new("t").with_parameters(schema))
        .expect_err("the pattern is invalid");
    assert_eq!(error.kind(), ToolErrorKind::Config);
    assert!(error.message().contains('('), "{error}");
}

#[tokio::test]
async fn hostile_patterns_take_linear_time() {
    let schema = json!({"type": "object", "properties": {"a": {"type": "string", "pattern": "^(a+)+$"}}});
    let executor = executor_for([Echo::new("t").with_parameters(schema)]).build().unwrap();
    // An engine with backtracking would not return from this.
    error_text(&settle(&executor, "t", json!({"a": format!("{}!", "a".repeat(100_000))})).await);
}

#[tokio::test]
async fn accepts_and_checks_patterns_with_look_around() {
    let email = r"^(?!\.)(?!.*\.\.)([A-Za-z0-9_'+\-\.]*)[A-Za-z0-9_+-]@([A-Za-z0-9][A-Za-z0-9\-]*\.)+[A-Za-z]{2,}$";
    let schema = json!({"type": "object", "properties": {"to": {"type": "string", "pattern": email}}});
    let executor = executor_for([Echo::new("t").with_parameters(schema)]).build().unwrap();
    text(&settle(&executor, "t", json!({"to": "ann@example.org"})).await);
    error_text(&settle(&executor, "t", json!({"to": ".ann@example.org"})).await);

    // A pattern whose check takes too long is not enforced.
    let schema = json!({"type": "object", "properties": {"a": {"type": "string", "pattern": r"^(a|aa)+(?=b)\1$"}}});
    let executor = executor_for([Echo::new("t").with_parameters(schema)]).build().unwrap();
    text(&settle(&executor, "t", json!({"a": "a".repeat(10_000)})).await);
}
