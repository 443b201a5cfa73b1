//! Flows of agents that are described in files: stages, routers, planners and graphs, on the engine of [agcore-flow](agcore_flow).
//!
//! ```
//! use agcore_agent::AgentBuilder;
//! use agcore_chat::SystemClock;
//! use agcore_flow_files::{FlowFile, GraphFlow, GraphState};
//! use agcore_testkit::scripted::{ScriptStep, ScriptedProvider};
//!
//! let text = "
//! version: 1
//! kind: graph
//! nodes:
//!   write: {}
//! edges:
//!   - {from: write, to: end}
//! agents:
//!   author: {role: You write., goal: Write well., backstory: ''}
//! tasks:
//!   write: {agent: author, description: 'Write about {{request}}.', expected_output: A text.}
//! ";
//! # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
//! let file = FlowFile::parse("article.flow.yaml", text, |_| Err("there are no other files".into()))?;
//! # let model = ScriptedProvider::new([ScriptStep::text("Tea is a drink.")]);
//! let bundle = AgentBuilder::new().with_provider(model).build()?;
//! let flow = GraphFlow::new(file, bundle).build(SystemClock::new())?;
//! let state = flow.run(GraphState::new("tea")).await?.into_state()?;
//! assert_eq!(state.answer().unwrap(), "Tea is a drink.");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # }).unwrap();
//! ```
//!
//! | to | use |
//! |---|---|
//! | read agents, tasks and nodes from YAML | [`FlowFile`] |
//! | recognize, execute, report | [`StagedFlow`] |
//! | assign work to a worker with skills | [`RouterFlow`] |
//! | plan, call tools, reflect | [`PlannerFlow`], [`StateTool`] |
//! | run the nodes and edges of a file | [`GraphFlow`] |
//! | serve a file of any kind, or a flow of your own | [`FileFlow`], [`RequestState`] |
//! | carry out tasks in the order of their dependencies | [`TodoList`] |
//! | keep the state of a planner loop | [`RuntimeState`], [`ActionRecord`] |
//!
//! # Features
//!
//! <!-- features -->
//!
//! | feature | description |
//! |---|---|
//! | `objects` | Files in buckets: `HttpObjects`, with which `ObjectStorage` sends its requests. |
//!
//! <!-- /features -->

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod todo;
mod planner;
mod file;
mod stage;
mod staged;
mod router;
mod graph_flow;
mod planner_flow;
mod file_flow;
#[cfg(feature = "objects")]
mod objects;

pub use file::{
    AgentTemplate, EdgeTemplate, FileLimits, FileProblem, FlowFile, FlowFileError, FlowKind, NodeTemplate, NodeWork,
    TaskOutput, TaskTemplate,
};
pub use file_flow::{FileFlow, FileFlowBuilder, FileFlowRun, FlowRequest, FlowResult, RequestState};
pub use graph_flow::{GraphFlow, GraphState};
#[cfg(feature = "objects")]
pub use objects::HttpObjects;
pub use planner::{
    ActionContent, ActionContext, ActionRecord, ContextUsage, MemoryHit, OutputPart, PerTurn, Relevance, RuntimeState,
    RuntimeStateError, RuntimeStateErrorKind,
};
pub use planner_flow::{
    CallTool, MemoryNote, MemoryNoteKind, PlannerFlow, PlannerMemory, PlannerState, StateTool, StateToolKind,
    StoredMemory, user_facts,
};
pub use router::{ContextSource, Job, RouterFlow, RouterResult, RouterState, StoredContext};
pub use stage::NODE_METADATA;
pub use staged::{
    ExecutionResult, ExecutionStatus, IntentResult, IntentRoute, OrganizationResult, StagedFlow, StagedState,
};
pub use todo::{CompletionDetails, Todo, TodoAttempt, TodoError, TodoErrorKind, TodoList, TodoOutcome, TodoStatus};
