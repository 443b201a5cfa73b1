//! An evaluation of an agent: cases in a file, the problems in the answers, and the difference between two agents.
//!
//! Most cases have the replies of the model, so that they test the agent and its tools. The last one asks the model: it is what a
//! change of a prompt or of a model may make better or worse. `agcore eval FILE` does the same on the command line.
//!
//! Run it: `cargo run --example evaluation`, or with a real model, as the [README](README.md) describes.

use std::{error::Error, sync::Arc};

use agcore::{
    LlmProvider,
    eval::{AgentTarget, Evaluation, Format, Report, Suite},
    tools::{ToolError, tool},
};
use agcore_testkit::scripted::{ScriptStep, ScriptedProvider};

const SUITE: &str = r#"
name = "guests"

[[cases]]
name = "counts with the tool"
input = "How many guests are 2 and 3?"
replies = [{ calls = [{ name = "count_guests", arguments = { first = 2, second = 3 } }] }, { text = "Five guests." }]

[cases.expect]
answer = { contains = ["Five"], excludes = ["4"] }
tools = { calls = [{ name = "count_guests", arguments = { first = 2 } }], order = "exact" }
max_steps = 2

[[cases]]
name = "remembers"
input = ["We are 5 guests.", "How many are we?"]
replies = [{ text = "Welcome!" }, { text = '{"guests": 4}' }]
expect.json = [{ pointer = "/guests", equals = 5 }]

[[cases]]
name = "greets"
input = "Hello, I am Ada."
expect.answer.contains = ["Ada"]
"#;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    // What is wrong with a file has a line and a column.
    if let Err(error) = Suite::parse("guests.toml", Format::Toml, &SUITE.replace("max_steps", "max_stops")) {
        println!("{error}");
    }

    let before = evaluate("You are a porter.", "Good day.").await?;
    let after = evaluate("You are a porter. Greet people by their names.", "Good day, Ada!").await?;
    println!("\nafter the change of the instructions:");
    for case in before.diff(&after).cases {
        println!("  {}: {}", case.case, case.change.as_str());
    }
    Ok(())
}

/// Evaluates an agent with these instructions. Offline, its model answers the last case like this.
async fn evaluate(instructions: &'static str, answer: &str) -> Result<Report, Box<dyn Error>> {
    let suite = Suite::parse("guests.toml", Format::Toml, SUITE)?;
    let model: Arc<dyn LlmProvider> = agcore_examples::model(ScriptedProvider::new([ScriptStep::text(answer)]))?;
    let target = AgentTarget::new(move |model| {
        agcore::agent(model)
            .with_instructions(instructions)
            .with_tool(count_guests_tool())
            .build()
    });
    let report = Evaluation::new(suite, target.with_model(model)).run().await;
    println!("\n{} of {} passed", report.passed(), report.results.len());
    for result in &report.results {
        for (check, problem) in result.problems() {
            println!("  {}: {check}: {problem}", result.case);
        }
    }
    Ok(report)
}

/// Adds two numbers of guests.
#[tool]
async fn count_guests(first: u32, second: u32) -> Result<u32, ToolError> {
    Ok(first + second)
}
