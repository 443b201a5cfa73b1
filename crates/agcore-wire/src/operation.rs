//! Operations other than a chat completion: listing models, embedding texts, and calls of models that do not chat.

mod models;
mod embed;
#[cfg(feature = "rerank")]
mod rerank;

pub use embed::{Embed, EmbedItem, EmbedRequest};
pub use models::{ListModels, ModelEntry};
#[cfg(feature = "rerank")]
pub use rerank::{Rerank, RerankItem, RerankRequest};
