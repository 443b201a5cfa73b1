//! Tools of an MCP server for an agent, and a registry as an MCP server.
//!
//! Server and client are in one program here, connected in memory. A real server is usually a process:
//! `McpClient::connect("files", StdioTransport::new("npx").with_args([…]))`. Foreign tools run only if a rule or a person
//! allows it: this agent may look things up, and is refused an order.
//!
//! Run it: `cargo run --example mcp_tools`, or with a real model, as the [README](README.md) describes.

use std::error::Error;

use agcore::{
    chat::{Role, ToolCall},
    mcp::{McpClient, McpServer, McpTransport, ToolsetOptions},
    tools::{PermissionRules, Rule, RuleState, ToolRegistry, tool},
};
use agcore_testkit::scripted::{ScriptStep, ScriptedProvider};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let (ours, theirs) = tokio::io::duplex(65_536);
    tokio::spawn(serve(theirs));

    let (read, write) = tokio::io::split(ours);
    let client = McpClient::connect("shop", McpTransport::streams(read, write)).await?;
    let server = client.server();
    println!("server  {} speaks {}", server.name.unwrap_or_default(), server.protocol);

    // The registry follows the server: if it adds or removes tools, so does the registry.
    let tools = ToolRegistry::new();
    let toolset = client
        .register_into(&tools, ToolsetOptions::new().with_prefix("shop_"))
        .await?;
    for problem in toolset.problems() {
        println!("problem {problem}");
    }
    for tool in tools.list() {
        println!("tool    {}: {}", tool.name(), tool.tool().description());
    }

    let session = agcore::agent(agcore_examples::model(offline())?)
        .with_instructions("You help customers of a shop.")
        .with_tools(tools)
        .with_permissions(PermissionRules::default().with_rule(Rule::tool(RuleState::Allow, "shop_stock")))
        .session()?;
    let outcome = session.turn("Is A-100 in stock? Then order one.").await?;
    for message in session.messages().await {
        if message.role() == Role::Tool {
            println!("result  {}", message.text());
        }
    }
    println!("answer  {}", outcome.text());

    client.close().await;
    Ok(())
}

/// Serves one client. A program that is started by its clients would call `serve_stdio` instead.
async fn serve(stream: tokio::io::DuplexStream) -> Result<(), agcore::mcp::McpError> {
    let tools = ToolRegistry::new();
    // The names are different, and the schemas valid, so this cannot fail.
    for problem in tools.register_valid(agcore::tools::tools![stock_tool(), order_tool()]) {
        eprintln!("{problem}");
    }
    let (read, write) = tokio::io::split(stream);
    McpServer::new(tools).serve(read, write).await
}

/// Looks up how many of an article are in stock.
#[tool(read_only)]
async fn stock(
    /// The number of the article, such as A-100.
    article: String,
) -> Result<String, String> {
    match article.as_str() {
        "A-100" => Ok("7 in stock".to_owned()),
        _ => Err(format!("there is no article {article}")),
    }
}

/// Orders one of an article.
#[tool]
async fn order(
    /// The number of the article, such as A-100.
    article: String,
) -> Result<String, String> {
    Ok(format!("{article} is ordered"))
}

/// The model that is used without `AGCORE_MODEL`.
fn offline() -> ScriptedProvider {
    let step = |id, tool, arguments| ScriptStep::calls([ToolCall::function(id, tool, arguments)]);
    ScriptedProvider::new([
        step("call_1", "shop_stock", r#"{"article": "A-101"}"#),
        step("call_2", "shop_stock", r#"{"article": "A-100"}"#),
        step("call_3", "shop_order", r#"{"article": "A-100"}"#),
        ScriptStep::text("It is in stock, but I am not allowed to order it."),
    ])
}
