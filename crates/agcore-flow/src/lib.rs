//! Flows of agents: a graph of nodes over one typed state, with checkpoints, interrupts and pictures.
//!
//! ```
//! use agcore_chat::SystemClock;
//! use agcore_flow::{END, FlowBuilder, Step};
//! use serde::{Deserialize, Serialize};
//!
//! #[derive(Clone, Serialize, Deserialize)]
//! struct Draft {
//!     text: String,
//!     revisions: u32,
//! }
//!
//! # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
//! let flow = FlowBuilder::new("article", SystemClock::new())
//!     .with_node("write", |mut draft: Draft, _| async move {
//!         draft.text.push_str(" … more");
//!         draft.revisions += 1;
//!         Ok(Step::new(draft))
//!     })
//!     .with_node("review", |draft: Draft, _| async move {
//!         let route = if draft.revisions < 2 { "rejected" } else { "accepted" };
//!         Ok(Step::new(draft).via(route))
//!     })
//!     .with_edge("write", "review")
//!     .with_route("review", "rejected", "write")
//!     .with_route("review", "accepted", END)
//!     .with_limit("write", 5)
//!     .build()?;
//!
//! let draft = flow.run(Draft { text: "Once".into(), revisions: 0 }).await?.into_state()?;
//! assert_eq!(draft.text, "Once … more … more");
//! # Ok::<(), agcore_flow::FlowError>(())
//! # }).unwrap();
//! ```
//!
//! | to | use |
//! |---|---|
//! | put a graph together and check it | [`FlowBuilder`] |
//! | run work side by side | [`Fork`] |
//! | use a flow as a node | [`SubFlow`] |
//! | limit time, attempts and visits of a node | [`NodeOptions`] |
//! | save a run, and resume it in another process | [`Checkpoints`], [`Flow::resume`] |
//! | make a call that is not repeated | [`NodeContext::once`] |
//! | ask a person | [`NodeContext::ask`] |
//! | carry out tasks in the order of their dependencies | [`TodoList`] |
//! | keep the state of a planner loop | [`RuntimeState`], [`ActionRecord`] |
//! | watch a run | [`FlowRun::with_observer`], [`FlowEvent`] |
//! | read agents, tasks and nodes from YAML | [`FlowFile`] |
//! | recognize, execute, report | [`StagedFlow`] |
//! | assign work to a worker with skills | [`RouterFlow`] |
//! | plan, call tools, reflect | [`PlannerFlow`], [`StateTool`] |
//! | run the nodes and edges of a file | [`GraphFlow`] |
//! | serve a file of any kind, or a flow of your own | [`FileFlow`], [`RequestState`] |
//! | draw a flow, with the path of a run | [`Picture`] |
//!
//! A node receives the state and returns a [`Step`] with the new one and what comes next. The engine only routes: each branch of a
//! run continues where its last [`Record`] leads.
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

mod problem;
mod node_error;
mod error;
mod record;
mod interrupt;
mod step;
mod options;
mod event;
mod graph;
mod fork;
mod progress;
mod checkpoints;
mod resume;
mod outcome;
mod context;
mod node;
mod ledger;
mod flow;
mod run;
mod subflow;
mod builder;
mod picture;
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

pub use builder::FlowBuilder;
pub use checkpoints::Checkpoints;
pub use context::NodeContext;
pub use error::{FlowError, FlowErrorKind};
pub use event::FlowEvent;
pub use file::{
    AgentTemplate, EdgeTemplate, FileLimits, FileProblem, FlowFile, FlowFileError, FlowKind, NodeTemplate, NodeWork,
    TaskOutput, TaskTemplate,
};
pub use file_flow::{FileFlow, FileFlowBuilder, FileFlowRun, FlowRequest, FlowResult, RequestState};
pub use flow::Flow;
pub use fork::{BranchEnd, Fork, Joined};
pub use graph_flow::{GraphFlow, GraphState};
pub use interrupt::Interrupt;
pub use node::{FlowState, Node};
pub use node_error::NodeError;
#[cfg(feature = "objects")]
pub use objects::HttpObjects;
pub use options::{Limit, NodeOptions, Retry};
pub use outcome::{FlowOutcome, Suspension};
pub use picture::Picture;
pub use planner::{
    ActionContent, ActionContext, ActionRecord, ContextUsage, MemoryHit, OutputPart, PerTurn, Relevance, RuntimeState,
    RuntimeStateError, RuntimeStateErrorKind,
};
pub use planner_flow::{
    CallTool, MemoryNote, MemoryNoteKind, PlannerFlow, PlannerMemory, PlannerState, StateTool, StateToolKind,
    StoredMemory, user_facts,
};
pub use problem::FlowProblem;
pub use record::Record;
pub use resume::{Resume, SavedRun};
pub use router::{ContextSource, Job, RouterFlow, RouterResult, RouterState, StoredContext};
pub use run::FlowRun;
pub use stage::NODE_METADATA;
pub use staged::{
    ExecutionResult, ExecutionStatus, IntentResult, IntentRoute, OrganizationResult, StagedFlow, StagedState,
};
pub use step::{END, Step};
pub use subflow::SubFlow;
pub use todo::{CompletionDetails, Todo, TodoAttempt, TodoError, TodoErrorKind, TodoList, TodoOutcome, TodoStatus};
