//! A single request: the whole reply and its cost, a streamed reply, and an error.
//!
//! Run it: `cargo run --example basic_chat`, or with a real model, as the [README](README.md) describes.

use std::error::Error;

use agcore::{ChatRequest, LlmError, LlmProviderExt, Message, llm::LlmErrorKind};
use agcore_testkit::scripted::{ScriptStep, ScriptedProvider};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    // In your program: `agcore::model("openai:gpt-5-mini", key)?`.
    let model = agcore_examples::model(offline())?;

    // A request is plain data.
    let request = ChatRequest::new([
        Message::system("Answer in one sentence."),
        Message::user("What is the capital of France?"),
    ])
    .with_max_tokens(500);

    // Wait for the whole reply. What the server did not report is `None`, never 0.
    let response = model.chat(request.clone()).await?;
    println!("answer  {}", response.text());
    println!("model   {}", response.model.as_deref().unwrap_or("not reported"));
    if let Some(tokens) = response.usage.as_ref().and_then(|usage| usage.total()) {
        println!("tokens  {tokens}");
    }

    // Or print the text while it arrives.
    let mut text = model.chat_stream(request.clone()).text_stream();
    while let Some(piece) = text.next().await {
        println!("piece   {:?}", piece?);
    }

    // An error has a kind, knows whether a retry may help, and reads as a sentence.
    match model.chat(request.with_model("gpt-0")).await {
        Ok(response) => println!("answer  {}", response.text()),
        Err(error) => {
            println!("error   {error}");
            println!("kind    {:?}, retryable: {}", error.kind(), error.is_retryable());
        }
    }
    Ok(())
}

/// The answers of the model that is used without `AGCORE_MODEL`.
fn offline() -> ScriptedProvider {
    let unknown = LlmError::new(LlmErrorKind::NotFound, "the model `gpt-0` does not exist");
    ScriptedProvider::new([
        ScriptStep::text("It is Paris."),
        ScriptStep::text("It is Paris."),
        ScriptStep::error(unknown),
    ])
}
