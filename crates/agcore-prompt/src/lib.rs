//! Prompt templates, a template registry and a message composer for language models.
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
//! | to | use |
//! |---|---|
//! | render one template | [`PromptTemplate`] |
//! | manage templates that include each other as partials | [`PromptTemplateRegistry`] |
//! | build the data that templates read | [`Value`] and [`Object`], or any [`serde::Serialize`] type |
//! | assemble the messages of a request | [`PromptComposer`] |
//! | embed untrusted user input safely | [`data_block()`] |
//!
//! The crate needs no async runtime, reads neither the clock nor the environment, keeps no global state, and builds for
//! wasm32. Only [`PromptTemplateRegistry`] reads files, and only the ones it is asked to load.
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
pub use data_block::{DATA_FIELD_CHARS, DATA_VALUES, DataBlock, data_block};
pub use error::{Location, PromptError, PromptErrorKind};
pub use registry::PromptTemplateRegistry;
pub use template::{PromptTemplate, RenderOptions};
pub use value::{Map, Object, Value};

#[doc(no_inline)]
pub use agcore_chat::{ChatRequest, Content, ContentPart, Message, SequenceError, ToolCall, validate_messages};
