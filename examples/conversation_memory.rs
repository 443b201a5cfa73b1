//! A chat whose conversation survives a restart: the messages are in a SQLite file.
//!
//! Every message is stored before the program continues, so that nothing is lost if it dies. The next run opens the conversation
//! and resumes it, also after older messages were replaced by a summary. Keys that users paste are
//! removed before anything is stored.
//!
//! Run it: `cargo run --example conversation_memory`, or with a real model, as the [README](README.md) describes.

use std::{error::Error, path::Path, sync::Arc};

use agcore::{
    ChatRequest, LlmProvider, LlmProviderExt, Message,
    chat::{Actor, SystemClock, redact::KeyRedactor, safe_cut, summarized},
    session::{ConversationMemory, Redacted},
    store::sqlite::SqliteStore,
};
use agcore_testkit::scripted::{ScriptStep, ScriptedProvider};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let directory = tempfile::tempdir()?;
    let path = directory.path().join("agcore.db");
    let model = agcore_examples::model(offline())?;

    println!("first run:");
    let mut memory = open(&path).await?;
    memory
        .push(Message::system("You are a friendly gardener. Be brief."))
        .await?;
    ask(&model, &mut memory, "My name is Ann, and I grow tomatoes.").await?;
    ask(&model, &mut memory, "My weather key is sk-0123456789abcdef.").await?;
    // The program ends here, without saving anything.
    drop(memory);

    println!("second run:");
    let mut memory = open(&path).await?;
    println!(
        "  {} messages are restored; the key was stored as:",
        memory.messages().len()
    );
    println!("  {}", memory.messages()[3].text());
    ask(&model, &mut memory, "What do I grow?").await?;

    // A long conversation is shortened: a model could write the summary. Only the message that changes is written.
    if let Some(cut) = safe_cut(memory.messages(), 1) {
        let shorter = summarized(memory.messages(), cut, "Ann gave a key for the weather service.");
        memory.replace(shorter).await?;
    }
    println!("  {} messages are left after a compaction", memory.messages().len());
    drop(memory);

    println!("third run:");
    let mut memory = open(&path).await?;
    for message in memory.messages() {
        println!("  {:9} {}", message.role().as_str(), message.text().replace('\n', " "));
    }

    // Another process has opened the same conversation and is faster.
    let mut other = open(&path).await?;
    ask(&model, &mut other, "And when should I water them?").await?;
    if let Err(error) = memory.push(Message::user("Is it going to rain?")).await {
        println!("  {error}");
    }
    memory.refresh().await?;
    println!("  {} messages after reading it again", memory.messages().len());
    memory.push(Message::user("Is it going to rain?")).await?;
    Ok(())
}

/// Opens the conversation, as each run of a program does.
async fn open(path: &Path) -> Result<ConversationMemory, Box<dyn Error>> {
    let clock = SystemClock::shared();
    let store = SqliteStore::open(path, clock.clone()).await?;
    let store = Redacted::new(store, Arc::new(KeyRedactor));
    Ok(ConversationMemory::open(Arc::new(store), clock, &Actor::user("ann"), "garden").await?)
}

/// Sends a message with the conversation so far. Both the message and the answer are stored.
async fn ask(
    model: &Arc<dyn LlmProvider>,
    memory: &mut ConversationMemory,
    question: &str,
) -> Result<(), Box<dyn Error>> {
    memory.push(Message::user(question)).await?;
    let reply = model.chat(ChatRequest::new(memory.messages().to_vec())).await?;
    println!("  user      {question}");
    println!("  assistant {}", reply.text());
    memory.push(Message::assistant(reply.text())).await?;
    Ok(())
}

/// The model that is used without `AGCORE_MODEL`.
fn offline() -> ScriptedProvider {
    ScriptedProvider::new([
        ScriptStep::text("Hello Ann! Tomatoes like the sun."),
        ScriptStep::text("Thank you, I will look up the weather."),
        ScriptStep::text("You grow tomatoes."),
        ScriptStep::text("In the morning."),
    ])
}
