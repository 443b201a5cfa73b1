//! The events of a turn: requested tool calls, two tools that run concurrently and report progress, the streamed
//! answer, the end.
//!
//! A streamed turn yields [`StreamEvent`]s. Match on the ones you care about. After the last event, `finish` returns the
//! same outcome as a turn that is awaited. If you need nothing but the text, use `text_stream` instead.
//!
//! Run it: `cargo run --example streaming_events`, or with a real model, as the [README](README.md) describes.

use std::error::Error;

use agcore::{
    StreamEvent,
    chat::{EventKind, ModelEvent, Progress, TextEvent, ToolCall, ToolEvent, TurnEvent},
    tools::{ToolContext, ToolError, tool},
};
use agcore_testkit::scripted::{ScriptStep, ScriptedProvider};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let session = agcore::agent(agcore_examples::model(offline())?)
        .with_instructions("You help a traveller. Use the tools.")
        .with_tool(weather_tool())
        .with_tool(local_time_tool())
        .session()?;

    let mut turn = session.turn("What is Lisbon like right now?").stream();
    while let Some(event) = turn.next().await {
        print_event(&event);
    }
    let outcome = turn.finish().await?;
    println!("{}", outcome.text());
    Ok(())
}

/// Returns the weather in a city.
#[tool]
async fn weather(city: String, context: ToolContext) -> Result<String, ToolError> {
    context.report_progress(Progress::message("asking the weather station"));
    Ok(format!("21 °C and sunny in {city}"))
}

/// Returns the time in a city.
#[tool]
async fn local_time(city: String) -> Result<String, ToolError> {
    Ok(format!("16:40 in {city}"))
}

fn print_event(event: &StreamEvent) {
    let place = format!("{:>2} round {}", event.seq, event.round);
    match &event.kind {
        EventKind::Text(TextEvent::Text(piece)) => println!("{place}  text       {piece:?}"),
        EventKind::Tool(event) => print_tool_event(&place, event),
        EventKind::Model(ModelEvent::Usage(usage)) => {
            println!("{place}  usage      {} tokens", usage.total().unwrap_or_default());
        }
        EventKind::Turn(TurnEvent::Complete { usage }) => {
            println!("{place}  complete   {} model calls", usage.calls);
        }
        // There are more events, and later versions may add others.
        _ => {}
    }
}

fn print_tool_event(place: &str, event: &ToolEvent) {
    match event {
        ToolEvent::Requested { name, input, .. } => println!("{place}  requested  {name} {input}"),
        ToolEvent::Started { name, .. } => println!("{place}  started    {name}"),
        ToolEvent::Progress { progress, .. } => {
            let message = progress.message.as_deref().unwrap_or_default();
            println!("{place}  progress   {message}");
        }
        ToolEvent::Completed { name, output, .. } => println!("{place}  completed  {name}: {output}"),
        _ => {}
    }
}

/// The model that is used without `AGCORE_MODEL`. It calls both tools at once and then answers.
fn offline() -> ScriptedProvider {
    let lisbon = r#"{"city": "Lisbon"}"#;
    ScriptedProvider::new([
        ScriptStep::calls([
            ToolCall::function("call_1", "weather", lisbon),
            ToolCall::function("call_2", "local_time", lisbon),
        ]),
        ScriptStep::text("It is sunny in Lisbon, 21 °C, at twenty to five."),
    ])
}
