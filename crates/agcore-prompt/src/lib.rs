//! Prompt templates, a registry and a message composer: small, strict, without a template library.

mod error;
mod value;
mod template;
mod registry;

pub use error::{Location, PromptError, PromptErrorKind};
pub use registry::PromptTemplateRegistry;
pub use template::{PromptTemplate, RenderOptions};
pub use value::{Map, Object, Value};
