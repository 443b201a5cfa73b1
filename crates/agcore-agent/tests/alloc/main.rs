//! Limits for the allocations of turns of a session over real HTTP.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    missing_docs,
    reason = "a test"
)]

mod idle;
mod server;
mod stored;
mod one_tool;

use std::{sync::Arc, time::Duration};

use agcore_agent::{AgentBuilder, AgentConfig, AgentSession, AgentSpec, RuntimeBundle};
use agcore_chat::{ChatRequest, EventKind, Message, TextEvent, ToolCall, ToolResult};
use agcore_cycle::{Hook, HookContext, RequestVerdict, ResultVerdict, ToolVerdict, TurnOutcome};
use agcore_llm::{ProviderConfig, layer::retry::RetryPolicy};
use agcore_tools::{ToolError, ToolRegistry, typed};
use allocation_counter::AllocationInfo;
use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;
use tokio::runtime::{Builder, Runtime};

use self::server::{ANSWER, CHUNKS, TOOLS};

/// The number of counted rounds, after some warm-up rounds.
const ROUNDS: u32 = 20;

/// The arguments of the tools.
#[derive(Deserialize, JsonSchema)]
struct Place {
    /// The city.
    city: String,
}

async fn look_up(place: Place) -> Result<String, ToolError> {
    Ok(format!("{}: 21", place.city))
}

/// A hook that does nothing at the points that most hooks use.
struct Watch;

#[async_trait]
impl Hook for Watch {
    async fn pre_request(&self, _: &HookContext<'_>, _: &Arc<ChatRequest>) -> RequestVerdict {
        RequestVerdict::Continue
    }

    async fn post_request(&self, _: &HookContext<'_>) {}

    async fn pre_tool(&self, _: &HookContext<'_>, _: &ToolCall) -> ToolVerdict {
        ToolVerdict::Continue
    }

    async fn post_tool(&self, _: &HookContext<'_>, _: &ToolCall, _: &ToolResult) -> ResultVerdict {
        ResultVerdict::Continue
    }
}

/// Creates a session with tools and a hook, for a server that answers below this path.
fn session(path: &str) -> AgentSession {
    new_session(&bundle(path), &agent())
}

fn new_session(bundle: &RuntimeBundle, agent: &Arc<AgentSpec>) -> AgentSession {
    bundle.session("s-1", Arc::clone(agent))
}

fn agent() -> Arc<AgentSpec> {
    Arc::new(AgentSpec::new("a", "You are a helpful assistant."))
}

fn bundle(path: &str) -> RuntimeBundle {
    let tools = ToolRegistry::new();
    for name in TOOLS {
        tools.register(typed(name, "Looks it up.", look_up)).unwrap();
    }
    let provider = ProviderConfig::parse("openai:gpt-4.1")
        .unwrap()
        .with_base_url(format!("{}/{path}", server::start()))
        .with_api_key("sk-test")
        // Large enough that no history is compacted.
        .with_context_window(100_000_000);
    let retry = RetryPolicy::new().with_backoff(Duration::ZERO, Duration::ZERO);
    AgentBuilder::new()
        .with_provider(provider.build().unwrap())
        .with_tools(tools)
        .with_hook(Watch)
        .with_config(AgentConfig::new().with_retry(retry))
        .build()
        .unwrap()
}

fn runtime() -> Runtime {
    Builder::new_current_thread().enable_all().build().unwrap()
}

/// Runs a turn and reads its events. Returns the number of text events.
async fn turn(session: &AgentSession) -> (u32, TurnOutcome) {
    let mut turn = session.turn("What about Paris?").stream();
    let mut texts = 0;
    while let Some(event) = turn.next().await {
        texts += u32::from(matches!(event.kind, EventKind::Text(TextEvent::Text(_))));
    }
    (texts, turn.finish().await.unwrap())
}

/// Returns the average number of allocations and bytes of a round.
fn allocated(runtime: &Runtime, round: impl AsyncFn()) -> (f64, f64) {
    let rounds = |times: u32| {
        runtime.block_on(async {
            for _ in 0..times {
                round().await;
            }
        });
    };
    rounds(3);
    let AllocationInfo {
        count_total,
        bytes_total,
        ..
    } = allocation_counter::measure(|| rounds(ROUNDS));
    assert!(count_total >= u64::from(ROUNDS), "nothing was counted");
    (
        count_total as f64 / f64::from(ROUNDS),
        bytes_total as f64 / f64::from(ROUNDS),
    )
}

// The validation of arguments with all keywords, which other crates of the workspace enable, makes 16 allocations more than the
// default one.
#[test]
fn a_loop_of_two_requests_and_three_tools_costs_at_most_250_allocations() {
    let (runtime, session) = (runtime(), session("loop"));
    let (each, _) = allocated(&runtime, async || {
        session.set_messages(Vec::new()).await.unwrap();
        let (_, outcome) = turn(&session).await;
        assert_eq!(outcome.report().unwrap().rounds, 1);
        assert_eq!(outcome.text(), ANSWER);
    });

    assert!(each <= 250.0, "{each} allocations for a loop");
}

/// A server creates a session for each conversation.
#[test]
fn a_turn_of_a_new_session_costs_at_most_90_allocations() {
    let (runtime, bundle, agent) = (runtime(), bundle("turn"), agent());
    let (each, _) = allocated(&runtime, async || {
        let outcome = new_session(&bundle, &agent).turn("Hello!").await.unwrap();
        assert_eq!(outcome.text(), ANSWER);
    });

    assert!(each <= 90.0, "{each} allocations for a turn");
}

#[test]
fn a_loop_of_a_new_session_costs_at_most_255_allocations() {
    let (runtime, bundle, agent) = (runtime(), bundle("loop"), agent());
    let (each, _) = allocated(&runtime, async || {
        let outcome = new_session(&bundle, &agent).turn("What about Paris?").await.unwrap();
        assert_eq!(outcome.report().unwrap().rounds, 1);
        assert_eq!(outcome.text(), ANSWER);
    });

    assert!(each <= 255.0, "{each} allocations for a loop");
}

#[test]
fn a_streamed_chunk_costs_at_most_a_fifth_of_an_allocation_as_an_event() {
    let (runtime, session) = (runtime(), session("stream"));
    let (each, _) = allocated(&runtime, async || {
        session.set_messages(Vec::new()).await.unwrap();
        assert_eq!(turn(&session).await.0, CHUNKS);
    });
    let each = each / f64::from(CHUNKS);

    assert!(each <= 0.2, "{each} allocations for a chunk");
}

/// Returns five thousand questions with their answers.
fn history() -> Vec<Arc<Message>> {
    let pair = |number| {
        [
            Message::user(format!(
                "Question {number}: how far is it from here to there, and how long does it take?"
            )),
            Message::assistant(format!(
                "Answer {number}: about \"ten kilometres\",\nwhich take two hours, I think."
            )),
        ]
    };
    (0..5000).flat_map(pair).map(Arc::new).collect()
}

/// Returns the allocations of a turn with a long history: their number, and their bytes per byte of the messages.
fn with_history(path: &str) -> (f64, f64) {
    let (runtime, session, history) = (runtime(), session(path), history());
    let size = serde_json::to_vec(&history).unwrap().len();
    let (count, bytes) = allocated(&runtime, async || {
        session.set_messages(history.clone()).await.unwrap();
        assert_eq!(turn(&session).await.1.text(), ANSWER);
    });
    (count, bytes / size as f64)
}

/// A deep copy of the messages would need at least 10,000 allocations and more bytes than the body.
#[test]
fn a_long_history_is_copied_once_per_turn_and_once_per_attempt() {
    let (count, bodies) = with_history("turn");
    assert!(count <= 90.0, "{count} allocations for a turn");
    assert!(
        bodies <= 1.6,
        "a turn allocates {bodies} times the size of its messages"
    );

    let (count, bodies) = with_history("busy");
    assert!(count <= 205.0, "{count} allocations for a turn of three attempts");
    assert!(
        bodies <= 1.6 + 2.0 * 1.2,
        "a turn of three attempts allocates {bodies} times the size of its messages"
    );
}
