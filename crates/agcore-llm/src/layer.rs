//! Layers around a provider: each a small room of its own that wraps [`LlmProvider::open`](crate::LlmProvider::open).
//!
//! | layer | what it does |
//! |---|---|
//! | [`Retry`](retry::Retry) | makes a failed call again |
//! | [`RateLimit`](rate_limit::RateLimit) | keeps to so many requests and tokens per minute |
//! | [`Breaker`](breaker::Breaker) | leaves a server in peace that is not well |
//! | [`KeyPool`](key_pool::KeyPool) | several keys of one vendor; one that was told to wait rests |
//! | [`Fallback`](fallback::Fallback) | several providers, in order or by weight |
//! | [`Router`](router::Router) | all of these together |
//! | [`Trace`](trace::Trace) | a span for every call |
//!
//! Each can be used alone. Inside a layer decides a pure part (a schedule, a circuit, the keys, a draw) to which time and
//! chance are handed; the layer itself only moves items along. A layer that chooses tells who answers with a
//! [notice](crate::Notice::AnsweredBy), which becomes an event, [`answered_by`](agcore_chat::ChatResponse::answered_by) of
//! the response, and the fields `gen_ai.provider.name`, `gen_ai.request.model` and `agcore.key` of the caller's span, where
//! it has them.

mod seconds;
mod wait;
pub mod failures;
mod attempt;
pub mod retry;
mod switch;
pub mod rate_limit;
pub mod breaker;
pub mod key_pool;
pub mod fallback;
pub mod router;
pub mod trace;
