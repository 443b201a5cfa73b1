//! Prompt templates, a registry and a message composer: small, strict, without a template library.

mod error;
mod value;
mod data_block;
mod template;
mod registry;

pub use data_block::{DATA_FIELD_CHARS, data_block};
pub use error::{Location, PromptError, PromptErrorKind};
pub use registry::PromptTemplateRegistry;
pub use template::{PromptTemplate, RenderOptions};
pub use value::{Map, Object, Value};
