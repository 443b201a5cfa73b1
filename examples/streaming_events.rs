//! The events of a turn: tool calls, two tools that run concurrently and report progress, the streamed answer, the end.
//!
//! A streamed turn yields [`StreamEvent`]s. Match on the topics you care about. After the last event, `finish` returns the
//! same outcome as a turn that is awaited.
//!
//! Run it: `cargo run -p agcore-examples --example streaming_events`.

#![expect(clippy::print_stdout, reason = "an example prints what it does")]

use std::error::Error;

use agcore::{
    AgentBuilder, AgentSpec, StreamEvent, ToolRegistry,
    chat::{EventKind, ModelEvent, Progress, TextEvent, ToolCall, ToolEvent, TurnEvent},
    tools::{State, ToolContext, ToolError, tool},
};
use agcore_testkit::scripted::{ScriptStep, ScriptedProvider};
use tokio::sync::Barrier;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let tools = ToolRegistry::new();
    tools.register_all([weather_tool(), local_time_tool()])?;

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

    // The streamed text is the text of the outcome.
    assert_eq!(shown.text, outcome.text());
    assert_eq!(shown.tools_done, 2);
    assert!(shown.over, "the last event completes the turn");
    Ok(())
}

/// A model that calls both tools at once and then answers. It is scripted, so the example needs no key.
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

/// The two tools wait for each other here, so the turn ends only if they run concurrently.
struct Meeting(Barrier);

/// Returns the weather in a city.
#[tool]
async fn weather(city: String, meeting: State<Meeting>, context: ToolContext) -> Result<String, ToolError> {
    context.report_progress(Progress::message("asking the weather station"));
    meeting.0.0.wait().await;
    Ok(format!("21 °C and sunny in {city}"))
}

/// Returns the time in a city.
#[tool]
async fn local_time(city: String, meeting: State<Meeting>) -> Result<String, ToolError> {
    meeting.0.0.wait().await;
    Ok(format!("16:40 in {city}"))
}

/// Prints the events as a terminal would.
#[derive(Default)]
struct Shown {
    events: u64,
    text: String,
    tools_done: usize,
    over: bool,
}

impl Shown {
    fn event(&mut self, event: &StreamEvent) {
        assert_eq!(event.seq, self.events, "events are numbered without gaps");
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
                println!("{place}  complete   {} model calls", usage.calls);
                self.over = true;
            }
            // `EventKind` is non-exhaustive.
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
