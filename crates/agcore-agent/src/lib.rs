//! Agents and their sessions: the crate that composes provider, tools and agent loop.
//!
//! ```
//! use agcore_agent::agent;
//! use agcore_testkit::scripted::{ScriptStep, ScriptedProvider};
//!
//! # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
//! // In production, a model over HTTP: `agcore_llm::model("openai:gpt-5-mini", key)?`.
//! let model = ScriptedProvider::new([ScriptStep::text("Good day, Ada."), ScriptStep::text("You are Ada.")]);
//! let session = agent(model).with_instructions("You greet people.").session()?;
//!
//! session.turn("I am Ada.").await?;
//! let outcome = session.turn("Who am I?").await?;
//! assert_eq!(outcome.text(), "You are Ada.");
//! # Ok::<(), agcore_agent::AgentError>(())
//! # }).unwrap();
//! ```
//!
//! An [`AgentBuilder`] builds a [`RuntimeBundle`]: the provider, tools, permissions, hooks and settings that many
//! [sessions](AgentSession) share. A session is one conversation. Each [turn](AgentTurn) of it is awaited or streamed, and
//! one that waits for a person can be saved and [resumed](AgentSession::resume) later.
//!
//! # Features
//!
//! <!-- features -->
//!
//! | feature | description |
//! |---|---|
//! | `knowledge` | `KnowledgeTools`: tools with which a model uses a wiki. |
//! | `shared-state` | `SharedState`: a JSON document that an agent and an application both change. |
//! | `tool-search` | `ToolSearch`: requests contain few tools, and the model loads others when it needs them. |
//!
//! <!-- /features -->

mod plan;
mod error;
mod config;
mod front_matter;
mod agent;
mod tape;
mod data_text;
mod tool_source;
mod skills;
mod session_data;
mod bundle;
mod durable;
mod turn;
mod session;
mod tools;
mod stored;
mod replay;
mod team;
mod task;
mod builder;

#[cfg(feature = "shared-state")]
#[doc(inline)]
pub use session_data::{LocalState, SharedState, SharedStateError, StateChange, StateVersion, UPDATE_STATE};
#[cfg(feature = "tool-search")]
#[doc(inline)]
pub use tool_source::ToolSearch;
#[cfg(feature = "knowledge")]
#[doc(inline)]
pub use tools::KnowledgeTools;
#[doc(inline)]
pub use {
    agent::{Agent, AgentSpec, Parameters},
    builder::{AgentBuilder, agent},
    bundle::RuntimeBundle,
    config::{AgentConfig, BusyPolicy, Environment, OpenQuestionPolicy, TeamLimits, ToolSettings},
    durable::{RecordedEvent, TurnCommit, TurnLog, session_spent},
    error::{AgentError, AgentErrorKind},
    plan::{Plan, PlanError, Step, StepStatus},
    replay::{ReplayError, ReplayErrorKind, ReplayReport, Trajectory, TrajectoryEntry, TrajectoryError},
    session::{AgentSession, SessionState},
    session_data::{ResultCompression, SessionMemory},
    skills::{Skill, Skills},
    stored::{
        BranchSession, CONTEXT_METADATA, ContextManager, ContextsState, OpenSession, SharedCooldowns, StoredSessions,
    },
    task::{JsonPlanParser, PlanParser, StepQuestions, TaskAgent, TaskReport, TaskTurn},
    team::{FanOut, Gathered, SubAgent, sub_agent_call},
    tool_source::ToolSource,
    tools::{SessionMemoryTools, bill_calls},
    turn::AgentTurn,
};

/// Compiles the example of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
