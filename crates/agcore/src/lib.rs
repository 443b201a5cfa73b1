//! agcore: build LLM agents in Rust, from one streamed reply to durable runs.
//!
//! ```no_run
//! use std::env;
//!
//! use agcore::{AgentBuilder, AgentSpec, tools::{NoArguments, ToolRegistry, typed}};
//!
//! #[tokio::main(flavor = "current_thread")]
//! async fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     let tools = ToolRegistry::new();
//!     tools.register(typed("dice", "Throws a die.", |_: NoArguments| async { Ok(4) }))?;
//!
//!     let model = agcore::model("openai:gpt-5-mini", env::var("OPENAI_API_KEY")?)?;
//!     let bundle = AgentBuilder::new().with_provider(model).with_tools(tools).build()?;
//!     let session = bundle.session("s-1", AgentSpec::new("gambler", "You like games."));
//!
//!     let outcome = session.submit_turn("Throw the die for me.").await?;
//!     println!("{}", outcome.text());
//!     Ok(())
//! }
//! ```
//!
//! This crate has no logic of its own: a module for each layer, behind a feature of its name, and a few names at the root.
//!
//! | feature | what |
//! |---|---|
//! | `agent` (default) | [`agent`]: agents, sessions, the bundle that composes the layers below |
//! | `llm` | [`llm`]: providers, streaming, retry, hooks, the cycle of requests and tool rounds |
//! | `tools` | [`tools`]: typed tools, registry, permissions, approvals |
//! | `prompt` | `prompt`: templates, registry, composer, untrusted data blocks |
//! | `openai-chat` (default) | the OpenAI Chat Completions API and its dialects |
//! | `anthropic`, `openai-responses`, `ollama` | the native APIs of these vendors |
//! | `http` (default) | the HTTP transport; `http2`, `gzip` add to it |
//! | `schema` | full JSON Schema validation of tool arguments |
//! | `tokenizer` | exact counts of tokens, by built-in vocabularies |
//! | `typed` | schemas of types for typed output; `agent` brings them along |
//! | `macros` | the `#[tool]` attribute |
//! | `full` | all of it |

/// The vocabulary: messages, tools, requests, replies, usage, events.
pub mod chat {
    #[doc(inline)]
    pub use agcore_chat::*;
}

/// Providers, streaming, retry, hooks, the cycle of requests and tool rounds.
#[cfg(feature = "llm")]
pub mod llm {
    #[doc(inline)]
    pub use agcore_llm::*;
}

/// Prompt templates, their registry, the message composer, untrusted data blocks.
#[cfg(feature = "prompt")]
pub mod prompt {
    #[doc(inline)]
    pub use agcore_prompt::*;
}

/// Typed tools, registry, permissions, approvals.
#[cfg(feature = "tools")]
pub mod tools {
    #[doc(inline)]
    pub use agcore_tools::*;
}

/// Agents, sessions, the bundle that composes the layers below.
#[cfg(feature = "agent")]
pub mod agent {
    #[doc(inline)]
    pub use agcore_agent::*;
}

#[doc(no_inline)]
pub use agcore_chat::{ChatRequest, ChatResponse, Message, StreamEvent};

#[cfg(feature = "llm")]
#[doc(no_inline)]
pub use agcore_llm::{LlmCycle, LlmError, LlmProvider, LlmProviderExt};

#[cfg(all(
    feature = "http",
    any(
        feature = "openai-chat",
        feature = "anthropic",
        feature = "openai-responses",
        feature = "ollama"
    )
))]
pub use agcore_llm::model;

#[cfg(feature = "tools")]
#[doc(no_inline)]
pub use agcore_tools::ToolRegistry;

#[cfg(feature = "agent")]
#[doc(no_inline)]
pub use agcore_agent::{AgentBuilder, AgentError, AgentSession, AgentSpec};

/// The examples of the project's page and of this crate's page compile.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
#[doc = include_str!("../README.md")]
struct Readmes;
