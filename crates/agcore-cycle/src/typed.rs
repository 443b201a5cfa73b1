//! Typed output: asks a model for a value of a type, checks the answer, and has the model correct it.
//!
//! ```
//! # #[cfg(feature = "typed")] {
//! use agcore_chat::ChatResponse;
//! use agcore_cycle::{
//!     LlmCycle,
//!     typed::schemars::{self, JsonSchema},
//! };
//! use agcore_llm::{SystemClock, provider_fn};
//! use serde::Deserialize;
//!
//! #[derive(Deserialize, JsonSchema)]
//! struct City {
//!     name: String,
//!     inhabitants: u32,
//! }
//!
//! # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
//! let provider = provider_fn(|_| async { Ok(ChatResponse::from_text(r#"{"name": "Oslo", "inhabitants": 717710}"#)) });
//! let mut cycle = LlmCycle::new(provider, SystemClock::new());
//! let city = cycle.turn("The capital of Norway?").typed::<City>().await?.into_value()?;
//! assert_eq!((city.name.as_str(), city.inhabitants), ("Oslo", 717_710));
//! # Ok::<(), agcore_cycle::CycleError>(())
//! # }).unwrap();
//! # }
//! ```
//!
//! The [mode](crate::OutputMode) determines how the model is asked: with the vendor's response format, with a tool whose
//! arguments are the value, or with instructions in the prompt. By default, the capabilities of the provider decide, and if
//! the provider refuses a schema, the next mode is tried. The answer is deserialized into the type. A value that does not fit
//! is sent back to the model, with the path of each violation, a limited number of times.
//!
//! Vendors require an object at the root of a schema, so other types travel as `{"value": …}`. Only the model sees that.
//!
//! With the feature `typed`, `schemars` derives the schema of a type; an [`Output`] with its own schema needs no
//! feature.

pub(crate) mod error;
pub(crate) mod mode;
pub(crate) mod options;
mod recorded;
pub(crate) mod output;

mod extract;
mod form;
mod partial;
mod progress;
mod read;
mod schema;

#[cfg(feature = "typed")]
pub use schemars;

pub use partial::{ObjectFinder, PartialJson};
pub use recorded::RecordedAnswers;

pub(crate) use error::OutputError;
pub(crate) use form::{Ask, Form};
pub(crate) use mode::OutputMode;
pub(crate) use output::Output;
pub(crate) use progress::Progress;
