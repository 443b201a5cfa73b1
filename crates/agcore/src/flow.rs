//! Flows of agents: graphs with checkpoints, questions to people, forks and joins, and staged flows from files.
//!
//! ```
//! use agcore::chat::SystemClock;
//! use agcore::flow::{END, FlowBuilder, Step};
//!
//! # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
//! let flow = FlowBuilder::new("countdown", SystemClock::new())
//!     .with_node("count", |left: u32, _| async move {
//!         Ok(if left > 1 { Step::new(left - 1).to("count") } else { Step::new(0).end() })
//!     })
//!     .with_limit("count", 10)
//!     .with_edge("count", "count")
//!     .with_edge("count", END)
//!     .build()?;
//! assert_eq!(flow.run(3).await?.into_state()?, 0);
//! # Ok::<(), agcore::flow::FlowError>(())
//! # }).unwrap();
//! ```
//!
//! | to | use |
//! |---|---|
//! | put a graph together and check it | [`FlowBuilder`] |
//! | save a run, and resume it in another process | [`Checkpoints`] |
//! | draw a flow, with the path of a run | [`Picture`] |
//! | recognize, execute, report, with agents from a file | [`FlowFile`], [`StagedFlow`] |

#[doc(inline)]
pub use {agcore_flow::*, agcore_flow_files::*};
