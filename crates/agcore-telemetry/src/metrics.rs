//! [`MetricsLayer`]: metrics that are measured from spans.

mod sink;
mod histograms;
mod measured;

pub use self::{
    histograms::Histograms,
    sink::{Label, MetricSink},
};

use std::{fmt, sync::Arc};

use agcore_chat::Clock;
use agcore_trace::{metric, span as names};
use tracing::{Event, Id, Metadata, Subscriber, level_filters::LevelFilter, span};
use tracing_subscriber::{Layer, Registry, filter::FilterFn, layer::Context, registry::LookupSpan};

use self::{
    measured::{Chunk, Measured},
    sink::Sinks,
};
use crate::log::TARGET_PREFIX;

/// Measures calls of models, turns, tool calls and flows from their spans, and passes the numbers to sinks.
///
/// The metrics are those of [`agcore_trace::metric`]. Their attributes have few different values: names of models, agents, tools
/// and flows, and kinds of errors; no ids and no texts of users. Without a sink, [`layer`](Self::layer) enables nothing.
///
/// ```
/// use std::sync::Arc;
///
/// use agcore_chat::SystemClock;
/// use agcore_telemetry::{Histograms, MetricsLayer};
/// use tracing_subscriber::layer::SubscriberExt;
///
/// let histograms = Arc::new(Histograms::new());
/// let metrics = MetricsLayer::new(Arc::new(SystemClock::new())).with_sink(histograms.clone());
/// let subscriber = tracing_subscriber::registry().with(metrics.layer());
/// tracing::subscriber::with_default(subscriber, || {
///     tracing::info_span!(target: "agcore_tools", "execute_tool", gen_ai.tool.name = "add").in_scope(|| {});
/// });
/// assert!(histograms.to_text().contains("gen_ai_execute_tool_duration_seconds_count{gen_ai_tool_name=\"add\"} 1\n"));
/// ```
#[derive(Clone)]
#[must_use = "nothing is measured until the layer is part of a subscriber"]
pub struct MetricsLayer {
    clock: Arc<dyn Clock>,
    sinks: Sinks,
    histograms: Option<Arc<Histograms>>,
}

impl MetricsLayer {
    /// Creates a layer without sinks. The clock measures durations.
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        Self {
            clock,
            sinks: Sinks::default(),
            histograms: None,
        }
    }

    /// Adds a sink.
    pub fn with_sink(mut self, sink: Arc<dyn MetricSink>) -> Self {
        self.sinks.add(sink);
        self
    }

    /// Adds histograms as a sink, which [`installed_histograms`] finds.
    pub fn with_histograms(mut self, histograms: Arc<Histograms>) -> Self {
        self.histograms = Some(Arc::clone(&histograms));
        self.with_sink(histograms)
    }

    /// Returns the layer for a subscriber.
    pub fn layer(self) -> Box<dyn Layer<Registry> + Send + Sync> {
        let has_sinks = self.sinks.len() > 0;
        let filter = FilterFn::new(move |metadata| has_sinks && is_measured(metadata));
        Box::new(Metrics(self).with_filter(filter.with_max_level_hint(LevelFilter::TRACE)))
    }
}

impl fmt::Debug for MetricsLayer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MetricsLayer")
            .field("sinks", &self.sinks.len())
            .finish_non_exhaustive()
    }
}

/// Returns the histograms of the [`MetricsLayer`] in the current subscriber, if it has one with
/// [histograms](MetricsLayer::with_histograms).
pub fn installed_histograms() -> Option<Arc<Histograms>> {
    tracing::dispatcher::get_default(|dispatch| dispatch.downcast_ref::<Metrics>()?.0.histograms.clone())
}

/// Returns whether metrics use a span or an event.
fn is_measured(metadata: &Metadata<'_>) -> bool {
    if metadata.target() == names::CHUNK {
        return true;
    }
    let measured = [
        names::CHAT,
        names::INVOKE_AGENT,
        names::EXECUTE_TOOL,
        names::INVOKE_WORKFLOW,
    ];
    metadata.is_span() && metadata.target().starts_with(TARGET_PREFIX) && measured.contains(&metadata.name())
}

/// The layer without its filter.
#[derive(Debug)]
struct Metrics(MetricsLayer);

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Metrics {
    fn on_new_span(&self, attributes: &span::Attributes<'_>, id: &Id, context: Context<'_, S>) {
        if let Some(span) = context.span(id) {
            let mut measured = Measured::new(self.0.clock.monotonic());
            attributes.record(&mut measured);
            span.extensions_mut().insert(measured);
        }
    }

    fn on_record(&self, id: &Id, values: &span::Record<'_>, context: Context<'_, S>) {
        let Some(span) = context.span(id) else { return };
        if let Some(measured) = span.extensions_mut().get_mut::<Measured>() {
            values.record(measured);
        }
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        let mut chunk = Chunk::default();
        event.record(&mut chunk);
        let (Some(seconds), Some(span)) = (chunk.seconds, context.event_span(event)) else {
            return;
        };
        if let Some(measured) = span.extensions().get::<Measured>() {
            let metric = &metric::CLIENT_TIME_PER_OUTPUT_CHUNK;
            measured.with_labels(metric, None, |labels| self.0.sinks.record(metric, seconds, labels));
        }
    }

    fn on_close(&self, id: Id, context: Context<'_, S>) {
        let Some(span) = context.span(&id) else { return };
        let extensions = span.extensions();
        let Some(measured) = extensions.get::<Measured>() else {
            return;
        };
        let took = self.0.clock.monotonic().saturating_sub(measured.started);
        let duration = match span.name() {
            names::INVOKE_AGENT => &metric::INVOKE_AGENT_DURATION,
            names::EXECUTE_TOOL => &metric::EXECUTE_TOOL_DURATION,
            names::INVOKE_WORKFLOW => &metric::WORKFLOW_DURATION,
            _ => &metric::CLIENT_OPERATION_DURATION,
        };
        measured.with_labels(duration, None, |labels| {
            self.0.sinks.record(duration, took.as_secs_f64(), labels);
        });
        if span.name() == names::CHAT {
            measured.visit_call(|metric, value, labels| self.0.sinks.record(metric, value, labels));
        }
    }
}
