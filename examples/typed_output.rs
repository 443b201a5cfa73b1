//! Typed output: answers that are values of a Rust type, with tools, repairs, and the value while it is written.
//!
//! Derive `Deserialize` and `JsonSchema`; doc comments are descriptions for the model. The capabilities of the provider decide
//! how the model is asked: through its response format, a tool, or instructions.
//!
//! Run it: `cargo run -p agcore-examples --example typed_output`.

#![expect(clippy::print_stdout, reason = "an example prints what it does")]

use std::error::Error;

use agcore::{
    LlmCycle,
    chat::{EventKind, TextEvent, ToolCall},
    llm::{OutputError, SystemClock},
    tools::{
        ToolError,
        schemars::{self, JsonSchema},
        tool,
    },
};
use agcore_testkit::scripted::{ScriptStep, ScriptedProvider};
use serde::Deserialize;

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
struct Trip {
    city: String,
    /// In the order in which they are visited.
    sights: Vec<Sight>,
    budget: Option<u32>,
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
struct Sight {
    name: String,
    kind: Kind,
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Kind {
    Museum,
    Park,
    Ship { built: u16 },
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    with_tools().await?;
    while_it_is_written().await?;
    never_valid().await
}

/// The model calls a tool first. Its first answer does not fit the type, so it is asked to correct it.
async fn with_tools() -> Result<(), Box<dyn Error>> {
    let model = ScriptedProvider::new([
        ScriptStep::calls([ToolCall::function("call_1", "sights", r#"{"city": "Oslo"}"#)]),
        ScriptStep::text(r#"{"city": "Oslo", "sights": [{"name": "Fram", "kind": "boat"}]}"#),
        ScriptStep::text(r#"{"city": "Oslo", "sights": [{"name": "Fram", "kind": {"ship": {"built": 1892}}}]}"#),
    ]);
    let session = agcore::agent(model.clone())
        .with_instructions("You plan trips.")
        .with_tool(sights_tool())
        .session()?;

    let trip = session
        .turn("What should I see in Oslo?")
        .typed::<Trip>()
        .await?
        .finished()?;
    println!("{:?}, corrected {} times", trip.value, trip.repairs);
    assert_eq!(trip.value.sights[0].kind, Kind::Ship { built: 1892 });
    assert_eq!((trip.value.budget, trip.repairs), (None, 1));

    // The hint to the model contains the path, what it wrote, and what was expected.
    let hint = model.requests()[2]
        .messages
        .last()
        .map(|message| message.text().into_owned());
    let hint = hint.unwrap_or_default();
    assert!(
        hint.contains("$.sights[0].kind: unknown variant `boat`, expected"),
        "{hint}"
    );
    Ok(())
}

/// Returns the sights of a city.
#[tool]
async fn sights(city: String) -> Result<String, ToolError> {
    Ok(format!("In {city}: the Fram, a ship of 1892."))
}

/// Partial values while the model writes.
async fn while_it_is_written() -> Result<(), Box<dyn Error>> {
    let answer = r#"{"city": "Rome", "sights": [{"name": "Villa Borghese", "kind": "park"}], "budget": 90}"#;
    let mut cycle = LlmCycle::new(ScriptedProvider::new([ScriptStep::text(answer)]), SystemClock::new());
    let mut turn = cycle.turn("And in Rome?").typed::<Trip>().stream();
    let mut parts = Vec::new();
    while let Some(event) = turn.next().await {
        if let EventKind::Text(TextEvent::PartialObject(part)) = event.kind {
            println!("{part}");
            parts.push(part);
        }
    }
    let trip = turn.finish().await?.finished()?;
    assert!(parts.len() > 3, "the value grows");
    assert_eq!(parts.last().map(|part| &part["budget"]), Some(&90.into()));
    assert_eq!(trip.value.budget, Some(90));
    Ok(())
}

/// A model that never returns a valid value costs a bounded number of calls.
async fn never_valid() -> Result<(), Box<dyn Error>> {
    let model = ScriptedProvider::new((0..10).map(|_| ScriptStep::text("Rome is lovely.")));
    let mut cycle = LlmCycle::new(model.clone(), SystemClock::new());
    let Err(error) = cycle.turn("And in Rome?").typed::<Trip>().await else {
        return Err("prose should not be a trip".into());
    };
    let rejected = error.source().and_then(|source| source.downcast_ref::<OutputError>());
    println!("{error}: {rejected:?}");
    assert!(rejected.is_some_and(|rejected| rejected.text == "Rome is lovely."));
    assert_eq!(model.requests().len(), 3);
    assert_eq!(cycle.usage().calls, 3);
    Ok(())
}
