//! The lines that `agcore` writes with `--output-format stream-json`, as types. A program that starts agcore reads them with this
//! crate and needs nothing else of it.
//!
//! ```rust
//! use agcore_stream_json::{Event, Line, LineError};
//!
//! /// Returns what a program shows of a line.
//! fn shown(line: &str) -> Result<Option<String>, LineError> {
//!     Ok(match Line::parse(line)?.event {
//!         Event::Message(message) if message.r#final => Some(message.text),
//!         Event::ToolUse(call) => Some(format!("calls {}", call.name)),
//!         // Later versions have types that this one does not know.
//!         _ => None,
//!     })
//! }
//!
//! fn main() -> Result<(), LineError> {
//!     let line = r#"{"type":"tool_use","v":1,"seq":3,"ts":"2026-01-31T08:09:10Z","session_id":"s","turn_id":"s/0",
//!         "id":"call_1","name":"read_file","input":{"path":"a.txt"},"parent_id":null}"#;
//!     assert_eq!(shown(line)?.as_deref(), Some("calls read_file"));
//!     Ok(())
//! }
//! ```
//!
//! - **Lines.** [`Line`] has the number and the time, [`Event`] the contents by type. Unknown members are ignored, and an unknown
//!   type is
//!   [`Event::Unknown`], so that a program keeps working with later versions of agcore.
//! - **The same types on both sides.** agcore writes its output with `LineStream` (feature `stream`), from the events of agents; a
//!   program of your own can offer the same format.
//! - **A schema.** `schema()` returns the JSON Schema that `agcore schema` prints (feature `schema`).
//!
//! # Features
//!
//! <!-- features -->
//!
//! | feature | description |
//! |---|---|
//! | `schema` | The JSON Schema of a line. |
//! | `stream` | `LineStream`, which writes the events of agents as lines. |
//! | `flow` | `LineStream` writes the events of flows as well. |
//!
//! <!-- /features -->
#![cfg_attr(docsrs, feature(doc_cfg))]

mod failure;
mod tokens;
mod init;
mod flow;
mod call;
mod turn;
mod result;
mod line;
#[cfg(feature = "stream")]
mod translator;
#[cfg(feature = "stream")]
mod stream;

#[cfg(feature = "schema")]
pub use self::line::schema;
pub use self::{
    call::{ApprovalRequest, ApprovalResolved, Decision, ToolOutputDelta, ToolResult, ToolStart, ToolStatus, ToolUse},
    failure::{ErrorInfo, Retry},
    flow::{FlowEnd, FlowQuestion, FlowStart, NodeData, NodeEnd, NodeRetry, NodeStart},
    init::{Init, McpServer},
    line::{Event, Line, LineError, VERSION},
    result::{Denial, RunResult, RunUsage, Status},
    tokens::{Cost, Tokens, UsageTotals},
    turn::{CallUsage, Compaction, Handoff, Message, PlanStep, Role, Text, TurnEnd, TurnStart, Warning},
};
#[cfg(feature = "stream")]
pub use self::{
    stream::{Detail, LineStream, ReportedApprover, ReportedAudit},
    translator::RunEnd,
};
