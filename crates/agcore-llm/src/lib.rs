//! Talking to models: providers, streaming, retry, hooks, and the cycle of requests and tool rounds.
//!
//! ```
//! use agcore_chat::ChatResponse;
//! use agcore_llm::{LlmCycle, SystemClock, provider_fn};
//!
//! # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
//! // Any function that answers is a provider; `model("openai:gpt-5-mini", key)` is one over HTTP.
//! let provider = provider_fn(|call| async move {
//!     Ok(ChatResponse::from_text(format!("{} messages", call.request.messages.len())))
//! });
//! let mut cycle = LlmCycle::new(provider, SystemClock::new());
//! assert_eq!(cycle.submit("Hello").await?.text(), "1 messages");
//! assert_eq!(cycle.submit("Again").await?.text(), "3 messages");
//! # Ok::<(), agcore_llm::LlmError>(())
//! # }).unwrap();
//! ```
//!
//! A provider is a [wire] (pure: requests to bytes, bytes to [deltas](delta)) on a [transport] (how bytes travel). [Layers](layer)
//! wrap it, a [fold] makes whole replies of deltas, the [cycle] runs turns.
//!
//! | feature | what |
//! |---|---|
//! | `openai-chat` (default) | the OpenAI Chat Completions API with its dialects |
//! | `anthropic` | the Anthropic Messages API |
//! | `openai-responses` | the OpenAI Responses API |
//! | `ollama` | Ollama's own API |
//! | `http` (default) | the HTTP transport, by reqwest with rustls and ring |
//! | `http2`, `gzip` | what they say, in that transport |
//! | `tokenizer` | exact counts of tokens for the vocabularies o200k, cl100k and Qwen |
//! | `typed` | schemas of types for [typed output](typed), by schemars |

pub mod error;
pub mod delta;
pub mod reply;
pub mod fold;
pub mod provider;
pub mod sse;
pub mod ndjson;
mod near;
#[cfg(feature = "openai-chat")]
pub mod dialect;
pub mod wire;
pub mod credential;
pub mod transport;
pub mod wire_provider;
pub mod embedder;
#[cfg(all(
    feature = "http",
    any(
        feature = "openai-chat",
        feature = "anthropic",
        feature = "openai-responses",
        feature = "ollama"
    )
))]
pub mod config;
#[cfg(all(
    feature = "http",
    any(
        feature = "openai-chat",
        feature = "anthropic",
        feature = "openai-responses",
        feature = "ollama"
    )
))]
mod model;
pub mod registry;
pub mod wire_case;
pub mod layer;
pub mod clock;
#[cfg(feature = "tokenizer")]
pub mod tokenizer;
pub mod cassette;
pub mod budget;
pub mod hooks;
pub mod compact;
pub mod typed;
pub mod cycle;

#[cfg(feature = "tokenizer")]
#[doc(inline)]
pub use tokenizer::ExactEstimator;
#[doc(inline)]
pub use {
    budget::{Budget, BudgetPool, Budgets, Spent},
    cassette::{RecordingProvider, ReplayProvider},
    clock::{SystemClock, system_random},
    compact::{CompactionReport, CompactionSettings},
    cycle::{
        CycleSettings, LlmCycle, Observer, TurnInput, TurnOptions, TurnOutcome, TurnReport, TurnStream, Typed,
        TypedOutcome,
    },
    embedder::ModelEmbedder,
    error::{LlmError, LlmErrorKind, TimeoutStage},
    hooks::{
        Hook, HookContext, Hooks, PlanStepEnd, RequestPurpose, RequestVerdict, ResultVerdict, ToolVerdict, TurnVerdict,
    },
    layer::{
        retry::{MidStream, Retry, RetryPolicy},
        router::{Route, Router},
        trace::Trace,
    },
    provider::{Call, Capabilities, LlmProvider, LlmProviderExt, ProviderInfo, provider_fn},
    registry::ProviderRegistry,
    reply::{Notice, ReplyItem, ReplyStream},
    typed::{Output, OutputError, OutputMode, TypedOptions},
};
#[cfg(all(
    feature = "http",
    any(
        feature = "openai-chat",
        feature = "anthropic",
        feature = "openai-responses",
        feature = "ollama"
    )
))]
#[doc(inline)]
pub use {
    config::{ProviderConfig, ProviderType},
    model::model,
};
