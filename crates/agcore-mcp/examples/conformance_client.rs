//! The client that the official conformance suite tests: `cargo xtask mcp-conformance` lets the suite start it, with the URL
//! of a server as the last argument.
#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "this is a program, which reads its arguments and prints its results"
)]

use std::{error::Error, sync::Arc};

use agcore_mcp::{
    Authorizer, ClientOptions, Elicitation, ElicitationAnswer, Elicitor, HttpTransport, Identity, InMemoryTokenStore,
    Lifecycle, McpClient, OAuth, RemoteTool, ToolCallRequest,
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

/// Signs in by itself: the authorization servers of the suite redirect at once.
struct Robot;

#[async_trait]
impl Authorizer for Robot {
    fn redirect_uri(&self) -> String {
        "http://localhost:8932/callback".to_owned()
    }

    async fn authorize(&self, _: &str, url: &str) -> Result<String, String> {
        let client = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none());
        let response = client.build().map_err(|error| error.to_string())?.get(url).send().await;
        let response = response.map_err(|error| error.to_string())?;
        let location = response.headers().get("location").and_then(|value| value.to_str().ok());
        location
            .map(str::to_owned)
            .ok_or_else(|| "the server did not redirect".to_owned())
    }
}

/// Returns how tokens are obtained in a scenario.
fn oauth(context: &Value) -> OAuth {
    let oauth = OAuth::new(Arc::new(InMemoryTokenStore::new()));
    let text = |name: &str| context[name].as_str().map(str::to_owned);
    match (text("client_id"), text("client_secret")) {
        (Some(id), Some(secret)) if context["grant_type"] == "client_credentials" => {
            oauth.with_client_credentials(id, secret)
        }
        (Some(id), secret) => oauth.with_authorizer(Robot).with_client(id, secret),
        _ => oauth
            .with_authorizer(Robot)
            .with_client_metadata_url("https://conformance-test.local/client-metadata.json"),
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    // Used by the client of the robot.
    let _ = rustls::crypto::ring::default_provider().install_default();
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
    let context: Value = serde_json::from_str(&variable(CONTEXT)).unwrap_or_default();
    let transport = HttpTransport::new(&url)?.with_oauth(oauth(&context));
    let client = McpClient::connect_with("suite", transport, options).await?;
    let tools = client.list_tools().await?;
    println!("{}: {} tools", variable(SCENARIO), tools.len());

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
