//! [`Exporter`]: exports spans to a collector, with OTLP over HTTP.

use std::time::Duration;

use agcore_settings::vendor::redacted_url;
use opentelemetry::{KeyValue, trace::TracerProvider};
use opentelemetry_otlp::{RetryPolicy, SpanExporter, WithExportConfig, WithHttpConfig};
use opentelemetry_sdk::{Resource, trace::SdkTracerProvider};
use tokio::runtime::Handle;
use tracing_subscriber::{
    Layer, Registry,
    filter::{LevelFilter, Targets},
};

use super::{client::Client, collector::Collector, log::TARGET_PREFIX};
use crate::exit::Failure;

/// The default service name.
const SERVICE: &str = "agcore";

/// The time limit for sending the remaining spans when the program exits.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(3);

/// Exports spans until it is shut down.
#[derive(Debug)]
pub(super) struct Exporter {
    provider: SdkTracerProvider,
    client: Client,
    /// The collector's URL, without secrets.
    url: String,
}

impl Exporter {
    /// Starts to export to a collector.
    ///
    /// # Errors
    /// When the URL or another variable of the exporter is invalid.
    pub(super) fn new(collector: &Collector, runtime: Handle) -> Result<Self, String> {
        let client = Client::new(collector, runtime).map_err(|error| error.chain())?;
        let exporter = SpanExporter::builder()
            .with_http()
            .with_http_client(client.clone())
            .with_endpoint(&collector.url)
            .with_timeout(collector.timeout)
            .with_retry_policy(RetryPolicy::default().with_max_retries(1))
            .build()
            .map_err(|error| error.to_string())?;
        let provider = SdkTracerProvider::builder()
            .with_batch_exporter(exporter)
            .with_resource(resource())
            .build();
        Ok(Self {
            provider,
            client,
            url: redacted_url(&collector.url),
        })
    }

    /// Returns the layer that collects the spans of agcore's crates.
    pub(super) fn layer(&self) -> Box<dyn Layer<Registry> + Send + Sync> {
        let layer = tracing_opentelemetry::layer()
            .with_tracer(self.provider.tracer(SERVICE))
            .with_location(false)
            .with_threads(false)
            .with_tracked_inactivity(false);
        let ours = Targets::new().with_target(TARGET_PREFIX, LevelFilter::INFO);
        Box::new(layer.with_filter(ours))
    }

    /// Sends the remaining spans.
    ///
    /// # Errors
    /// When spans were lost now or earlier, with the first reason.
    pub(super) fn shutdown(&self) -> Result<(), Failure> {
        let result = self.provider.shutdown_with_timeout(SHUTDOWN_TIMEOUT);
        let reason = match (self.client.first_error(), result) {
            (Some(error), _) => error.to_owned(),
            (None, Err(error)) => error.to_string(),
            (None, Ok(())) => return Ok(()),
        };
        Err(Failure::task(format!(
            "spans were not exported to {}: {reason}",
            self.url
        )))
    }
}

fn resource() -> Resource {
    let version = KeyValue::new("service.version", env!("CARGO_PKG_VERSION"));
    let resource = Resource::builder().with_attribute(version);
    match agcore_terminal::process::variable("OTEL_SERVICE_NAME") {
        // The builder has already read it.
        Some(_) => resource.build(),
        None => resource.with_service_name(SERVICE).build(),
    }
}
