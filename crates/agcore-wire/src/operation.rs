//! Operations other than a chat completion: listing models and embedding texts.

mod models;
mod embed;

pub use embed::{Embed, EmbedItem, EmbedRequest};
pub use models::{ListModels, ModelEntry};
