//! A guardrail as a hook: no key reaches the model, neither from the user nor from a tool.
//!
//! A [`Hook`] is the application's own code at the edges of a run. This one is asked at three of them: whole private keys
//! are not taken at all, API keys are hidden in what is sent, and in what tools return. Since the model never sees a key,
//! its replies have none. Run it: `cargo run -p agcore-examples --example guardrail_secret_filter`.

#![expect(clippy::print_stdout, reason = "an example prints what it does")]

use std::{error::Error, sync::Arc, time::Duration};

use agcore::{
    AgentBuilder, AgentSpec, ChatRequest, Message, ToolRegistry,
    agent::AgentError,
    chat::{Content, ContentPart, ToolCall, ToolResult},
    llm::{Hook, HookContext, RequestVerdict, ResultVerdict, TurnVerdict},
    tools::{NoArguments, ToolError, typed},
};
use agcore_testkit::scripted::{ScriptStep, ScriptedProvider};
use async_trait::async_trait;

/// Hides keys: words that begin as the keys of some services do.
struct SecretFilter;

/// How keys begin: OpenAI and Anthropic, GitHub, AWS.
const BEGINNINGS: [&str; 3] = ["sk-", "ghp_", "AKIA"];

/// The text without keys, if it has any.
fn without_keys(text: &str) -> Option<String> {
    let border = |c: char| !c.is_ascii_alphanumeric() && c != '-' && c != '_';
    let mut clean = String::with_capacity(text.len());
    for piece in text.split_inclusive(border) {
        let word = piece.trim_end_matches(border);
        let is_key = word.len() > 8 && BEGINNINGS.iter().any(|beginning| word.starts_with(beginning));
        clean.push_str(if is_key { "[key]" } else { word });
        clean.push_str(&piece[word.len()..]);
    }
    (clean != text).then_some(clean)
}

/// All text of what a person or a tool said, whether it stands alone or beside pictures and files.
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

    /// If the filter fails, nothing goes out: better no answer than a key given away.
    fn fails_closed(&self) -> bool {
        true
    }

    /// A filter that hangs has failed.
    fn timeout(&self) -> Option<Duration> {
        Some(Duration::from_secs(5))
    }

    /// A whole private key is never meant for a model.
    async fn turn_start(&self, context: &HookContext<'_>) -> TurnVerdict {
        let is_private_key = |message: &Arc<Message>| message.text().contains("PRIVATE KEY-----");
        if context.input.iter().any(is_private_key) {
            return TurnVerdict::Block("Please do not send private keys.".to_owned());
        }
        TurnVerdict::Continue
    }

    /// Replaces the request, not the history: the user still sees what they wrote. A request for a summary of the
    /// conversation comes here, too.
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
                println!("  filter  goes out as: {}", message.text());
                let clean = clean.get_or_insert_with(|| ChatRequest::clone(request));
                clean.messages[at] = Arc::new(message);
            }
        }
        clean.map_or(RequestVerdict::Continue, |clean| {
            RequestVerdict::Replace(Arc::new(clean))
        })
    }

    /// Replaces the result before anybody sees it: history and events have no key either.
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
        ScriptStep::text("It is another key."),
    ]);
    let bundle = AgentBuilder::new()
        .with_provider(model.clone())
        .with_tools(tools()?)
        .with_hook(SecretFilter)
        .build()?;
    let session = bundle.session("s-1", AgentSpec::new("clerk", "You look after settings."));

    println!("a turn with keys in it:");
    let outcome = session.turn("Is my key (sk-live-4242) the one in use?").await?;
    println!("  answer  {}", outcome.text());
    let messages = session.messages().await;
    for message in &messages {
        println!("  history {:9} {}", message.role().as_str(), message.text());
    }

    println!("a turn with a private key:");
    let refused = session.turn("-----BEGIN PRIVATE KEY----- MIGH").await;
    println!("  refused {refused:?}");

    // No key ever reached the model, and the refused turn reached nobody.
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
    assert!(matches!(refused, Err(AgentError::HookBlocked(reason)) if reason == "Please do not send private keys."));
    assert_eq!(session.messages().await.len(), messages.len());
    Ok(())
}
