//! Logs and traces of agents. A layer for `tracing` writes one line for each turn, model call and tool call; with the feature
//! `otel`, another one sends the same spans to a collector of OpenTelemetry. A third one makes metrics of them.
//!
//! ```rust
//! use std::sync::Arc;
//!
//! use agcore_chat::SystemClock;
//! use agcore_telemetry::{LogForm, LogLayer};
//! use tracing_subscriber::{filter::LevelFilter, layer::SubscriberExt};
//!
//! fn main() {
//!     let log = LogLayer::new(LevelFilter::INFO, LogForm::Server, Arc::new(SystemClock::new()), |lines| {
//!         eprint!("{lines}");
//!     });
//!     let subscriber = tracing_subscriber::registry().with(log.layer());
//!     // A program calls `subscriber.init()`.
//!     tracing::subscriber::with_default(subscriber, || {
//!         tracing::warn!(target: "agcore_server", "the database does not answer");
//!     });
//! }
//! ```
//!
//! - **Three forms.** Short lines about one conversation, lines of a server with the request and the run to which each belongs, and
//!   the same as JSON objects.
//! - **No secrets.** Only agcore's crates are logged, and crates that you name. Contents of conversations are in spans only on
//!   request.
//! - **Harmless.** Text of models and tools can neither forge lines nor control the terminal.
//! - **Metrics.** [`MetricsLayer`] measures tokens and durations from the spans, for Prometheus with [`Histograms`] and for
//!   collectors with `MetricsExporter`. Libraries need no SDK for it, and nothing is measured unless a program asks.
//! - **One HTTP client.** Spans and metrics are sent with OTLP by the transport of model requests. [`Collector`] reads the standard
//!   variables.
//!
//! # Features
//!
//! <!-- features -->
//!
//! | feature | description |
//! |---|---|
//! | `otel` | `Exporter` and `MetricsExporter`, which send spans and metrics to a collector with OTLP over HTTP. |
//!
//! <!-- /features -->
#![cfg_attr(docsrs, feature(doc_cfg))]

mod collector;
mod log;
mod metrics;
#[cfg(feature = "otel")]
mod client;
#[cfg(feature = "otel")]
mod export;

#[cfg(feature = "otel")]
pub use self::export::{ExportError, Exporter, MetricsExporter, Service};
pub use self::{
    collector::Collector,
    log::{LogForm, LogLayer},
    metrics::{Histograms, Label, MetricSink, MetricsLayer, installed_histograms},
};
