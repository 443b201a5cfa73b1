//! Options: permissions, annotations, the output schema.

use std::time::Duration;

use agcore_tools::{
    Permission, ToolAnnotations, ToolError, ToolRegistry,
    schemars::{self, JsonSchema},
    tool,
};
use serde::Serialize;
use serde_json::json;

const KEY: &str = "ledger";

#[derive(Serialize, JsonSchema)]
struct Balance {
    /// In cents.
    amount: i64,
}

/// Books money.
#[tool(
    name = "book",
    title = "Book money",
    permissions(read, write, delete, network, shell, file_system, "acme:billing/refund"),
    read_only = false,
    destructive,
    idempotent = true,
    open_world,
    stable_display,
    concurrency_key = KEY,
    output = Balance,
)]
async fn everything(amount: i64) -> Result<Balance, ToolError> {
    Ok(Balance { amount })
}

/// Declares nothing about itself.
#[tool()]
async fn nothing() -> Result<(), ToolError> {
    Ok(())
}

#[test]
fn declares_permissions() {
    let custom = Permission::custom("acme:billing/refund").unwrap();
    let all = [
        Permission::Read,
        Permission::Write,
        Permission::Delete,
        Permission::Network,
        Permission::Shell,
        Permission::FileSystem,
        custom,
    ];
    assert_eq!(everything_tool().tool().required_permissions(), all);
    assert_eq!(nothing_tool().tool().required_permissions(), []);
}

#[test]
fn declares_annotations() {
    let expected = ToolAnnotations::new()
        .with_title("Book money")
        .with_read_only(false)
        .with_destructive(true)
        .with_idempotent(true)
        .with_open_world(true)
        .with_stable_display(true)
        .with_concurrency_key("ledger");
    assert_eq!(everything_tool().tool().annotations(), expected);
    assert_eq!(nothing_tool().tool().annotations(), ToolAnnotations::new());
}

#[test]
fn derives_the_output_schema_from_a_type() {
    let schema = everything_tool().tool().output_schema().cloned().unwrap();
    assert_eq!(schema["properties"]["amount"]["description"], "In cents.");
    assert_eq!(schema["required"], json!(["amount"]));
    assert_eq!(nothing_tool().tool().output_schema(), None);
}

/// Takes its time.
#[tool(timeout = "1500ms")]
async fn patient() -> Result<(), ToolError> {
    Ok(())
}

/// Takes its time, too.
#[tool(timeout = LIMIT * 2)]
async fn more_patient() -> Result<(), ToolError> {
    Ok(())
}

const LIMIT: Duration = Duration::from_secs(5);

#[test]
fn sets_the_timeout_of_calls() {
    let tools = ToolRegistry::new();
    tools
        .register_all([patient_tool(), more_patient_tool(), nothing_tool()])
        .unwrap();
    let timeout = |name: &str| tools.get(name).unwrap().timeout();
    assert_eq!(timeout("patient"), Some(Duration::from_millis(1500)));
    assert_eq!(timeout("more_patient"), Some(Duration::from_secs(10)));
    assert_eq!(timeout("nothing"), None);
}
