//! Prompts: a small, strict template engine, a registry and a composer of messages.
//!
//! ```
//! use agcore_prompt::PromptTemplate;
//! use serde_json::json;
//!
//! let template = PromptTemplate::compile("Hello {{user.name}}!{{#each todo}}\n{{@index}}. {{item}}{{/each}}")?;
//! let prompt = template.render_from(&json!({"user": {"name": "Ada"}, "todo": ["proofs", "notes"]}))?;
//! assert_eq!(prompt, "Hello Ada!\n0. proofs\n1. notes");
//! # Ok::<(), agcore_prompt::PromptError>(())
//! ```
//!
//! | what | with |
//! |---|---|
//! | one template | [`PromptTemplate`] |
//! | many, which are each other's partials | [`PromptTemplateRegistry`] |
//! | what they read | [`Value`] and [`Object`], or anything serializable |
//! | messages of them | [`PromptComposer`] |
//! | what users wrote | [`data_block()`] |
//!
//! No runtime, no clock, no environment, no globals: the crate builds for wasm32. Only [`PromptTemplateRegistry`] reads
//! files, and only those it is told to.
#![doc = include_str!("language.md")]

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod error;
mod value;
mod template;
mod registry;
mod data_block;
mod composer;

pub use composer::PromptComposer;
pub use data_block::{DATA_FIELD_CHARS, data_block};
pub use error::{Location, PromptError, PromptErrorKind};
pub use registry::PromptTemplateRegistry;
pub use template::{PromptTemplate, RenderOptions};
pub use value::{Map, Object, Value};

#[doc(no_inline)]
pub use agcore_chat::{ChatRequest, Content, ContentPart, Message, SequenceError, ToolCall, validate_messages};
