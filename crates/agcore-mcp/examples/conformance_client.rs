//! The client that the official conformance suite tests: `cargo xtask mcp-conformance` lets the suite start it, with the URL
//! of a server as the last argument.
#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "this is a program, which reads its arguments and prints its results"
)]

use std::error::Error;

use agcore_mcp::{
    ClientOptions, Elicitation, ElicitationAnswer, Elicitor, HttpTransport, Identity, Lifecycle, McpClient, RemoteTool,
    ToolCallRequest,
};
use async_trait::async_trait;
use serde_json::{Map, Value, json};

/// The variable with the name of the scenario.
const SCENARIO: &str = "MCP_CONFORMANCE_SCENARIO";

/// The variable with the revision of the protocol.
const REVISION: &str = "MCP_CONFORMANCE_PROTOCOL_VERSION";

/// The variable with the data of the scenario, as JSON.
const CONTEXT: &str = "MCP_CONFORMANCE_CONTEXT";

/// Accepts every question with the defaults of its schema.
struct Defaults;

#[async_trait]
impl Elicitor for Defaults {
    async fn ask(&self, question: &Elicitation) -> ElicitationAnswer {
        let members = question.schema["properties"].as_object().cloned().unwrap_or_default();
        let defaults = members
            .into_iter()
            .filter_map(|(name, schema)| Some((name, schema.get("default")?.clone())));
        ElicitationAnswer::Accept(defaults.collect())
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let variable = |name| std::env::var(name).unwrap_or_default();
    let url = std::env::args().next_back().ok_or("usage: conformance_client URL")?;
    let lifecycle = match variable(REVISION).as_str() {
        "" => Lifecycle::Negotiate,
        revision if revision < "2026-07-28" => Lifecycle::Handshake,
        _ => Lifecycle::Stateless,
    };
    let options = ClientOptions::new()
        .with_identity(Identity::new("agcore-conformance-client", env!("CARGO_PKG_VERSION")))
        .with_lifecycle(lifecycle)
        .with_elicitor(Defaults);
    let client = McpClient::connect_with("suite", HttpTransport::new(&url)?, options).await?;
    let tools = client.list_tools().await?;
    println!("{}: {} tools", variable(SCENARIO), tools.len());

    let context: Value = serde_json::from_str(&variable(CONTEXT)).unwrap_or_default();
    let calls = match context["toolCalls"].as_array() {
        Some(calls) => calls.iter().map(listed_call).collect(),
        None => tools.iter().map(invented_call).collect::<Vec<_>>(),
    };
    for call in calls {
        let name = call.name.clone();
        match client.call_tool(call, |_| {}).await {
            Ok(Ok(output)) => println!("{name}: {:?}", output.as_value()),
            Ok(Err(error)) => println!("{name} failed: {error}"),
            Err(error) => println!("{name} was not answered: {error}"),
        }
    }
    client.close().await;
    Ok(())
}

/// Returns a call that the scenario lists.
fn listed_call(call: &Value) -> ToolCallRequest {
    let arguments = call["arguments"].as_object().cloned().unwrap_or_default();
    ToolCallRequest::new(call["name"].as_str().unwrap_or_default()).with_arguments(arguments)
}

/// Returns a call with a value of the right type for each argument.
fn invented_call(tool: &RemoteTool) -> ToolCallRequest {
    let members = tool.parameters["properties"].as_object().cloned().unwrap_or_default();
    let value = |schema: &Value| match schema["type"].as_str() {
        Some("number" | "integer") => json!(5),
        Some("boolean") => json!(true),
        Some("array") => json!([]),
        Some("object") => json!({}),
        _ => json!("text"),
    };
    let arguments: Map<String, Value> = members
        .iter()
        .map(|(name, schema)| (name.clone(), value(schema)))
        .collect();
    ToolCallRequest::new(&*tool.name).with_arguments(arguments)
}
