//! The events of one turn: the model's calls, two tools side by side with progress, the streamed answer, the end.
//!
//! A turn is a stream of [`StreamEvent`]s; match on the topics that you care about. When the stream has ended,
//! `finish` gives the same outcome as a turn that was not streamed.
//!
//! Run it: `cargo run -p agcore-examples --example streaming_events`.

#![expect(clippy::print_stdout, reason = "an example prints what it does")]

use std::error::Error;

use agcore::{
    AgentBuilder, AgentSpec, StreamEvent, ToolRegistry,
    chat::{EventKind, ModelEvent, Progress, TextEvent, ToolCall, ToolEvent, TurnEvent},
    tools::{
        State, ToolContext, ToolError,
        schemars::{self, JsonSchema},
        typed,
    },
};
use agcore_testkit::scripted::{ScriptStep, ScriptedProvider};
use futures_util::StreamExt;
use serde::Deserialize;
use tokio::sync::Barrier;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let tools = ToolRegistry::new();
    tools.register(typed("weather", "The weather in a city.", weather))?;
    tools.register(typed("local_time", "The time in a city.", local_time))?;

    let bundle = AgentBuilder::new()
        .with_provider(model())
        .with_tools(tools)
        .with_state(Meeting(Barrier::new(2)))
        .build()?;
    let guide = AgentSpec::new("guide", "You help a traveller.");
    let session = bundle.session("trip", guide);

    let mut shown = Shown::default();
    let mut turn = session.turn("What is Lisbon like right now?").stream();
    while let Some(event) = turn.next().await {
        shown.event(&event);
    }
    let outcome = turn.finish().await?;

    // What was streamed is what the turn came to.
    assert_eq!(shown.text, outcome.text());
    assert_eq!(shown.tools_done, 2);
    assert!(shown.over, "the last event says that the turn is over");
    Ok(())
}

/// A model that calls both tools at once, then answers; a script, so that the example needs no key.
fn model() -> ScriptedProvider {
    let lisbon = r#"{"city": "Lisbon"}"#;
    ScriptedProvider::new([
        ScriptStep::calls([
            ToolCall::function("call_1", "weather", lisbon),
            ToolCall::function("call_2", "local_time", lisbon),
        ]),
        ScriptStep::text("It is sunny in Lisbon, 21 °C, at twenty to five."),
    ])
}

#[derive(Deserialize, JsonSchema)]
struct Place {
    /// The city's name.
    city: String,
}

/// Where the two tools wait for each other: the turn ends only if they really run side by side.
struct Meeting(Barrier);

async fn weather(place: Place, meeting: State<Meeting>, context: ToolContext) -> Result<String, ToolError> {
    context.report_progress(Progress::message("asking the weather station"));
    meeting.0.0.wait().await;
    Ok(format!("21 °C and sunny in {}", place.city))
}

async fn local_time(place: Place, meeting: State<Meeting>) -> Result<String, ToolError> {
    meeting.0.0.wait().await;
    Ok(format!("16:40 in {}", place.city))
}

/// Prints the events, as a terminal would show them.
#[derive(Default)]
struct Shown {
    events: u64,
    text: String,
    tools_done: usize,
    over: bool,
}

impl Shown {
    fn event(&mut self, event: &StreamEvent) {
        assert_eq!(event.seq, self.events, "events are counted without gaps");
        self.events += 1;
        let place = format!("{:>2} round {}", event.seq, event.round);
        match &event.kind {
            EventKind::Text(TextEvent::Text(delta)) => {
                println!("{place}  text       {delta:?}");
                self.text.push_str(delta);
            }
            EventKind::Tool(event) => self.tool(&place, event),
            EventKind::Model(ModelEvent::Usage(usage)) => {
                println!("{place}  usage      {} tokens", usage.total().unwrap_or_default());
            }
            EventKind::Turn(TurnEvent::Complete { usage }) => {
                println!("{place}  complete   {} calls of the model", usage.calls);
                self.over = true;
            }
            // More kinds may come: `EventKind` is non-exhaustive.
            _ => {}
        }
    }

    fn tool(&mut self, place: &str, event: &ToolEvent) {
        match event {
            ToolEvent::Started { name, input, .. } => {
                println!("{place}  started    {name} {input}");
            }
            ToolEvent::Progress { progress, .. } => {
                let message = progress.message.as_deref().unwrap_or_default();
                println!("{place}  progress   {message}");
            }
            ToolEvent::Completed { name, output, .. } => {
                println!("{place}  completed  {name}: {output}");
                self.tools_done += 1;
            }
            _ => {}
        }
    }
}
