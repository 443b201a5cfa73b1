//! Full validation, which understands patterns.

use agcore_chat::SchemaCheck as _;
use agcore_tools::{Registration, SchemaValidator, ToolErrorKind, ToolRegistry};
use serde_json::{Value, json};

use crate::support::{Echo, error_text, executor_for, settle, text};

#[test]
fn rejects_invalid_patterns_at_registration() {
    let schema = json!({"type": "object", "properties": {"a": {"pattern": "("}}});
    let error = ToolRegistry::new()
        .register(Registration::new(Echo::new("t").with_parameters(schema)).with_full_validation())
        .expect_err("the pattern is invalid");
    assert_eq!(error.kind(), ToolErrorKind::Config);
    assert!(error.message().contains('('), "{error}");
}

#[tokio::test]
async fn hostile_patterns_take_linear_time() {
    let schema = json!({"type": "object", "properties": {"a": {"type": "string", "pattern": "^(a+)+$"}}});
    let executor = executor_for([Registration::new(Echo::new("t").with_parameters(schema)).with_full_validation()])
        .build()
        .unwrap();
    // An engine with backtracking would not return from this.
    error_text(&settle(&executor, "t", json!({"a": format!("{}!", "a".repeat(100_000))})).await);
}

#[tokio::test]
async fn accepts_and_checks_patterns_with_look_around() {
    let email = r"^(?!\.)(?!.*\.\.)([A-Za-z0-9_'+\-\.]*)[A-Za-z0-9_+-]@([A-Za-z0-9][A-Za-z0-9\-]*\.)+[A-Za-z]{2,}$";
    let schema = json!({"type": "object", "properties": {"to": {"type": "string", "pattern": email}}});
    let executor = executor_for([Registration::new(Echo::new("t").with_parameters(schema)).with_full_validation()])
        .build()
        .unwrap();
    text(&settle(&executor, "t", json!({"to": "ann@example.org"})).await);
    error_text(&settle(&executor, "t", json!({"to": ".ann@example.org"})).await);

    // A pattern whose check takes too long is not enforced.
    let schema = json!({"type": "object", "properties": {"a": {"type": "string", "pattern": r"^(a|aa)+(?=b)\1$"}}});
    let executor = executor_for([Registration::new(Echo::new("t").with_parameters(schema)).with_full_validation()])
        .build()
        .unwrap();
    text(&settle(&executor, "t", json!({"a": "a".repeat(10_000)})).await);
}

#[test]
fn the_validator_reports_paths_and_invalid_schemas() {
    let check = |schema: Value, value: Value| SchemaValidator::new().check(&schema, &value);
    let days = json!({"properties": {"days": {"items": {"type": "object", "required": ["city"]}}}});
    assert!(check(days.clone(), json!({"days": []})).is_ok());
    let violations = check(days, json!({"days": [1, {}]})).unwrap_err();
    let paths: Vec<_> = violations.iter().map(|violation| violation.path.as_str()).collect();
    assert_eq!(paths, ["$.days[0]", "$.days[1]"]);
    let invalid = check(json!({"type": 7}), json!(1)).unwrap_err();
    assert_eq!((invalid.len(), invalid[0].path.as_str()), (1, "$"));
    assert!(
        invalid[0].message.starts_with("the schema itself is invalid"),
        "{}",
        invalid[0]
    );
}
