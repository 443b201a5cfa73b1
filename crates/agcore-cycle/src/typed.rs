//! Typed output: what is pure about asking a model for a value of a type and reading it.
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
//! How a model is asked is its [mode](OutputMode): by the vendor's own form of the answer, by a tool whose arguments are the
//! value, or in the prompt; by default what the provider can do decides, and where a schema is refused the next one is tried.
//! What comes is read into the type. A value that does not fit goes back to the model, with the place of each fault, a
//! bounded number of times.
//!
//! Vendors want an object at the root of a schema: other types travel as `{"value": …}`. Nobody sees that but the model.
//!
//! A type's schema comes from `schemars` with the feature `typed`; an [`Output`] of a schema needs no feature.

mod error;
mod extract;
mod form;
mod mode;
mod options;
mod output;
mod partial;
mod progress;
mod read;
mod schema;

pub(crate) use form::{Ask, Form};
pub(crate) use progress::Progress;

pub use self::{
    error::OutputError,
    mode::OutputMode,
    options::TypedOptions,
    output::Output,
    partial::{ObjectFinder, PartialJson},
};

#[cfg(feature = "typed")]
pub use schemars;
