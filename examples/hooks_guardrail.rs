//! Guardrails as hooks: secrets are taken out of what goes to the model, and a tool is kept within its bounds.
//!
//! A [`Hook`] is the application's own code at the edges of a run. Hooks run in the order in which they were added; each
//! method does nothing unless it is written.
//!
//! Run it: `cargo run --example hooks_guardrail`.

#![expect(clippy::print_stdout, reason = "an example prints what it does")]

use std::{error::Error, sync::Arc};

use agcore::{
    AgentBuilder, AgentSpec, ChatRequest, Message, ToolRegistry,
    chat::{Content, ContentPart, Role, ToolCall, ToolResult},
    llm::{Hook, HookContext, RequestVerdict, ResultVerdict, ToolVerdict},
    tools::{
        NoArguments, ToolError,
        schemars::{self, JsonSchema},
        typed,
    },
};
use agcore_testkit::scripted::{ScriptStep, ScriptedProvider};
use async_trait::async_trait;
use serde::Deserialize;

/// Takes keys (words that begin with `sk-`) out of what the user says and out of what tools return.
struct SecretFilter;

/// The text without keys, if it has any.
fn without_keys(text: &str) -> Option<String> {
    let is_key = |word: &str| word.starts_with("sk-");
    let hide = |piece| if is_key(piece) { "[key]" } else { piece };
    let pieces = || {
        text.split_inclusive(char::is_whitespace).flat_map(|piece| {
            let word = piece.trim_end();
            [word, &piece[word.len()..]]
        })
    };
    pieces().any(is_key).then(|| pieces().map(hide).collect())
}

/// All text of a message, whether it stands alone or beside pictures and files.
fn texts(content: &mut Content) -> Vec<&mut String> {
    match content {
        Content::Text(text) => vec![text],
        Content::Parts(parts) => parts
            .iter_mut()
            .filter_map(|part| match part {
                ContentPart::Text(part) => Some(&mut part.text),
                _ => None,
            })
            .collect(),
    }
}

#[async_trait]
impl Hook for SecretFilter {
    /// Replaces the request, not the history: the user still sees what they wrote.
    async fn pre_request(&self, _: &HookContext<'_>, request: &Arc<ChatRequest>) -> RequestVerdict {
        let mut clean = ChatRequest::clone(request);
        for message in &mut clean.messages {
            let Message::User(said) = Arc::make_mut(message) else {
                continue;
            };
            for text in texts(&mut said.content) {
                if let Some(without) = without_keys(text) {
                    println!("  filter  the user's message goes out as: {without}");
                    *text = without;
                }
            }
        }
        RequestVerdict::Replace(Arc::new(clean))
    }

    /// Replaces the result before anybody sees it: the history has no key either.
    async fn post_tool(&self, _: &HookContext<'_>, call: &ToolCall, result: &ToolResult) -> ResultVerdict {
        match without_keys(&result.content.text()) {
            Some(text) => {
                println!("  filter  the result of {} becomes: {text}", call.name);
                ResultVerdict::Replace(text)
            }
            None => ResultVerdict::Continue,
        }
    }
}

/// Lets `search` give at most ten results, and nobody reset anything.
struct Bounds;

#[async_trait]
impl Hook for Bounds {
    async fn pre_tool(&self, _: &HookContext<'_>, call: &ToolCall) -> ToolVerdict {
        let mut arguments = match (&*call.name, call.arguments()) {
            ("reset", _) => return ToolVerdict::Block("Resetting is switched off.".to_owned()),
            ("search", Ok(arguments)) => arguments,
            _ => return ToolVerdict::Continue,
        };
        match arguments.get("limit").and_then(serde_json::Value::as_u64) {
            Some(limit) if limit > 10 => {
                println!("  bounds  search: limit {limit} becomes 10");
                arguments.insert("limit".to_owned(), 10.into());
                ToolVerdict::Replace(arguments)
            }
            _ => ToolVerdict::Continue,
        }
    }
}

#[derive(Deserialize, JsonSchema)]
struct Search {
    /// What to look for.
    query: String,
    /// How many results there may be.
    limit: u32,
}

fn tools() -> Result<ToolRegistry, ToolError> {
    let tools = ToolRegistry::new();
    tools.register(typed("search", "Searches the files.", |search: Search| async move {
        Ok(format!("{} of {}: export KEY= sk-live-42", search.limit, search.query))
    }))?;
    let reset = |_: NoArguments| async { Ok("all is gone") };
    tools.register(typed("reset", "Begins from nothing.", reset))?;
    Ok(tools)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let model = ScriptedProvider::new([
        ScriptStep::calls([
            ToolCall::function("call_1", "search", r#"{"query": "KEY", "limit": 5000}"#),
            ToolCall::function("call_2", "reset", "{}"),
        ]),
        ScriptStep::text("The key is set."),
    ]);
    let bundle = AgentBuilder::new()
        .with_provider(model.clone())
        .with_tools(tools()?)
        .with_hook(SecretFilter)
        .with_hook(Bounds)
        .build()?;
    let session = bundle.session("s-1", AgentSpec::new("clerk", "You search files."));

    println!("one turn:");
    let outcome = session.submit_turn("Is my key sk-live-42 set anywhere?").await?;
    println!("  answer  {}", outcome.text());

    println!("the history:");
    let messages = session.messages().await;
    for message in messages.iter().filter(|message| message.role() != Role::Assistant) {
        println!("  {:6}  {}", message.role().as_str(), message.text());
    }

    // No key ever reached the model; the call was kept in bounds; the blocked one did not run.
    for request in model.requests() {
        let sent = serde_json::to_string(&*request)?;
        assert!(!sent.contains("sk-live-42"), "{sent}");
    }
    let results: Vec<_> = messages.iter().filter(|message| message.role() == Role::Tool).collect();
    assert_eq!(results[0].text(), "10 of KEY: export KEY= [key]");
    assert_eq!(results[1].text(), "Resetting is switched off.");
    Ok(())
}
