//! Models that do not chat: a contract for each kind, and its implementation over a wire and a transport.

mod caller;
mod carrier;
#[cfg(feature = "rerank")]
mod rerank;

#[cfg(feature = "rerank")]
pub use rerank::{ModelReranker, RankedDocument, Ranking, Reranker};
