//! [`MetricSink`]: receives measurements.

use std::sync::Arc;

use agcore_trace::MetricName;

/// An attribute of a measurement: a name of [`agcore_trace::attribute`], and the value.
pub type Label<'a> = (&'static str, &'a str);

/// Receives measurements. Implemented by [`Histograms`](crate::Histograms), and for collectors by `MetricsExporter`.
pub trait MetricSink: Send + Sync {
    /// Takes a measurement. Must not block: calls of models and tools wait until this returns.
    fn record(&self, metric: &'static MetricName, value: f64, labels: &[Label<'_>]);
}

/// Several sinks. Each gets every measurement.
#[derive(Clone, Default)]
pub(super) struct Sinks(Vec<Arc<dyn MetricSink>>);

impl Sinks {
    pub(super) fn add(&mut self, sink: Arc<dyn MetricSink>) {
        self.0.push(sink);
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn record(&self, metric: &'static MetricName, value: f64, labels: &[Label<'_>]) {
        for sink in &self.0 {
            sink.record(metric, value, labels);
        }
    }
}
