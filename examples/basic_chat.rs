//! A single request over HTTP: the reply, its cost, and an error.
//!
//! The server is a mock on loopback, so no key is needed; everything else is what a real program does. With a real key,
//! the provider is one line: `agcore::model("openai:gpt-5-mini", key)?`.
//!
//! Run it: `cargo run -p agcore-examples --example basic_chat`.

#![expect(clippy::print_stdout, reason = "an example prints what it does")]

use std::error::Error;

use agcore::{
    ChatRequest, LlmProviderExt, Message,
    llm::{LlmErrorKind, ProviderConfig},
};
use agcore_testkit::mock_server::{ApiError, MockServer, Reply, Script};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let server = MockServer::start(Script::new([
        Reply::text("Paris."),
        Reply::error(ApiError::new(404).with_message("The model `gpt-0` does not exist.")),
    ]))
    .await?;

    let config = ProviderConfig::parse("openai:gpt-5-mini")?
        .with_base_url(server.base_url())
        .with_api_key("sk-example");
    let provider = config.build()?;

    // A request is plain data. It names no model, so the provider's default is used.
    let request = ChatRequest::new([
        Message::system("Answer in one word."),
        Message::user("What is the capital of France?"),
    ])
    .with_temperature(0.0)
    .with_max_tokens(50);
    println!("asked     {}", request.messages[1].text());

    // The whole reply. What the server did not report is `None`, never 0.
    let response = provider.chat(request.clone()).await?;
    println!("answered  {}", response.text());
    println!("by        {}", response.model.as_deref().unwrap_or("?"));
    let usage = response.usage.clone().unwrap_or_default();
    let count = |tokens: Option<u64>| tokens.map_or("?".into(), |count| count.to_string());
    println!(
        "cost      {} tokens in, {} out",
        count(usage.prompt_tokens),
        count(usage.completion_tokens)
    );
    assert_eq!(response.text(), "Paris.");
    assert!(usage.total().is_some());

    // An error has a kind, knows whether a retry may help, and reads as a sentence.
    match provider.chat(request.with_model("gpt-0")).await {
        Ok(response) => return Err(format!("gpt-0 should not exist: {}", response.text()).into()),
        Err(error) => {
            println!("error     {error}");
            println!("          retryable: {}", error.is_retryable());
            assert_eq!(*error.kind(), LlmErrorKind::NotFound);
        }
    }

    // The mock server recorded the requests.
    let sent = server.shutdown().await;
    assert_eq!(sent[0].header("authorization"), Some("Bearer sk-example"));
    assert_eq!(sent[0].json()["model"], "gpt-5-mini");
    assert_eq!(sent[1].json()["model"], "gpt-0");
    Ok(())
}
