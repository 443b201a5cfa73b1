//! Names of spans, attributes and metrics, and the context by which a trace continues in another process.
//!
//! ```
//! use agcore::trace::{TraceContext, attribute, metric};
//!
//! let header = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
//! let context = TraceContext::parse(header).unwrap();
//! assert_eq!(context.traceparent(), header);
//! assert_eq!(attribute::TOOL_NAME, "gen_ai.tool.name");
//! assert_eq!(metric::CLIENT_TOKEN_USAGE.unit, "{token}");
//! ```
//!
//! | to | use |
//! |---|---|
//! | find a name, a type, a unit or buckets | [`attribute`], [`metric`], [`span`] |
//! | read and write `traceparent` and `tracestate` | [`TraceContext`] |
//! | continue the trace of another process | [`set_parent`] |
//! | let another process continue the trace | [`current`] |
//!
//! These are the public items of the crate `agcore-trace`.

#[doc(inline)]
pub use agcore_trace::*;
