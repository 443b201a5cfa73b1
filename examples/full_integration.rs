//! All parts together: an assistant of a small shop, whose sessions outlive the process.
//!
//! It knows a wiki, looks up the stock with a tool of an MCP server, asks another agent to write a letter, and notes in the memory of
//! the session who the customer is. It has a budget, and keeps everything in a SQLite file. Later, the session is opened again.
//!
//! Run it: `cargo run --example full_integration`, or with a real model, as the [README](README.md) describes.

use std::{error::Error, path::Path, sync::Arc};

use agcore::{
    AgentBuilder, AgentSpec, LlmProvider,
    agent::{AgentConfig, SessionMemoryTools, StoredSessions, SubAgent, TeamLimits},
    chat::{Role, SystemClock, ToolCall},
    llm::{Budget, Budgets},
    mcp::{McpClient, McpServer, McpTransport, ToolsetOptions},
    memory::{
        knowledge::{KnowledgePage, KnowledgeStore},
        search::{InMemoryTextIndex, KnowledgeIndex, MemoryRetriever},
    },
    store::sqlite::SqliteStore,
    tools::{PermissionRules, Rule, RuleState, ToolRegistry, tool},
};
use agcore_testkit::scripted::{ScriptStep, ScriptedProvider};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let (ours, theirs) = tokio::io::duplex(65_536);
    tokio::spawn(serve(theirs));
    let (read, write) = tokio::io::split(ours);
    let warehouse = McpClient::connect("warehouse", McpTransport::streams(read, write)).await?;

    let model = agcore_examples::model(offline())?;
    let sessions = sessions(folder.path(), Arc::clone(&model), &warehouse).await?;
    let session = sessions.create("customer-7", assistant()).await?;
    for question in [
        "I am Ada, in Berlin. How long does green tea take, and do you have some?",
        "Please write me a note for my kitchen.",
    ] {
        println!("customer  {question}");
        let outcome = session.turn(question).await?;
        let messages = session.messages().await;
        let start = messages
            .iter()
            .rposition(|message| message.role() == Role::User)
            .unwrap_or(0);
        for reply in messages[start..].iter().filter_map(|message| message.as_assistant()) {
            for call in reply.tool_calls() {
                println!("  used    {}", call.name);
            }
        }
        println!("assistant {}", outcome.text());
    }
    let spent = session.spent().await;
    println!("the session made {} model calls", spent.model_calls);

    // Later, in another process: the file has everything.
    drop((session, sessions));
    let sessions = self::sessions(folder.path(), model, &warehouse).await?;
    let session = sessions.open("customer-7", assistant()).await?;
    println!("stored    {} messages", session.messages().await.len());
    println!("customer  Who am I?");
    println!("assistant {}", session.turn("Who am I?").await?.text());

    warehouse.close().await;
    Ok(())
}

fn assistant() -> AgentSpec {
    AgentSpec::new("assistant", "You help the customers of a tea shop. Use the tools.")
}

/// Puts the parts together. Each process does this for itself.
async fn sessions(
    folder: &Path,
    model: Arc<dyn LlmProvider>,
    warehouse: &McpClient,
) -> Result<StoredSessions, Box<dyn Error>> {
    let clock = SystemClock::shared();
    let store = Arc::new(SqliteStore::open(folder.join("shop.db"), clock.clone()).await?);
    let pages: Arc<dyn KnowledgeStore> = Arc::clone(&store) as _;
    pages
        .upsert_many(vec![KnowledgePage::new(
            "tea/green",
            "Green tea",
            "Two minutes are enough, or it turns bitter.\n",
        )])
        .await?;
    let index = KnowledgeIndex::new(Arc::clone(&pages), Arc::new(InMemoryTextIndex::new()));
    let retriever = MemoryRetriever::new(Arc::new(index), clock);

    // The registry follows the server: if it adds or removes tools, so does the registry.
    let tools = ToolRegistry::new();
    warehouse
        .register_into(&tools, ToolsetOptions::new().with_prefix("warehouse_"))
        .await?;

    let writer = AgentSpec::new("writer", "You write short, friendly notes.").with_tools::<String>([]);
    let bundle = AgentBuilder::new()
        .with_provider(model)
        .with_tools(tools)
        .with_tool(SubAgent::new(writer, "Writes notes and letters.").with_budget(Budget::new().with_model_calls(2)))
        .with_tools(SessionMemoryTools::new())
        .with_knowledge(retriever)
        .with_permissions(PermissionRules::default().with_rule(Rule::tool(RuleState::Allow, "warehouse_*")))
        .with_session_memory(Arc::clone(&store))
        .with_session_store(store)
        .with_config(
            AgentConfig::new()
                .with_budgets(Budgets::new().with_session(Budget::new().with_model_calls(20)))
                .with_team(TeamLimits::new().with_max_depth(1)),
        )
        .build()?;
    Ok(bundle.stored_sessions()?)
}

/// The server of the warehouse. A real one is usually another process.
async fn serve(stream: tokio::io::DuplexStream) -> Result<(), agcore::mcp::McpError> {
    let tools = ToolRegistry::new();
    for problem in tools.register_valid(agcore::tools::tools![stock_tool()]) {
        eprintln!("{problem}");
    }
    let (read, write) = tokio::io::split(stream);
    McpServer::new(tools).serve(read, write).await
}

/// Looks up how many packets of a tea are in stock.
#[tool(read_only)]
async fn stock(
    /// The tea, such as `green`.
    tea: String,
) -> Result<String, String> {
    match tea.as_str() {
        "green" => Ok("7 packets".to_owned()),
        other => Err(format!("there is no {other} tea")),
    }
}

/// The model that is used without `AGCORE_MODEL`: it looks things up, asks the writer, and answers.
fn offline() -> ScriptedProvider {
    ScriptedProvider::new([
        ScriptStep::calls([
            ToolCall::function(
                "call_0",
                "set_note",
                r#"{"key": "customer", "value": "Ada, in Berlin"}"#,
            ),
            ToolCall::function("call_1", "retrieve", r#"{"query": "green tea minutes"}"#),
            ToolCall::function("call_2", "warehouse_stock", r#"{"tea": "green"}"#),
        ]),
        ScriptStep::text("Two minutes (tea/green). We have 7 packets."),
        ScriptStep::calls([ToolCall::function(
            "call_3",
            "ask_writer",
            r#"{"task": "A note for a kitchen: green tea takes two minutes."}"#,
        )]),
        ScriptStep::text("Green tea: two minutes, then enjoy!"),
        ScriptStep::text("Here is your note: \"Green tea: two minutes, then enjoy!\""),
        ScriptStep::text("You are Ada, in Berlin."),
    ])
}
