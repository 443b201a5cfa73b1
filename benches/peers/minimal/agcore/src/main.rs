//! An agent with one tool, as a first project on agcore has it.

use std::env;

use agcore::tools::tool;

/// Returns the current temperature.
#[tool(read_only)]
async fn temperature(
    /// The city.
    city: String,
) -> Result<f64, String> {
    match &*city {
        "Paris" => Ok(21.5),
        other => Err(format!("no temperature of {other} is known")),
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), agcore::AgentError> {
    let key = env::var("OPENAI_API_KEY").unwrap_or_default();
    let session = agcore::agent(agcore::model("openai:gpt-4.1", key)?)
        .with_instructions("You are a helpful assistant.")
        .with_tool(temperature_tool())
        .session()?;
    let outcome = session.turn("How warm is it in Paris?").await?;
    println!("{}", outcome.text());
    Ok(())
}
