//! A flow of three stages from a file: the intent is recognized, the task is executed, the result is reported.
//!
//! The agents and the wording of their tasks are in [flows/help-desk.flow.yaml](flows/help-desk.flow.yaml), so that they can be
//! changed without the program. A greeting is answered by the first stage alone. The run is saved after each stage: a program that
//! was killed continues it, and repeats no call of a tool that has finished.
//!
//! Run it: `cargo run --example staged_flow`, or with a real model, as the [README](README.md) describes.

use std::{error::Error, sync::Arc};

use agcore::{
    AgentBuilder,
    chat::{Actor, SystemClock, ToolCall},
    flow::{Checkpoints, FlowEvent, FlowFile, StagedFlow, StagedState},
    session::InMemorySessionStore,
    tools::tool,
};
use agcore_testkit::scripted::{ScriptStep, ScriptedProvider};

const FILE: &str = include_str!("flows/help-desk.flow.yaml");

/// Returns the state of an order.
#[tool(read_only)]
async fn order(
    /// The number of the order.
    number: u32,
) -> Result<String, String> {
    Ok(format!("order {number} was sent on Monday"))
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let file = FlowFile::parse("help-desk.flow.yaml", FILE, |_| {
        Err("there are no other files".to_owned())
    })?;
    // In production, a database: `agcore::store::sqlite::SqliteStore`.
    let store = Arc::new(InMemorySessionStore::new(SystemClock::shared()));
    let bundle = AgentBuilder::new()
        .with_provider(agcore_examples::model(offline())?)
        .with_tool(order_tool())
        .with_session_store(Arc::clone(&store))
        .build()?;
    let flow = StagedFlow::new(file, bundle).build(SystemClock::new())?;
    for (number, request) in ["Good morning!", "Where is my order 7?"].into_iter().enumerate() {
        println!("{request}");
        let run = format!("run-{number}");
        let checkpoints = Checkpoints::create(Arc::clone(&store), &Actor::local(), "help-desk", &run).await?;
        let state = StagedState::new(request).with_variable("shop", "Tea & Co");
        let run = flow.run(state).with_checkpoints(checkpoints).with_observer(print_node);
        match run.await {
            Ok(outcome) => println!("  {}", outcome.into_state()?.answer().unwrap_or_default()),
            Err(error) => println!("  no answer: {error}"),
        }
    }
    Ok(())
}

fn print_node(event: &FlowEvent) {
    if let FlowEvent::NodeFinished(record) = event {
        println!("  [{}] → {}", record.node, record.next.join(", "));
    }
}

/// The model that is used without `AGCORE_MODEL`.
fn offline() -> ScriptedProvider {
    ScriptedProvider::new([
        ScriptStep::text(
            r#"{"route": "DIRECT_EXECUTION", "intent_summary": "a greeting", "assistant_text": "Good morning! How can I help?",
                "execution_brief": null, "safety_flags": []}"#,
        ),
        ScriptStep::text(
            r#"{"route": "NEEDS_EXECUTION", "intent_summary": "the state of order 7", "assistant_text": null,
                "execution_brief": "Look up order 7.", "safety_flags": []}"#,
        ),
        ScriptStep::calls([ToolCall::function("call_1", "order", r#"{"number": 7}"#)]),
        ScriptStep::text(
            r#"{"status": "SUCCESS", "execution_summary": "found", "execution_data": {"sent": "Monday"},
                "report_brief": "Order 7 was sent on Monday."}"#,
        ),
        ScriptStep::text(
            r#"{"assistant_text": "Your order left on Monday. It arrives soon.", "response_metadata": {}}"#,
        ),
    ])
}
