//! Names of spans, attributes and metrics of LLM agents, and the W3C trace context between processes.
//!
//! Libraries create spans with the crate `tracing` and take the names of their attributes from [`attribute`]. Programs that
//! export spans enable the feature `otel`: [`current`] then returns the context that other processes continue, and
//! [`set_parent`] makes a span the child of one in another process.
//!
//! ```
//! use agcore_trace::{TraceContext, attribute, metric};
//!
//! let context = TraceContext::parse("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01").unwrap();
//! let span = tracing::info_span!("request");
//! // Does nothing unless spans are collected.
//! agcore_trace::set_parent(&span, &context);
//!
//! assert_eq!(attribute::REQUEST_MODEL, "gen_ai.request.model");
//! assert_eq!(metric::EXECUTE_TOOL_DURATION.unit, "s");
//! ```
//!
//! # Features
//!
//! <!-- features -->
//!
//! | feature | description |
//! |---|---|
//! | `otel` | The context of spans that tracing-opentelemetry 0.34 collects, and lists in their attributes as lists instead of text. |
//!
//! <!-- /features -->
#![cfg_attr(docsrs, feature(doc_cfg))]

mod names;
mod context;
mod propagate;
mod value;
mod guard;

pub use self::{
    context::{MAX_STATE_BYTES, MAX_STATE_MEMBERS, TraceContext},
    guard::CancelGuard,
    names::{AttributeName, CONVENTIONS, Kind, MetricName, attribute, metric, operation, span},
    propagate::{CAN_PROPAGATE, context_of, current, set_parent},
    value::{integer, record_list},
};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
