//! Providers of models, streaming, retries and routing; the agent loop with hooks, budgets and typed output.
//!
//! A provider answers requests. [`LlmProviderExt`] has the methods to call: wait for the whole response, or read it while the
//! model writes it.
//!
//! ```
//! use agcore::{ChatRequest, LlmError, LlmProviderExt, Message};
//! # use agcore_testkit::scripted::{ScriptStep, ScriptedProvider};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), LlmError> {
//! # let model = ScriptedProvider::new([ScriptStep::text("It is Paris."), ScriptStep::text("It is Paris.")]);
//! // A real model: let model = agcore::model("openai:gpt-5-mini", key)?;
//! let request = ChatRequest::new([Message::user("What is the capital of France?")]);
//!
//! let response = model.chat(request.clone()).await?;
//! assert_eq!(response.text(), "It is Paris.");
//!
//! let mut text = model.chat_stream(request).text_stream();
//! let mut answer = String::new();
//! while let Some(piece) = text.next().await {
//!     answer.push_str(&piece?);
//! }
//! assert_eq!(answer, "It is Paris.");
//! # Ok(())
//! # }
//! ```
//!
//! | to | use |
//! |---|---|
//! | create a provider from a name and a key | `model` |
//! | set an address, timeouts, a proxy, headers | `ProviderConfig` |
//! | send a request, or stream its reply | [`LlmProviderExt`] |
//! | implement a provider, or wrap one | [`LlmProvider`], [`provider_fn`] |
//! | retry, limit rates, use several keys or vendors | the module [`layer`] |
//! | record exchanges and replay them in tests | the module `cassette`, with the feature `cassettes` |
//! | run the agent loop without sessions | [`LlmCycle`] |
//! | inspect or change what the loop does | [`Hook`] |
//! | limit tokens, money, time or calls | [`Budgets`] |
//! | write an API or a transport of your own | the modules [`wire`] and [`transport`] |
//!
//! [`LlmCycle`] is the agent loop: it keeps one conversation, calls tools and sends their results back. Agents are built on it.
//!
//! ```
//! use agcore::{LlmCycle, llm::SystemClock};
//! # use agcore_testkit::scripted::{ScriptStep, ScriptedProvider};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), agcore::CycleError> {
//! # let model = ScriptedProvider::new([ScriptStep::text("The Loire."), ScriptStep::text("1,006 km.")]);
//! let mut cycle = LlmCycle::new(model, SystemClock::new());
//! assert_eq!(cycle.turn("The longest river in France?").await?.text(), "The Loire.");
//! assert_eq!(cycle.turn("How long is it?").await?.text(), "1,006 km.");
//! # Ok(())
//! # }
//! ```
//!
//! These are the public items of the crates `agcore-llm` and `agcore-cycle`.

#[doc(inline)]
pub use agcore_cycle::*;
#[doc(inline)]
pub use agcore_llm::*;
