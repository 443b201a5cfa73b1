//! Agents and their sessions: the crate that composes provider, tools and conversation.
//!
//! ```
//! use agcore_agent::{AgentBuilder, AgentSpec};
//! use agcore_testkit::scripted::{ScriptStep, ScriptedProvider};
//!
//! # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
//! let model = ScriptedProvider::new([ScriptStep::text("Good day, Ada."), ScriptStep::text("You are Ada.")]);
//! let bundle = AgentBuilder::new().with_provider(model).build()?;
//! let session = bundle.session("s-1", AgentSpec::new("greeter", "You greet people."));
//!
//! session.submit_turn("I am Ada.").await?;
//! let outcome = session.submit_turn("Who am I?").await?;
//! assert_eq!(outcome.text(), "You are Ada.");
//! # Ok::<(), agcore_agent::AgentError>(())
//! # }).unwrap();
//! ```

pub mod error;
pub mod environment;
pub mod config;
pub mod agent;
mod prompt_layers;
pub mod bundle;
pub mod builder;
pub mod session;

#[doc(inline)]
pub use {
    agent::{Agent, AgentSpec},
    builder::AgentBuilder,
    bundle::RuntimeBundle,
    config::{AgentConfig, BusyPolicy},
    environment::Environment,
    error::AgentError,
    session::{AgentSession, AgentTurn, SessionState},
};
