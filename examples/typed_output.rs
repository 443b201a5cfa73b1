//! Typed output: the answer is a value of a type, with tools on the way, mended when it does not fit, seen while it is written.
//!
//! Derive `Deserialize` and `JsonSchema`; doc comments are for the model. How the model is asked (by the vendor's own form
//! of the answer, by a tool, in the prompt) follows from what the provider can do.
//!
//! Run it: `cargo run -p agcore-examples --example typed_output`.

#![expect(clippy::print_stdout, reason = "an example prints what it does")]

use std::error::Error;

use agcore::{
    AgentBuilder, AgentSpec, LlmCycle, Message, ToolRegistry,
    chat::{EventKind, TextEvent, ToolCall},
    llm::{Output, OutputError, SystemClock, TurnOptions, TypedOptions, cycle::machine::Begin},
    tools::{
        ToolError,
        schemars::{self, JsonSchema},
        typed,
    },
};
use agcore_testkit::scripted::{ScriptStep, ScriptedProvider};
use futures_util::StreamExt;
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
    a_session_with_tools().await?;
    watched().await?;
    never_valid().await
}

/// The model calls a tool first; its first answer does not fit, and it mends it.
async fn a_session_with_tools() -> Result<(), Box<dyn Error>> {
    let tools = ToolRegistry::new();
    tools.register(typed("sights", "The sights of a city.", sights))?;
    let model = ScriptedProvider::new([
        ScriptStep::calls([ToolCall::function("call_1", "sights", r#"{"city": "Oslo"}"#)]),
        ScriptStep::text(r#"{"city": "Oslo", "sights": [{"name": "Fram", "kind": "boat"}]}"#),
        ScriptStep::text(r#"{"city": "Oslo", "sights": [{"name": "Fram", "kind": {"ship": {"built": 1892}}}]}"#),
    ]);
    let bundle = AgentBuilder::new()
        .with_provider(model.clone())
        .with_tools(tools)
        .build()?;
    let session = bundle.session("trip", AgentSpec::new("guide", "You plan trips."));

    let trip = session
        .turn("What shall I see in Oslo?").typed::<Trip>()
        .await?
        .finished()?;
    println!("{:?}, mended {} times", trip.value, trip.repairs);
    assert_eq!(trip.value.sights[0].kind, Kind::Ship { built: 1892 });
    assert_eq!((trip.value.budget, trip.repairs), (None, 1));

    // What the model was told: the place, what was found, what was expected.
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

#[derive(Deserialize, JsonSchema)]
struct Place {
    city: String,
}

async fn sights(place: Place) -> Result<String, ToolError> {
    Ok(format!("In {}: the Fram, a ship of 1892.", place.city))
}

/// The value while it is written.
async fn watched() -> Result<(), Box<dyn Error>> {
    let answer = r#"{"city": "Rome", "sights": [{"name": "Villa Borghese", "kind": "park"}], "budget": 90}"#;
    let mut cycle = LlmCycle::new(ScriptedProvider::new([ScriptStep::text(answer)]), SystemClock::new());
    let output = Output::<Trip>::new(TypedOptions::new());
    let question = Begin::new([Message::user("And in Rome?")]);
    let mut turn = cycle.turn(question).with_token(&TurnOptions::new()).typed_as(output).stream();
    let mut parts = Vec::new();
    while let Some(event) = turn.next().await {
        if let EventKind::Text(TextEvent::PartialObject(part)) = event.kind {
            println!("{part}");
            parts.push(part);
        }
    }
    let trip = turn.finish().await?.finished()?;
    assert!(parts.len() > 3, "it grows");
    assert_eq!(parts.last().map(|part| &part["budget"]), Some(&90.into()));
    assert_eq!(trip.value.budget, Some(90));
    Ok(())
}

/// A model that never gives a valid value costs so many calls and no more.
async fn never_valid() -> Result<(), Box<dyn Error>> {
    let model = ScriptedProvider::new((0..10).map(|_| ScriptStep::text("Rome is lovely.")));
    let mut cycle = LlmCycle::new(model.clone(), SystemClock::new());
    let Err(error) = cycle.turn("And in Rome?").typed::<Trip>().await else {
        return Err("prose is no trip".into());
    };
    let faults = error.source().and_then(|source| source.downcast_ref::<OutputError>());
    println!("{error}: {faults:?}");
    assert!(faults.is_some_and(|faults| faults.text == "Rome is lovely."));
    assert_eq!(model.requests().len(), 3);
    assert_eq!(cycle.usage().calls, 3);
    Ok(())
}
