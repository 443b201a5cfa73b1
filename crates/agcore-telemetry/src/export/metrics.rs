//! [`MetricsExporter`]: exports metrics to a collector.

use std::{
    fmt,
    sync::{Arc, mpsc},
    thread,
};

use agcore_trace::{MetricName, metric};
use opentelemetry::{
    KeyValue,
    metrics::{Histogram, MeterProvider},
};
use opentelemetry_otlp::{MetricExporter, RetryPolicy, WithExportConfig, WithHttpConfig};
use opentelemetry_sdk::{
    error::{OTelSdkError, OTelSdkResult},
    metrics::SdkMeterProvider,
};
use tokio::runtime::Handle;

use super::{ExportError, SHUTDOWN_TIMEOUT, Service, TRACER, resource};
use crate::{
    client::Client,
    collector::Collector,
    metrics::{Label, MetricSink},
};

/// Exports metrics until it is shut down: every minute, or as often as the variable `OTEL_METRIC_EXPORT_INTERVAL` demands, in
/// milliseconds.
#[derive(Debug)]
pub struct MetricsExporter {
    provider: SdkMeterProvider,
    client: Client,
}

impl MetricsExporter {
    /// Starts to export the metrics of a service to a collector. Requests are sent on this runtime, which must run until the
    /// exporter is shut down.
    ///
    /// # Errors
    /// When the URL or another variable of the exporter is invalid.
    pub fn new(collector: &Collector, service: &Service, runtime: Handle) -> Result<Self, ExportError> {
        let client = Client::new(collector, runtime).map_err(|error| ExportError(error.chain()))?;
        let exporter = MetricExporter::builder()
            .with_http()
            .with_http_client(client.clone())
            .with_endpoint(&collector.url)
            .with_timeout(collector.timeout)
            .with_retry_policy(RetryPolicy::default().with_max_retries(1))
            .build()
            .map_err(|error| ExportError(error.to_string()))?;
        let provider = SdkMeterProvider::builder()
            .with_periodic_exporter(exporter)
            .with_resource(resource(service))
            .build();
        Ok(Self { provider, client })
    }

    /// Returns the sink whose measurements are exported.
    pub fn sink(&self) -> Arc<dyn MetricSink> {
        let meter = self.provider.meter(TRACER);
        let instrument = |metric: &'static MetricName| {
            let histogram = meter
                .f64_histogram(metric.name)
                .with_unit(metric.unit)
                .with_description(metric.description)
                .with_boundaries(metric.boundaries.to_vec());
            (metric.name, histogram.build())
        };
        Arc::new(Instruments(metric::ALL.iter().map(instrument).collect()))
    }

    /// Sends the remaining metrics. Blocks for three seconds at most.
    ///
    /// # Errors
    /// When metrics were lost now or earlier, with the first reason.
    pub fn shutdown(&self) -> Result<(), ExportError> {
        let result = self.end();
        match (self.client.first_error(), result) {
            (Some(error), _) => Err(ExportError(error.to_owned())),
            (None, Err(error)) => Err(ExportError(error.to_string())),
            (None, Ok(())) => Ok(()),
        }
    }

    /// Ends the provider in a thread of its own: of metrics, the SDK ignores the time limit.
    fn end(&self) -> OTelSdkResult {
        let (sender, ended) = mpsc::channel();
        let provider = self.provider.clone();
        let ending = move || {
            // After the time limit, nothing waits for this.
            let _ = sender.send(provider.shutdown_with_timeout(SHUTDOWN_TIMEOUT));
        };
        thread::Builder::new()
            .spawn(ending)
            .map_err(|error| OTelSdkError::InternalFailure(error.to_string()))?;
        let ended = ended.recv_timeout(SHUTDOWN_TIMEOUT);
        ended.unwrap_or(Err(OTelSdkError::Timeout(SHUTDOWN_TIMEOUT)))
    }
}

/// The histograms of the SDK.
struct Instruments(Vec<(&'static str, Histogram<f64>)>);

impl MetricSink for Instruments {
    fn record(&self, metric: &'static MetricName, value: f64, labels: &[Label<'_>]) {
        if let Some((_, histogram)) = self.0.iter().find(|(name, _)| *name == metric.name) {
            let labels: Vec<KeyValue> = labels
                .iter()
                .map(|(name, value)| KeyValue::new(*name, (*value).to_owned()))
                .collect();
            histogram.record(value, &labels);
        }
    }
}

impl fmt::Debug for Instruments {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.iter().map(|(name, _)| name)).finish()
    }
}
