//! [AG-UI] events for agent runs: from the events of agents to those that front ends follow, and from the requests of front ends
//! to the input of runs.
//!
//! ```
//! use std::sync::Arc;
//!
//! use agcore_agui::{Encoder, Format, Run, sse_frame};
//! use agcore_chat::{StreamEvent, TextEvent};
//!
//! let mut encoder = Encoder::new("thread_1", "run_1");
//! let mut log = encoder.push(Run::started().into())?;
//! let delta = TextEvent::Text("Good day".into());
//! log.extend(encoder.push(StreamEvent::new(0, Arc::from("helper"), 0, 0, delta).into())?);
//! log.extend(encoder.push(Run::finished().into())?);
//!
//! let stream: String = log.iter().map(|event| sse_frame(None, None, &event.to_json(Format::default()))).collect();
//! assert!(stream.contains(r#"data: {"type":"TEXT_MESSAGE_CONTENT","messageId":"run_1:helper:0.0","delta":"Good day"}"#));
//! # Ok::<(), agcore_agui::EncodeError>(())
//! ```
//!
//! | to | use |
//! |---|---|
//! | read the request of a client | [`RunAgentInput`], [`InputLimits`] |
//! | encode a run | [`Encoder`], [`Input`], [`EncoderSettings`] |
//! | continue a run in another process | [`Encoder::resume`] |
//! | keep events in a log, and write them for a reader | [`AguiEvent`], [`Format`] |
//! | ask a person, and read the answer | [`Interrupt`], [`ResumeEntry`] |
//! | send a stream of server-sent events | [`sse_frame`], [`sse_comment`] |
//! | check a log in a test | [`check_order`] |
//! | show tools to people | [`ToolNames`], [`compile_ui_schema`] |
//!
//! The crate needs no async runtime and builds for wasm32.
//!
//! # Dialects
//!
//! One log serves all readers. In the [standard](Dialect::Standard) dialect, events have the members of AG-UI 1.0, and those of
//! agcore (such as `stage`, `status` and `ui_schema`) are in `metadata.agcore`. The [superset](Dialect::Superset) has them beside
//! the standard members as well, for front ends that expect them there. Clients of [0.x](Protocol::V0) get events that they
//! accept in both dialects.
//!
//! [AG-UI]: https://docs.ag-ui.com

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod event;
mod thread_message;
mod input;
mod settings;
mod tool_names;
mod ui_schema;
mod tool_result;
mod encoder;
mod order;
mod run_input;
mod sse;

pub use encoder::{EncodeError, EncodeErrorKind, Encoder};
pub use event::{AguiEvent, Dialect, EventType, Format, PROTOCOL_VERSION, Protocol, RUN_CANCELED};
pub use input::{Activity, Input, Interrupt, Run, RunEnd, Snapshot, StateValue, Step, TextMessage, TextStatus};
pub use order::{OrderViolation, check_order};
pub use run_input::{
    AnswerError, ContextEntry, InputLimits, ResumeEntry, ResumeStatus, RunAgentInput, RunInputError, RunInputErrorKind,
};
pub use settings::{EncoderSettings, UsageFields};
pub use sse::{push_sse_frame, sse_comment, sse_frame};
pub use thread_message::{ThreadBody, ThreadMessage};
pub use tool_names::ToolNames;
pub use ui_schema::compile_ui_schema;
