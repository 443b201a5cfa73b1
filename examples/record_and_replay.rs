//! A session that is recorded once and replayed without a network: a test of an agent that needs no key and costs nothing.
//!
//! The recorder wraps the provider and writes a cassette, without the configured secrets. The replay answers from the
//! cassette with the same chunks as the model. While it runs, network access is denied, including loopback.
//!
//! Run it: `cargo run -p agcore-examples --example record_and_replay`.

#![expect(clippy::print_stdout, reason = "an example prints what it does")]

use std::{error::Error, sync::Arc};

use agcore::{
    AgentBuilder, AgentSpec, ChatRequest, LlmProvider, LlmProviderExt, Message, ToolRegistry,
    llm::{
        ProviderConfig, SystemClock,
        cassette::{Cassette, CassetteWriter, RecordingProvider, ReplayProvider, Scrub},
    },
    tools::{ToolError, tool},
};
use agcore_testkit::{
    clock::ManualClock,
    mock_server::{MockServer, RecordedRequest, Reply, ToolCall},
    network::deny_network,
};
use serde_json::json;

/// A secret of the application that the model knows.
const DOOR_CODE: &str = "4711-0815";

type Outcome<T> = Result<T, Box<dyn Error>>;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Outcome<()> {
    for streamed in [false, true] {
        // Record once, with a model over HTTP. The writer could as well write to a file.
        let server = MockServer::start(model).await?;
        let config = ProviderConfig::parse("openai:mock")?.with_base_url(server.base_url());
        let writer = Arc::new(CassetteWriter::new(Vec::new()));
        let recorder = RecordingProvider::new(config.build()?, Arc::clone(&writer), Arc::new(SystemClock::new()))
            .with_scrub(secrets());
        let recorder = Arc::new(recorder);
        let original = session(recorder.clone(), streamed).await?;
        assert!(recorder.problems().is_empty(), "the recording is complete");
        drop(server);

        let bytes = writer.with_inner(|bytes| bytes.clone());
        let cassette = Cassette::parse(&bytes)?.into_intact()?;
        println!(
            "recorded {} exchanges in {} bytes",
            cassette.exchanges().len(),
            bytes.len()
        );
        let text = String::from_utf8(bytes)?;
        assert!(
            !text.contains(DOOR_CODE) && text.contains("[redacted]"),
            "the cassette contains no secret"
        );

        // Replay any number of times.
        let denied = deny_network().with_loopback_denied();
        let replay = ReplayProvider::new(cassette).with_scrub(secrets());
        let replayed = session(Arc::new(replay.clone()), streamed).await?;
        assert_eq!(replayed, original, "the replay is identical");
        replay.check_done()?;
        println!("replayed everything, without network access:");
        println!("  {}", replayed.last().map(String::as_str).unwrap_or_default());

        // A request that was not recorded is an error.
        let other = ChatRequest::new([Message::user("Something else")]);
        let error = replay.chat(other).await.err().ok_or("the request was not recorded")?;
        println!("{error}");
        assert!(
            error.message().contains("messages[0]"),
            "the error names the difference"
        );
        drop(denied);
    }
    Ok(())
}

fn secrets() -> Scrub {
    Scrub::new().with_secret(DOOR_CODE)
}

/// Runs two turns of an agent with a tool. Returns their events or text, and the conversation as JSON.
async fn session(provider: Arc<dyn LlmProvider>, streamed: bool) -> Outcome<[String; 2]> {
    // Events contain the duration of tools, which is always the same on a clock that does not advance.
    let builder = AgentBuilder::new().with_clock(ManualClock::new());
    let bundle = builder.with_provider(provider).with_tools(tools()?).build()?;
    let session = bundle.session(
        "s-1",
        AgentSpec::new("porter", format!("The door code is {DOOR_CODE}.")),
    );
    let mut observed = String::new();
    for input in ["How many guests are 2 and 3?", "And what is the code?"] {
        if streamed {
            let mut turn = session.turn(input).stream();
            while let Some(event) = turn.next().await {
                observed.push_str(&serde_json::to_string(&event)?);
            }
        } else {
            observed.push_str(&session.turn(input).await?.text());
        }
    }
    Ok([observed, serde_json::to_string(&session.messages().await)?])
}

/// Adds two numbers of guests.
#[tool]
async fn count_guests(first: u32, second: u32) -> Result<u32, ToolError> {
    Ok(first + second)
}

fn tools() -> Outcome<ToolRegistry> {
    let tools = ToolRegistry::new();
    tools.register(count_guests_tool())?;
    Ok(tools)
}

/// A model that needs the tool for the first question and answers the second one from its instructions.
fn model(request: &RecordedRequest) -> Reply {
    let prompt = request.prompt();
    match prompt.last_user() {
        "How many guests are 2 and 3?" if !request.json().to_string().contains("\"role\":\"tool\"") => {
            Reply::tool_calls([ToolCall::new("count_guests", &json!({"first": 2, "second": 3}))])
        }
        "How many guests are 2 and 3?" => Reply::text("Five."),
        _ => Reply::text("That stays between us."),
    }
}
