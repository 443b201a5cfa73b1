//! A session: turns that remember earlier turns, a second agent that takes over, and a conversation saved as JSON.
//!
//! The system prompt is built for each turn and is never part of the history. So the history can be handed to another agent,
//! or be saved and continue with a new version of the prompt.
//!
//! Run it: `cargo run --example agent_session`, or with a real model, as the [README](README.md) describes.

use std::{error::Error, sync::Arc};

use agcore::{
    AgentBuilder, AgentSession, AgentSpec, ChatResponse, LlmProvider,
    agent::{AgentConfig, SessionState},
    llm::provider_fn,
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    // The bundle is what all sessions share. The base prompt precedes the instructions of every agent.
    let bundle = AgentBuilder::new()
        .with_provider(agcore_examples::model(offline())?)
        .with_config(AgentConfig::new().with_base_prompt("You work in a restaurant. Be brief."))
        .build()?;

    let cook = AgentSpec::new("cook", "You are the cook.");
    let session = bundle.session("dinner", cook);
    ask(&session, "I am Ada.").await?;
    ask(&session, "What is my name?").await?;

    // Another agent, the same conversation. Agents are data: this one could come from a settings file.
    let sommelier = r#"{"name": "sommelier", "system_prompt": "You choose the wine."}"#;
    let sommelier: Arc<AgentSpec> = Arc::new(serde_json::from_str(sommelier)?);
    session.switch_agent(sommelier.clone());
    ask(&session, "And who are you?").await?;

    // Save the session as JSON. It can continue in this process or in another one.
    let saved = serde_json::to_string(&session.export().await)?;
    drop(session);

    let state: SessionState = serde_json::from_str(&saved)?;
    let session = bundle.restore(state, sommelier)?;
    ask(&session, "What is my name again?").await?;

    let (messages, usage) = (session.messages().await, session.usage().await);
    println!("{} messages, {} model calls", messages.len(), usage.calls);
    Ok(())
}

/// Runs a turn and prints it.
async fn ask(session: &AgentSession, text: &str) -> Result<(), Box<dyn Error>> {
    println!("you        {text}");
    let outcome = session.turn(text).await?;
    println!("{:10} {}", session.agent().name(), outcome.text());
    Ok(())
}

/// The model that is used without `AGCORE_MODEL`. It knows only what the request contains.
fn offline() -> impl LlmProvider {
    provider_fn(|call| async move {
        let text = |position: usize| call.request.messages.get(position).map(|message| message.own_text());
        let instructions = text(0).unwrap_or_default().replace("\n\n", " ");
        let name = text(1).and_then(|first| Some(first.strip_prefix("I am ")?.to_owned()));
        let question = call.request.messages.last().map(|message| message.own_text());
        Ok(ChatResponse::from_text(match (question.as_deref(), name) {
            (Some("I am Ada."), _) => "Welcome!".to_owned(),
            (Some("And who are you?"), _) => format!("My instructions are: {instructions}"),
            (_, Some(name)) => format!("You are {name}"),
            (_, None) => "I do not know.".to_owned(),
        }))
    })
}
