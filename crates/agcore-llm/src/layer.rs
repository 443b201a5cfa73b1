//! Layers: providers that wrap another provider.
//!
//! A layer implements [`LlmProvider`](crate::LlmProvider) around an inner one. It can change each [`Call`](crate::Call) that
//! goes in and each [`ReplyItem`](crate::ReplyItem) that comes out. Each layer can be used on its own:
//!
//! | layer | function |
//! |---|---|
//! | [`Retry`](retry::Retry) | repeats failed calls |
//! | [`RateLimit`](rate_limit::RateLimit) | limits requests and tokens per minute |
//! | [`Breaker`](breaker::Breaker) | does not call a failing server |
//! | [`KeyPool`](key_pool::KeyPool) | uses several keys of one vendor; rate-limited keys cool down |
//! | [`Adapt`](adapt::Adapt) | changes requests for one provider |
//! | [`Fallback`](fallback::Fallback) | tries several providers, in order or by weight |
//! | [`Router`](router::Router) | combines the five before it |
//! | [`Trace`](trace::Trace) | creates a span for each call |
//!
//! ```
//! use std::sync::Arc;
//! use agcore_chat::{ChatRequest, ChatResponse, Message};
//! use agcore_llm::{
//!     LlmProviderExt, SystemClock,
//!     layer::{rate_limit::{RateLimit, RateLimits}, retry::{Retry, RetryPolicy}},
//!     provider_fn, system_random,
//! };
//!
//! # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
//! let clock = Arc::new(SystemClock::new());
//! let provider = provider_fn(|_| async { Ok(ChatResponse::from_text("Hi.")) });
//! // The limit is inside the retry, so that it counts each attempt.
//! let provider = RateLimit::new(provider, RateLimits::new().with_requests_per_minute(500), clock.clone())?;
//! let provider = Retry::new(provider, RetryPolicy::new(), clock, system_random());
//!
//! let response = provider.chat(ChatRequest::new([Message::user("Hello")])).await?;
//! assert_eq!(response.text(), "Hi.");
//! # Ok::<(), agcore_llm::LlmError>(())
//! # }).unwrap();
//! ```
//!
//! The decisions of a layer are made by a pure part that is given the time and random numbers: a
//! [`Schedule`](rate_limit::Schedule), a [`Circuit`](breaker::Circuit), [`Keys`](key_pool::Keys), a
//! [`draw`](fallback::draw). The layer itself only forwards items.
//!
//! A layer with several targets reports which one answers with a notice, [`AnsweredBy`](crate::Notice::AnsweredBy). The
//! name is also in [`answered_by`](agcore_chat::ChatResponse::answered_by) of the response, and in the fields
//! `gen_ai.provider.name`, `gen_ai.request.model` and `agcore.key` of the caller's span if it has them.
//!
//! The layers of `agcore-tools` are a different thing: they wrap the invocation of a tool, not a provider.

mod seconds;
pub mod failures;
mod attempt;
mod switch;
pub mod retry;
pub mod rate_limit;
pub mod breaker;
pub mod key_pool;
pub mod adapt;
pub mod fallback;
pub mod router;
pub mod trace;
