//! Events for AG-UI front ends: an encoder for runs, two dialects from one log, and what front ends send to start a run.
//!
//! ```
//! use agcore::agui::{Encoder, Format, InputLimits, Run, RunAgentInput, TextMessage};
//!
//! let body = br#"{"threadId": "t", "runId": "r", "messages": [{"id": "m1", "role": "user", "content": "Good day"}]}"#;
//! let input = RunAgentInput::from_slice(body, &InputLimits::default())?;
//! let mut encoder = Encoder::new(&*input.thread_id, &*input.run_id);
//! let mut log = encoder.push(Run::started().into())?;
//! log.extend(encoder.push(TextMessage::new("m2", "Good day to you").into())?);
//! log.extend(encoder.push(Run::finished().into())?);
//! assert!(log[2].to_json(Format::default()).contains(r#""delta":"Good day to you""#));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | to | use |
//! |---|---|
//! | read the request of a front end | [`RunAgentInput`] |
//! | encode a run | [`Encoder`] |
//! | write an event for a reader | [`AguiEvent::to_json`] with a [`Format`] |
//! | check a log in a test | [`check_order`] |

#[doc(inline)]
pub use agcore_agui::*;
