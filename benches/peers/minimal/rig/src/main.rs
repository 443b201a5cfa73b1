//! An agent with one tool, on rig.

use std::error::Error;

use rig_agent::{agent::AgentBuilder, rig_tool};
use rig_core::{
    providers::openai::OpenAI,
    tool::{ToolErrorKind, ToolExecutionError},
};

/// Returns the current temperature.
#[rig_tool]
async fn temperature(
    /// The city.
    city: String,
) -> Result<f64, ToolExecutionError> {
    match &*city {
        "Paris" => Ok(21.5),
        other => {
            let message = format!("no temperature of {other} is known");
            Err(ToolExecutionError::new(ToolErrorKind::InvalidArgs, message))
        }
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let agent = AgentBuilder::new(OpenAI::from_env()?.chat("gpt-4.1"))
        .preamble("You are a helpful assistant.")
        .tool(Temperature)
        .build();
    let response = agent.prompt("How warm is it in Paris?").max_turns(8).await?;
    println!("{}", response.output());
    Ok(())
}
