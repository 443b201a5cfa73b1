//! A planner loop from a file: a model plans todos, calls tools, reflects on their results, and writes the output.
//!
//! The agent and the wording of its tasks are in [flows/garden.flow.yaml](flows/garden.flow.yaml). Every node writes one record of
//! what it did, and the last record decides what comes next. The planner writes down what is to be done as
//! todos.
//!
//! Run it: `cargo run --example planner_loop`, or with a real model, as the [README](README.md) describes.

use std::error::Error;

use agcore::{
    AgentBuilder,
    chat::SystemClock,
    flow::{CallTool, FlowFile, PlannerFlow, PlannerState},
    tools::tool,
};
use agcore_testkit::scripted::{ScriptStep, ScriptedProvider};

const FILE: &str = include_str!("flows/garden.flow.yaml");

/// Measures a bed of the garden.
#[tool(read_only)]
async fn measure(
    /// The name of the bed.
    bed: String,
) -> Result<String, String> {
    let size = if bed == "north" { 4 } else { 6 };
    Ok(format!("the {bed} bed has {size} m²"))
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let file = FlowFile::parse("garden.flow.yaml", FILE, |_| Err("there are no other files".to_owned()))?;
    let bundle = AgentBuilder::new()
        .with_provider(agcore_examples::model(offline())?)
        .build()?;
    let flow = PlannerFlow::new(file, bundle)
        .with_tool(CallTool::new(measure_tool())?)
        .build(SystemClock::new())?;
    let state = match flow.run(PlannerState::new("Plan beans for both beds.")).await {
        Ok(outcome) => outcome.into_state()?,
        Err(error) => {
            println!("no plan: {error}");
            return Ok(());
        }
    };
    let turn = state.runtime.turn();
    for action in state.runtime.action_history().get(turn).into_iter().flatten() {
        println!("{:2} {:<12} {}", action.id, action.node, action.summary);
    }
    for todo in state
        .runtime
        .todos
        .get(turn)
        .map(|todos| todos.todos())
        .unwrap_or_default()
    {
        println!("todo {:<8} {:?}", todo.id, todo.status);
    }
    println!("{}", state.answer().unwrap_or_default());
    Ok(())
}

/// The model that is used without `AGCORE_MODEL`.
fn offline() -> ScriptedProvider {
    ScriptedProvider::new([
        ScriptStep::text(
            r#"{"summary": "The beds must be measured first.", "next": "measure", "calls": [{"bed": "north"}, {"bed": "south"}],
                "todo": "measure", "new_todos": [{"id": "measure", "task": "Measure both beds"}]}"#,
        ),
        ScriptStep::text(
            r#"{"summary": "Both sizes are known.", "relevance": 0.9, "is_todo_done": true,
                "todo_result": "4 and 6 m²", "is_finished": false}"#,
        ),
        ScriptStep::text(r#"{"summary": "The plan can be written.", "next": "finish", "calls": []}"#),
        ScriptStep::text("Sow 40 beans in the north bed and 60 in the south bed."),
    ])
}
