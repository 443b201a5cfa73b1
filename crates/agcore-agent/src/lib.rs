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
//!
//! <!-- /features -->

mod plan;
mod error;
mod environment;
mod tool_settings;
mod team_limits;
mod config;
mod front_matter;
mod agent;
mod members;
mod known_tools;
mod handoff_state;
mod agent_settings;
mod prompt_layers;
mod id;
mod tape;
mod bundle;
mod data_text;
mod session_memory;
mod durable;
mod turn_scope;
mod input_check;
mod queue;
mod shared;
mod team_budget;
mod span;
mod turn;
mod session;
mod tool_calls_bill;
mod tool_source;
#[cfg(feature = "knowledge")]
mod knowledge_tools;
mod skills;
mod session_memory_tools;
mod stored_sessions;
mod context_manager;
mod trajectory;
mod replay;
mod team;
mod task;
mod builder;
mod needs_session;

#[cfg(feature = "knowledge")]
#[doc(inline)]
pub use knowledge_tools::KnowledgeTools;
#[doc(inline)]
pub use {
    agent::{Agent, AgentSpec, Parameters},
    builder::{AgentBuilder, agent},
    bundle::RuntimeBundle,
    config::{AgentConfig, BusyPolicy, OpenQuestionPolicy},
    context_manager::{ContextManager, ContextsState},
    durable::RecordedEvent,
    environment::Environment,
    error::{AgentError, AgentErrorKind},
    plan::{Plan, PlanError, Step, StepStatus},
    replay::{ReplayError, ReplayErrorKind, ReplayReport},
    session::{AgentSession, SessionState},
    session_memory::SessionMemory,
    session_memory_tools::SessionMemoryTools,
    skills::{Skill, Skills},
    stored_sessions::{CONTEXT_METADATA, StoredSessions},
    task::{JsonPlanParser, PlanParser, StepQuestions, TaskAgent, TaskReport, TaskTurn},
    team::{FanOut, Gathered, SubAgent},
    team_limits::TeamLimits,
    tool_calls_bill::bill_calls,
    tool_settings::ToolSettings,
    tool_source::ToolSource,
    trajectory::{Trajectory, TrajectoryEntry, TrajectoryError},
    turn::AgentTurn,
};

/// Compiles the example of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
