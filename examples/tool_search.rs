//! An agent with 300 tools: requests contain few of them, and the model loads what it needs.
//!
//! The tools have schemas of the size that MCP servers have. The program compares the first request with and without the search,
//! and shows which tools each request contains: a loaded tool follows the others, so that the beginning stays the same.
//!
//! Run it: `cargo run --example tool_search`, or with a real model, as the [README](README.md) describes.

use std::error::Error;

use agcore::{
    agent::ToolSearch,
    chat::{ChatRequest, HeuristicEstimator, TokenEstimator, ToolCall},
    tools::{Arguments, BaseTool, Registration, ToolContext, ToolError, ToolOutput, ToolRegistry},
};
use agcore_testkit::scripted::{ScriptStep, ScriptedProvider};
use async_trait::async_trait;
use serde_json::{Map, Value, json};

const QUESTION: &str = "Lock invoice 7 at the service desk, and send Ann a message about it.";

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let without = ScriptedProvider::new([ScriptStep::text("…")]);
    agcore::agent(without.clone())
        .with_tools(tools()?)
        .session()?
        .turn(QUESTION)
        .await?;

    let offline = offline();
    let session = agcore::agent(agcore_examples::model(offline.clone())?)
        .with_tools(tools()?)
        .with_tool_search(ToolSearch::above_tokens(10_000).pin("chat__send_message"))
        .session()?;
    let outcome = session.turn(QUESTION).await?;

    println!("first request without the search  {}", size(&without.requests()));
    let requests = offline.requests();
    if !requests.is_empty() {
        println!("first request with the search     {}", size(&requests));
    }
    for (number, request) in requests.iter().enumerate() {
        let names: Vec<&str> = request.tools.iter().map(|tool| tool.name()).collect();
        println!("tools of request {}  {}", number + 1, names.join(", "));
    }
    println!("answer  {}", outcome.text());
    Ok(())
}

/// Returns the size of the first request.
fn size(requests: &[std::sync::Arc<ChatRequest>]) -> String {
    let Some(first) = requests.first() else {
        return String::new();
    };
    let tokens = HeuristicEstimator::default().request(first);
    format!("about {tokens} tokens, {} tools", first.tools.len())
}

/// Returns 100 tools for each of three services.
fn tools() -> Result<ToolRegistry, ToolError> {
    let registry = ToolRegistry::new();
    let verbs = [
        "create", "send", "update", "delete", "list", "archive", "share", "export", "lock", "watch",
    ];
    let things = [
        "message",
        "page",
        "file",
        "user",
        "invoice",
        "event",
        "ticket",
        "branch",
        "order",
        "dashboard",
    ];
    for service in ["desk", "code", "chat"] {
        for (verb, thing) in verbs.iter().flat_map(|verb| things.map(|thing| (verb, thing))) {
            let tool = Remote::new(service, verb, thing);
            registry.register(Registration::new(tool).with_category(format!("mcp:{service}")))?;
        }
    }
    Ok(registry)
}

/// A tool of a service.
struct Remote {
    name: String,
    description: String,
    parameters: Value,
}

impl Remote {
    fn new(service: &str, verb: &str, thing: &str) -> Self {
        let members = ["id", "title", "labels", "assignee", "since", "until", "sort", "page"].map(|member| {
            let description =
                format!("The {member} of the {thing}, in the form that {service} shows in its pages and exports.");
            (member.to_owned(), json!({"type": "string", "description": description}))
        });
        let filter = json!({
            "type": "object",
            "description": "Only for those that fulfil all of these conditions.",
            "properties": {
                "state": {"type": "string", "enum": ["open", "closed", "all"], "default": "open"},
                "tags": {"type": "array", "items": {"type": "string"}, "maxItems": 20},
            },
        });
        let mut properties = Map::from_iter(members);
        properties.insert("filter".to_owned(), filter);
        Self {
            name: format!("{service}__{verb}_{thing}"),
            description: format!(
                "Use this to {verb} a {thing} at the {service}. Needs the right to do so; returns the {thing} as it is \
                 afterwards, with its history and the names of all who were informed about the change."
            ),
            parameters: json!({"type": "object", "properties": properties, "required": ["id"]}),
        }
    }
}

#[async_trait]
impl BaseTool for Remote {
    fn name(&self) -> &str {
        &self.name
    }

    fn description(&self) -> &str {
        &self.description
    }

    fn parameters(&self) -> &Value {
        &self.parameters
    }

    async fn execute(&self, arguments: &Arguments, _: &ToolContext) -> Result<ToolOutput, ToolError> {
        Ok(ToolOutput::text(format!("{} {}: done", self.name, arguments["id"])))
    }
}

/// Returns the model for runs without a real one.
fn offline() -> ScriptedProvider {
    let call = |name: &str, arguments: Value| ToolCall::function(name, name, arguments.to_string());
    ScriptedProvider::new([
        ScriptStep::calls([call("search_tools", json!({"query": "lock an invoice at the desk"}))]),
        ScriptStep::calls([
            call("desk__lock_invoice", json!({"id": "7"})),
            call(
                "chat__send_message",
                json!({"id": "ann", "title": "Invoice 7 is locked."}),
            ),
        ]),
        ScriptStep::text("Invoice 7 is locked, and Ann knows."),
    ])
}
