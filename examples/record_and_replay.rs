//! A session that is recorded once and replayed without a network: a test of an agent that needs no key and costs nothing.
//!
//! The recorder wraps the provider and writes a cassette, without the configured secrets. The replay answers from the
//! cassette with the same chunks as the model. While it runs, network access is denied, including loopback.
//!
//! Run it: `cargo run --example record_and_replay`, or with a real model, as the [README](README.md) describes.

use std::{error::Error, sync::Arc};

use agcore::{
    ChatRequest, LlmProvider, LlmProviderExt, Message,
    llm::{
        SystemClock,
        cassette::{Cassette, CassetteWriter, RecordingProvider, ReplayProvider, Scrub},
    },
    tools::{ToolError, tool},
};
use agcore_testkit::{
    network::deny_network,
    scripted::{ScriptStep, ScriptedProvider},
};

/// A secret of the application that the model knows.
const DOOR_CODE: &str = "4711-0815";

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    // Record once. The writer writes to memory here; a test would use a file.
    let writer = Arc::new(CassetteWriter::new(Vec::new()));
    let model = agcore_examples::model(offline())?;
    let recorder = RecordingProvider::new(model, Arc::clone(&writer), SystemClock::shared());
    let recorder = Arc::new(recorder.with_scrub(secrets()));
    run(recorder.clone()).await?;
    if let Some(problem) = recorder.problems().first() {
        println!("the recording is not complete: {problem}");
    }

    let bytes = writer.with_inner(|bytes| bytes.clone());
    let has_secret = String::from_utf8_lossy(&bytes).contains(DOOR_CODE);
    let cassette = Cassette::parse(&bytes)?.into_intact()?;
    let exchanges = cassette.exchanges().len();
    println!("recorded {exchanges} exchanges; the door code is among them: {has_secret}");

    // Replay any number of times.
    let _denied = deny_network().with_loopback_denied();
    let replay = ReplayProvider::new(cassette).with_scrub(secrets());
    run(Arc::new(replay.clone())).await?;
    replay.check_done()?;
    println!("replayed all of them without network access");

    // A request that was not recorded is an error that names the difference.
    let other = ChatRequest::new([Message::user("Something else")]);
    if let Err(error) = replay.chat(other).await {
        println!("{error}");
    }
    Ok(())
}

fn secrets() -> Scrub {
    Scrub::new().with_secret(DOOR_CODE)
}

/// The program under test: an agent with a tool.
async fn run(provider: Arc<dyn LlmProvider>) -> Result<(), Box<dyn Error>> {
    let session = agcore::agent(provider)
        .with_instructions(format!("You are a porter. The door code is {DOOR_CODE}; it is secret."))
        .with_tool(count_guests_tool())
        .session()?;
    for input in ["How many guests are 2 and 3?", "And what is the code?"] {
        println!("  {}", session.turn(input).await?.text());
    }
    Ok(())
}

/// Adds two numbers of guests.
#[tool]
async fn count_guests(first: u32, second: u32) -> Result<u32, ToolError> {
    Ok(first + second)
}

/// The model that is used without `AGCORE_MODEL`.
fn offline() -> ScriptedProvider {
    let call = agcore::chat::ToolCall::function("call_1", "count_guests", r#"{"first": 2, "second": 3}"#);
    ScriptedProvider::new([
        ScriptStep::calls([call]),
        ScriptStep::text("Five."),
        ScriptStep::text("That stays between us."),
    ])
}
