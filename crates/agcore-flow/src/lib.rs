//! Flows: a graph of nodes over one typed state, with checkpoints, interrupts and pictures.
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
//! | watch a run | [`FlowRun::with_observer`], [`FlowEvent`] |
//! | check nodes and edges before there is anything to run | [`Graph`] |
//! | draw a flow, with the path of a run | [`Picture`] |
//!
//! A node receives the state and returns a [`Step`] with the new one and what comes next. The engine only routes: each branch of a
//! run continues where its last [`Record`] leads. The crate knows nothing of agents: a node is any function. Flows of agents that
//! are described in files are in agcore-flow-files.

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

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
mod stop;
mod resume;
mod context;
mod node;
mod flow;
mod run;
mod subflow;
mod builder;
mod picture;

pub use builder::FlowBuilder;
pub use checkpoints::Checkpoints;
pub use context::NodeContext;
pub use error::{FlowError, FlowErrorKind, FlowProblem, NodeError};
pub use event::FlowEvent;
pub use flow::Flow;
pub use fork::{BranchEnd, Fork, Joined};
pub use graph::{Edge, ForkEdges, Graph};
pub use interrupt::Interrupt;
pub use node::{FlowState, Node};
pub use options::{Limit, NodeOptions, Retry};
pub use picture::Picture;
pub use record::Record;
pub use resume::{Resume, SavedRun};
pub use run::{
    FlowRun,
    outcome::{FlowOutcome, Suspension},
};
pub use step::{END, Step};
pub use subflow::SubFlow;
