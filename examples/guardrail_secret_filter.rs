//! A guardrail as a hook: no key reaches the model, neither from the user nor from a tool.
//!
//! A [`Hook`] is application code that runs around turns, requests and tool calls. This one rejects turns with a private key,
//! and replaces API keys in requests and in the results of tools. The model never sees a key, so its replies contain none.
//!
//! Run it: `cargo run --example guardrail_secret_filter`, or with a real model, as the [README](README.md) describes.

use std::{error::Error, sync::Arc, time::Duration};

use agcore::{
    ChatRequest, Message,
    chat::{Content, ContentPart, ToolCall, ToolResult},
    llm::{Hook, HookContext, RequestVerdict, ResultVerdict, TurnVerdict},
    tools::{ToolError, tool},
};
use agcore_testkit::scripted::{ScriptStep, ScriptedProvider};
use async_trait::async_trait;

/// Replaces keys: words with the prefixes of some services.
struct SecretFilter;

/// The prefixes of keys: OpenAI and Anthropic, GitHub, AWS.
const PREFIXES: [&str; 3] = ["sk-", "ghp_", "AKIA"];

/// Returns the text without keys, if it contains any.
fn without_keys(text: &str) -> Option<String> {
    let is_separator = |c: char| !c.is_ascii_alphanumeric() && c != '-' && c != '_';
    let mut clean = String::with_capacity(text.len());
    for piece in text.split_inclusive(is_separator) {
        let word = piece.trim_end_matches(is_separator);
        let is_key = word.len() > 8 && PREFIXES.iter().any(|prefix| word.starts_with(prefix));
        clean.push_str(if is_key { "[key]" } else { word });
        clean.push_str(&piece[word.len()..]);
    }
    (clean != text).then_some(clean)
}

/// Returns all text parts of a user message or a tool result.
fn texts(message: &mut Message) -> Vec<&mut String> {
    let content = match message {
        Message::User(message) => &mut message.content,
        Message::Tool(message) => &mut message.content,
        _ => return Vec::new(),
    };
    match content {
        Content::Text(text) => vec![text],
        Content::Parts(parts) => {
            let text = |part| match part {
                &mut ContentPart::Text(ref mut part) => Some(&mut part.text),
                _ => None,
            };
            parts.iter_mut().filter_map(text).collect()
        }
    }
}

#[async_trait]
impl Hook for SecretFilter {
    fn name(&self) -> &str {
        "secret filter"
    }

    /// If the filter fails, nothing is sent: no answer is better than a leaked key.
    fn fails_closed(&self) -> bool {
        true
    }

    /// A filter that hangs counts as failed.
    fn timeout(&self) -> Option<Duration> {
        Some(Duration::from_secs(5))
    }

    /// A private key is never meant for a model.
    async fn turn_start(&self, context: &HookContext<'_>) -> TurnVerdict {
        let is_private_key = |message: &Arc<Message>| message.text().contains("PRIVATE KEY-----");
        if context.input.iter().any(is_private_key) {
            return TurnVerdict::Block("Please do not send private keys.".to_owned());
        }
        TurnVerdict::Continue
    }

    /// Replaces the request, not the history: the user still sees what they wrote. Requests for a summary of the
    /// conversation pass here, too.
    async fn pre_request(&self, _: &HookContext<'_>, request: &Arc<ChatRequest>) -> RequestVerdict {
        let mut clean = None;
        for (at, message) in request.messages.iter().enumerate() {
            let mut message = Message::clone(message);
            let mut hidden = false;
            for text in texts(&mut message) {
                if let Some(without) = without_keys(text) {
                    (*text, hidden) = (without, true);
                }
            }
            if hidden {
                println!("  filter  sent as: {}", message.text());
                let clean = clean.get_or_insert_with(|| ChatRequest::clone(request));
                clean.messages[at] = Arc::new(message);
            }
        }
        clean.map_or(RequestVerdict::Continue, |clean| {
            RequestVerdict::Replace(Arc::new(clean))
        })
    }

    /// Replaces the result before anything else sees it: history and events contain no key either.
    async fn post_tool(&self, _: &HookContext<'_>, call: &ToolCall, result: &ToolResult) -> ResultVerdict {
        match without_keys(&result.content.text()) {
            Some(text) => {
                println!("  filter  {} returns: {text}", call.name);
                ResultVerdict::Replace(text)
            }
            None => ResultVerdict::Continue,
        }
    }
}

/// Shows the environment.
#[tool(read_only)]
async fn environment() -> Result<String, ToolError> {
    Ok("REGION=eu KEY=\"AKIA1234567890EXAMPLE\"".to_owned())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let session = agcore::agent(agcore_examples::model(offline())?)
        .with_instructions("You manage settings. Use the tool.")
        .with_tool(environment_tool())
        .with_hook(SecretFilter)
        .session()?;

    println!("a turn with a key:");
    let outcome = session
        .turn("Is my key (sk-live-4242) the one in the environment?")
        .await?;
    println!("  answer  {}", outcome.text());
    for message in session.messages().await {
        if !message.text().is_empty() {
            println!("  history {:9} {}", message.role().as_str(), message.text());
        }
    }

    println!("a turn with a private key:");
    match session.turn("-----BEGIN PRIVATE KEY----- MIGH").await {
        Ok(outcome) => println!("  answer  {}", outcome.text()),
        Err(error) => println!("  blocked {error}"),
    }
    Ok(())
}

/// The model that is used without `AGCORE_MODEL`.
fn offline() -> ScriptedProvider {
    ScriptedProvider::new([
        ScriptStep::calls([ToolCall::function("call_1", "environment", "{}")]),
        ScriptStep::text("It is a different key."),
    ])
}
