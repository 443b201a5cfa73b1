//! Typed output: answers that are values of a Rust type, with corrections, and the value while it is written.
//!
//! The attribute `#[output]` derives what a type needs; doc comments are descriptions for the model. The capabilities of the provider decide
//! how the model is asked: through its response format, a tool, or instructions.
//!
//! Run it: `cargo run --example typed_output`, or with a real model, as the [README](README.md) describes.

use std::error::Error;

use agcore::{
    AgentSession,
    chat::{EventKind, TextEvent, ToolCall},
    tools::{ToolError, output, tool},
};
use agcore_testkit::scripted::{ScriptStep, ScriptedProvider};

#[output]
#[derive(Debug)]
struct Trip {
    city: String,
    /// In the order in which they are visited.
    sights: Vec<Sight>,
    /// In euros.
    budget: Option<u32>,
}

#[output]
#[derive(Debug)]
struct Sight {
    name: String,
    kind: Kind,
}

#[output]
#[derive(Debug)]
#[serde(rename_all = "snake_case")]
enum Kind {
    Museum,
    Park,
    Ship { built: u16 },
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let session = agcore::agent(agcore_examples::model(offline())?)
        .with_instructions("You plan trips.")
        .with_tool(sights_tool())
        .session()?;
    whole(&session).await?;
    streamed(&session).await?;

    // A model that never returns a valid value costs a bounded number of calls.
    let stubborn = agcore::agent(ScriptedProvider::new(
        (0..10).map(|_| ScriptStep::text("Rome is lovely.")),
    ));
    whole(&stubborn.session()?).await
}

/// Returns the sights of a city.
#[tool]
async fn sights(city: String) -> Result<String, ToolError> {
    Ok(format!("In {city}: the Fram, a ship of 1892."))
}

/// Waits for the value. A value that does not fit the type is sent back to the model with an explanation.
async fn whole(session: &AgentSession) -> Result<(), Box<dyn Error>> {
    let turn = session.turn("What should I see in Oslo?").typed::<Trip>();
    match turn.await {
        Ok(outcome) => {
            let trip = outcome.finished()?;
            print_trip(&trip.value);
            println!("  after {} corrections", trip.repairs);
        }
        Err(error) => println!("no trip: {error}"),
    }
    Ok(())
}

/// Prints the value while the model writes it.
async fn streamed(session: &AgentSession) -> Result<(), Box<dyn Error>> {
    let mut turn = session.turn("And in Rome?").typed::<Trip>().stream();
    while let Some(event) = turn.next().await {
        if let EventKind::Text(TextEvent::PartialObject(part)) = event.kind {
            println!("  {part}");
        }
    }
    match turn.finish().await {
        Ok(outcome) => print_trip(&outcome.finished()?.value),
        Err(error) => println!("no trip: {error}"),
    }
    Ok(())
}

fn print_trip(trip: &Trip) {
    println!("{} (budget: {:?})", trip.city, trip.budget);
    for sight in &trip.sights {
        match &sight.kind {
            Kind::Ship { built } => println!("  {}, a ship of {built}", sight.name),
            Kind::Museum | Kind::Park => println!("  {}", sight.name),
        }
    }
}

/// The model that is used without `AGCORE_MODEL`. Its first answer has a kind of sight that does not exist.
fn offline() -> ScriptedProvider {
    ScriptedProvider::new([
        ScriptStep::calls([ToolCall::function("call_1", "sights", r#"{"city": "Oslo"}"#)]),
        ScriptStep::text(r#"{"city": "Oslo", "sights": [{"name": "Fram", "kind": "boat"}]}"#),
        ScriptStep::text(r#"{"city": "Oslo", "sights": [{"name": "Fram", "kind": {"ship": {"built": 1892}}}]}"#),
        ScriptStep::text(r#"{"city": "Rome", "sights": [{"name": "Villa Borghese", "kind": "park"}], "budget": 90}"#),
    ])
}
