//! The clients of agcore: a bare provider, and sessions of an agent.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use agcore_agent::{AgentBuilder, AgentSession, AgentSpec, RuntimeBundle};
use agcore_chat::{ChatRequest, EventKind, Message, TextEvent, ToolCall, ToolResult};
use agcore_cycle::{Hook, HookContext, RequestVerdict, ResultVerdict, ToolVerdict, TurnOutcome};
use agcore_llm::{Call, Capabilities, LlmProvider, ProviderConfig, ProviderInfo, ReplyDelta, ReplyItem, ReplyStream};
use agcore_tools::ToolRegistry;
use async_trait::async_trait;

use crate::{
    Fallible,
    canned::{self, streamed::Api},
};

/// The instructions of all conversations.
pub const INSTRUCTIONS: &str = "You are a helpful assistant.";

/// A context window in which no history is compacted.
const CONTEXT_WINDOW: u64 = 100_000_000;

/// Creates a Chat Completions provider for the server at a URL.
pub fn provider(url: &str) -> Fallible<Arc<dyn LlmProvider>> {
    provider_of(Api::Chat, url)
}

/// Creates a provider of an API for the server at a URL.
pub fn provider_of(api: Api, url: &str) -> Fallible<Arc<dyn LlmProvider>> {
    let config = ProviderConfig::parse(match api {
        Api::Chat => "openai:gpt-4.1",
        Api::Anthropic => "anthropic:claude-sonnet-4-5",
        Api::Responses => "openai-responses:gpt-4.1",
    })?
    .with_base_url(url)
    .with_api_key("sk-test")
    .with_context_window(CONTEXT_WINDOW);
    Ok(config.build()?)
}

/// Creates a provider that answers at once, without encoding, I/O and decoding.
pub fn offline() -> Arc<dyn LlmProvider> {
    let capabilities = Capabilities::default().with_context_window(CONTEXT_WINDOW);
    Arc::new(Offline(
        ProviderInfo::new("offline", "gpt-4.1").with_capabilities(capabilities),
    ))
}

/// A provider that answers at once.
#[derive(Debug)]
struct Offline(ProviderInfo);

impl LlmProvider for Offline {
    fn open(&self, _: Call) -> ReplyStream {
        let text = ReplyDelta::Text {
            choice: 0,
            text: canned::ANSWER.into(),
        };
        ReplyStream::from_items([ReplyItem::Delta(text), ReplyItem::End(Ok(()))])
    }

    fn info(&self) -> &ProviderInfo {
        &self.0
    }
}

/// Creates the request of a turn.
pub fn request() -> Arc<ChatRequest> {
    Arc::new(ChatRequest::new([
        Message::system(INSTRUCTIONS),
        Message::user("Hello!"),
    ]))
}

/// Reads a streamed reply as deltas and returns the length of its text in bytes.
pub async fn read_deltas(provider: &dyn LlmProvider, request: Arc<ChatRequest>) -> Fallible<u64> {
    let mut items = provider.open(Call::new(request).with_stream(true));
    let mut text_size = 0;
    while let Some(item) = items.next().await {
        match item {
            ReplyItem::Delta(ReplyDelta::Text { text, .. }) => text_size += text.len() as u64,
            ReplyItem::End(end) => end?,
            _ => {}
        }
    }
    Ok(text_size)
}

/// Creates the bundle that sessions share: a provider with retries, and tools.
pub fn bundle(provider: Arc<dyn LlmProvider>, tools: ToolRegistry) -> Fallible<RuntimeBundle> {
    Ok(builder(provider, tools).build()?)
}

/// Creates a bundle with a hook that counts requests and calls.
pub fn bundle_with_hook(provider: Arc<dyn LlmProvider>, tools: ToolRegistry) -> Fallible<RuntimeBundle> {
    Ok(builder(provider, tools).with_hook(CountingHook::default()).build()?)
}

fn builder(provider: Arc<dyn LlmProvider>, tools: ToolRegistry) -> AgentBuilder {
    AgentBuilder::new().with_provider(provider).with_tools(tools)
}

/// Creates a session of an agent.
pub fn session(bundle: &RuntimeBundle, agent: &Arc<AgentSpec>) -> AgentSession {
    bundle.session("bench", Arc::clone(agent))
}

/// Creates the agent.
pub fn agent() -> Arc<AgentSpec> {
    Arc::new(AgentSpec::new("bench", INSTRUCTIONS))
}

/// Runs a turn, reads all of its events, and returns the length of their text in bytes.
pub async fn read_events(session: &AgentSession, input: &str) -> Fallible<(u64, TurnOutcome)> {
    let mut turn = session.turn(input).stream();
    let mut text_size = 0;
    while let Some(event) = turn.next().await {
        if let EventKind::Text(TextEvent::Text(text)) = &event.kind {
            text_size += text.len() as u64;
        }
    }
    Ok((text_size, turn.finish().await?))
}

/// A hook that counts its calls.
#[derive(Default)]
struct CountingHook(AtomicU64);

impl CountingHook {
    fn count(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

#[async_trait]
impl Hook for CountingHook {
    async fn pre_request(&self, _: &HookContext<'_>, _: &Arc<ChatRequest>) -> RequestVerdict {
        self.count();
        RequestVerdict::Continue
    }

    async fn post_request(&self, _: &HookContext<'_>) {
        self.count();
    }

    async fn pre_tool(&self, _: &HookContext<'_>, _: &ToolCall) -> ToolVerdict {
        self.count();
        ToolVerdict::Continue
    }

    async fn post_tool(&self, _: &HookContext<'_>, _: &ToolCall, _: &ToolResult) -> ResultVerdict {
        self.count();
        ResultVerdict::Continue
    }
}
