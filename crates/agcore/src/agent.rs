//! Agents, and sessions that remember earlier turns, stream, suspend and resume.
//!
//! ```
//! use agcore_testkit::scripted::{ScriptStep, ScriptedProvider};
//!
//! #[tokio::main(flavor = "current_thread")]
//! async fn main() -> Result<(), agcore::AgentError> {
//!     // A real model: agcore::model("openai:gpt-5-mini", key)?
//!     let model = ScriptedProvider::new([ScriptStep::text("Good day, Ada."), ScriptStep::text("You are Ada.")]);
//!     let session = agcore::agent(model).with_instructions("You greet people.").session()?;
//!
//!     session.turn("I am Ada.").await?;
//!     let outcome = session.turn("Who am I?").await?;
//!     assert_eq!(outcome.text(), "You are Ada.");
//!     Ok(())
//! }
//! ```
//!
//! | to | use |
//! |---|---|
//! | create an agent with one conversation | [`agent()`](fn@agent), then [`AgentBuilder::session`] |
//! | serve many conversations | [`AgentBuilder::build`], then [`RuntimeBundle::session`] |
//! | run a turn, stream it, cancel it, ask for a typed answer | [`AgentSession::turn`], which returns an [`AgentTurn`] |
//! | save and restore a conversation | [`AgentSession::export`] and [`RuntimeBundle::restore`] |
//! | answer the questions of a suspended turn | [`AgentSession::resume`] |
//! | keep agents in settings files | [`AgentSpec`] |
//! | let an agent use a wiki | `AgentBuilder::with_knowledge` (feature `memory`) |
//! | set limits, retries, compaction, budgets | [`AgentConfig`] |
//!
//! A typed turn returns a value of a Rust type. The type implements `Deserialize` and `JsonSchema`; the attribute
//! `#[output]` of `agcore::tools` derives both, without further dependencies:
//!
//! ```
//! use agcore::tools::output;
//! # use agcore_testkit::scripted::{ScriptStep, ScriptedProvider};
//!
//! #[output]
//! struct City {
//!     name: String,
//!     /// Without suburbs.
//!     population: u64,
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), agcore::AgentError> {
//! # let model = ScriptedProvider::new([ScriptStep::text(r#"{"name": "Lisbon", "population": 545000}"#)]);
//! let session = agcore::agent(model).session()?;
//! let city = session.turn("The largest city in Portugal?").typed::<City>().await?.into_value()?;
//! assert_eq!((city.name.as_str(), city.population), ("Lisbon", 545_000));
//! # Ok(())
//! # }
//! ```
//!
//! These are the public items of the crate `agcore-agent`.

#[doc(inline)]
pub use agcore_agent::*;
