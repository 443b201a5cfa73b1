//! Prompt templates, their registry, a message composer, and blocks of untrusted data.
//!
//! ```
//! use agcore::prompt::{PromptComposer, PromptTemplate, data_block};
//! use serde_json::json;
//!
//! let persona = PromptTemplate::compile("You answer customers of {{shop}}.\n{{customer}}")?;
//! // Text of a user is data: it cannot break out of its block.
//! let customer = data_block("customer", &json!({"name": "Lin"}))?;
//! let messages = PromptComposer::new()
//!     .with_system_template(&persona, &json!({"shop": "Nut & Bolt", "customer": customer}))
//!     .with_user("My order has not arrived.")
//!     .build()?;
//! assert!(messages[0].text().starts_with("You answer customers of Nut & Bolt.\n<untrusted_data"));
//! # Ok::<(), agcore::prompt::PromptError>(())
//! ```
//!
//! | to | use |
//! |---|---|
//! | render a template | [`PromptTemplate`] |
//! | manage templates that include each other | [`PromptTemplateRegistry`] |
//! | assemble the messages of a request | [`PromptComposer`] |
//! | put text of a user into a prompt | [`data_block()`] |
//!
//! The language of the templates is described in the docs of the crate `agcore-prompt`, whose public items these are.

#[doc(inline)]
pub use agcore_prompt::*;
