//! [`Exporter`]: exports spans to a collector, with OTLP over HTTP; [`MetricsExporter`] does the same with metrics.

mod metrics;

pub use self::metrics::MetricsExporter;

use std::time::Duration;

use opentelemetry::{KeyValue, trace::TracerProvider};
use opentelemetry_otlp::{RetryPolicy, SpanExporter, WithExportConfig, WithHttpConfig};
use opentelemetry_sdk::{Resource, trace::SdkTracerProvider};
use tokio::runtime::Handle;
use tracing_subscriber::{
    Layer, Registry,
    filter::{LevelFilter, Targets},
};

use crate::{client::Client, collector::Collector, log::TARGET_PREFIX};

/// The name of the tracer.
const TRACER: &str = "agcore";

/// The time limit for sending the remaining data when the program exits.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(3);

/// The program that sends spans.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Service {
    /// Its name; `None` if the variable `OTEL_SERVICE_NAME` has it, which the SDK reads itself.
    pub name: Option<String>,
    /// Its version.
    pub version: String,
}

impl Service {
    /// Creates a service with this version, whose name is in the variable `OTEL_SERVICE_NAME`.
    pub fn new(version: impl Into<String>) -> Self {
        Self {
            name: None,
            version: version.into(),
        }
    }

    /// Sets the name.
    #[must_use]
    pub fn with_name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }
}

/// Why spans or metrics are not exported.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ExportError(String);

/// Exports spans until it is shut down.
#[derive(Debug)]
pub struct Exporter {
    provider: SdkTracerProvider,
    client: Client,
}

impl Exporter {
    /// Starts to export the spans of a service to a collector. Requests are sent on this runtime, which must run until the exporter
    /// is shut down.
    ///
    /// # Errors
    /// When the URL or another variable of the exporter is invalid.
    pub fn new(collector: &Collector, service: &Service, runtime: Handle) -> Result<Self, ExportError> {
        let client = Client::new(collector, runtime).map_err(|error| ExportError(error.chain()))?;
        let exporter = SpanExporter::builder()
            .with_http()
            .with_http_client(client.clone())
            .with_endpoint(&collector.url)
            .with_timeout(collector.timeout)
            .with_retry_policy(RetryPolicy::default().with_max_retries(1))
            .build()
            .map_err(|error| ExportError(error.to_string()))?;
        let provider = SdkTracerProvider::builder()
            .with_batch_exporter(exporter)
            .with_resource(resource(service))
            .build();
        Ok(Self { provider, client })
    }

    /// Returns the layer that collects the spans of agcore's crates.
    pub fn layer(&self) -> Box<dyn Layer<Registry> + Send + Sync> {
        let layer = tracing_opentelemetry::layer()
            .with_tracer(self.provider.tracer(TRACER))
            .with_location(false)
            .with_target(false)
            .with_threads(false)
            .with_tracked_inactivity(false);
        let ours = Targets::new().with_target(TARGET_PREFIX, LevelFilter::INFO);
        Box::new(layer.with_filter(ours))
    }

    /// Sends the remaining spans. Blocks for three seconds at most.
    ///
    /// # Errors
    /// When spans were lost now or earlier, with the first reason.
    pub fn shutdown(&self) -> Result<(), ExportError> {
        let result = self.provider.shutdown_with_timeout(SHUTDOWN_TIMEOUT);
        match (self.client.first_error(), result) {
            (Some(error), _) => Err(ExportError(error.to_owned())),
            (None, Err(error)) => Err(ExportError(error.to_string())),
            (None, Ok(())) => Ok(()),
        }
    }
}

fn resource(service: &Service) -> Resource {
    let version = KeyValue::new("service.version", service.version.clone());
    let resource = Resource::builder().with_attribute(version);
    match &service.name {
        // The builder has already read the variable.
        None => resource.build(),
        Some(name) => resource.with_service_name(name.clone()).build(),
    }
}
