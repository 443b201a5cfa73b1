//! A guardrail as a hook: no key reaches the model, neither from the user nor from a tool.
//!
//! A [`Hook`] is application code that runs around turns, requests and tool calls. This one rejects turns with a private key,
//! and replaces API keys in requests and in the results of tools. The model never sees a key, so its replies contain none.
//!
//! Run it: `cargo run -p agcore-examples --example guardrail_secret_filter`.

#![expect(clippy::print_stdout, reason = "an example prints what it does")]

use std::{error::Error, sync::Arc, time::Duration};

use agcore::{
    AgentBuilder, AgentSpec, ChatRequest, Message, ToolRegistry,
    agent::AgentErrorKind,
    chat::{Content, ContentPart, ToolCall, ToolResult},
    llm::{Hook, HookContext, RequestVerdict, ResultVerdict, TurnVerdict},
    tools::{NoArguments, ToolError, typed},
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

fn tools() -> Result<ToolRegistry, ToolError> {
    let tools = ToolRegistry::new();
    let show = |_: NoArguments| async { Ok("REGION=eu KEY=\"AKIA1234567890EXAMPLE\"") };
    tools.register(typed("environment", "Shows the environment.", show))?;
    Ok(tools)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let model = ScriptedProvider::new([
        ScriptStep::calls([ToolCall::function("call_1", "environment", "{}")]),
        ScriptStep::text("It is a different key."),
    ]);
    let bundle = AgentBuilder::new()
        .with_provider(model.clone())
        .with_tools(tools()?)
        .with_hook(SecretFilter)
        .build()?;
    let session = bundle.session("s-1", AgentSpec::new("clerk", "You manage settings."));

    println!("a turn with a key:");
    let outcome = session.turn("Is my key (sk-live-4242) the one in use?").await?;
    println!("  answer  {}", outcome.text());
    let messages = session.messages().await;
    for message in &messages {
        println!("  history {:9} {}", message.role().as_str(), message.text());
    }

    println!("a turn with a private key:");
    let blocked = session.turn("-----BEGIN PRIVATE KEY----- MIGH").await;
    println!("  blocked {blocked:?}");

    // No key ever reached the model, and the blocked turn did not reach it at all.
    let requests = model.requests();
    assert_eq!(requests.len(), 2);
    for request in &requests {
        let sent = serde_json::to_string(&**request)?;
        assert!(!sent.contains("sk-live") && !sent.contains("AKIA"), "{sent}");
    }
    assert_eq!(
        requests[0]
            .messages
            .last()
            .map(|message| message.text().into_owned())
            .as_deref(),
        Some("Is my key ([key]) the one in use?")
    );
    assert_eq!(messages[0].text(), "Is my key (sk-live-4242) the one in use?");
    assert_eq!(messages[2].text(), "REGION=eu KEY=\"[key]\"");
    let error = blocked.err().ok_or("the turn should be blocked")?;
    assert_eq!(error.kind(), AgentErrorKind::HookBlocked);
    assert_eq!(error.message(), "Please do not send private keys.");
    assert_eq!(session.messages().await.len(), messages.len());
    Ok(())
}
