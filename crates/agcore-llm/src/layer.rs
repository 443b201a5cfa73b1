//! Layers around a provider: each a small room of its own that wraps [`LlmProvider::open`](crate::LlmProvider::open).

pub mod retry;
pub mod trace;
