//! A session: turns that remember earlier turns, a second agent that takes over, and a conversation saved as JSON.
//!
//! The system prompt consists of layers, is computed for each turn, and is never part of the history. So the history can be
//! handed to another agent, or be saved and continue with a new version of the prompt.
//!
//! Run it: `cargo run -p agcore-examples --example agent_session`.

#![expect(clippy::print_stdout, reason = "an example prints what it does")]

use std::{error::Error, sync::Arc};

use agcore::{
    AgentBuilder, AgentSession, AgentSpec, LlmProvider,
    agent::{AgentConfig, RuntimeBundle, SessionState},
    llm::ProviderConfig,
};
use agcore_testkit::mock_server::{MockServer, RecordedRequest, Reply, Role};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let server = MockServer::start(model).await?;
    let bundle = bundle(provider(&server)?)?;

    let cook = Arc::new(AgentSpec::new("cook", "You are a cook."));
    let session = bundle.session("dinner", cook);
    ask(&session, "I am Ada.").await?;
    let answer = ask(&session, "What is my name?").await?;
    assert!(answer.contains("Ada"), "the second turn remembers the first");

    // Another agent, the same conversation. Agents are data: this one could come from a settings file.
    let sommelier = r#"{"name": "sommelier", "system_prompt": "You know everything about wine."}"#;
    let sommelier: Arc<AgentSpec> = Arc::new(serde_json::from_str(sommelier)?);
    session.switch_agent(sommelier.clone());
    let answer = ask(&session, "And who are you?").await?;
    assert!(answer.contains("wine") && !answer.contains("cook"));

    // Save the whole session as JSON. It can continue in this process or in another one.
    let saved = serde_json::to_string(&session.export().await)?;
    println!("saved as {} bytes of JSON", saved.len());
    drop(session);

    let state: SessionState = serde_json::from_str(&saved)?;
    let session = bundle.restore(state, sommelier)?;
    let answer = ask(&session, "What is my name again?").await?;
    assert!(answer.contains("Ada"), "the restored session remembers");

    let usage = session.usage().await;
    println!(
        "{} messages, {} model calls, {} tokens",
        session.messages().await.len(),
        usage.calls,
        usage.usage.total().unwrap_or_default()
    );
    assert_eq!((session.messages().await.len(), usage.calls), (8, 4));
    Ok(())
}

/// Runs a turn and prints it.
async fn ask(session: &AgentSession, text: &str) -> Result<String, Box<dyn Error>> {
    println!("you        {text}");
    let outcome = session.turn(text).await?;
    println!("{:10} {}", session.agent().name(), outcome.text());
    Ok(outcome.text().into_owned())
}

/// Builds what sessions share. The base prompt is the first layer of every agent's system prompt.
fn bundle(provider: Arc<dyn LlmProvider>) -> Result<RuntimeBundle, Box<dyn Error>> {
    let config = AgentConfig::new().with_base_prompt("You work in a restaurant.");
    Ok(AgentBuilder::new()
        .with_provider(provider)
        .with_config(config)
        .build()?)
}

fn provider(server: &MockServer) -> Result<Arc<dyn LlmProvider>, Box<dyn Error>> {
    Ok(ProviderConfig::parse("openai:mock")?
        .with_base_url(server.base_url())
        .build()?)
}

/// A scripted model that answers from the request alone: it knows a name only if the history contains it.
fn model(request: &RecordedRequest) -> Reply {
    let prompt = request.prompt();
    let name = prompt.user_texts().find_map(|text| text.strip_prefix("I am "));
    let system = prompt.turns.iter().find(|turn| turn.role == Role::System);
    let system = system.map_or("I have no instructions.", |turn| &turn.text);
    Reply::text(match (prompt.last_user(), name) {
        ("I am Ada.", _) => "Welcome!".to_owned(),
        ("And who are you?", _) => format!("My instructions: {}", system.replace("\n\n", " ")),
        (_, Some(name)) => format!("You are {name}"),
        (_, None) => "I do not know.".to_owned(),
    })
}
