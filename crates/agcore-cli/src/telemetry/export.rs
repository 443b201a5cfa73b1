//! [`Exporter`]: spans to a collector, by OTLP over HTTP.

use std::time::Duration;

use opentelemetry::{KeyValue, trace::TracerProvider};
use opentelemetry_otlp::{RetryPolicy, SpanExporter, WithExportConfig, WithHttpConfig};
use opentelemetry_sdk::{Resource, trace::SdkTracerProvider};
use tokio::runtime::Handle;
use tracing_subscriber::{
    Layer, Registry,
    filter::{LevelFilter, Targets},
};

use super::{client::Client, collector::Collector, log::OURS};
use crate::{exit::Failure, vendor::shown_url};

/// What spans call us, where `OTEL_SERVICE_NAME` does not say otherwise.
const SERVICE: &str = "agcore";

/// How long the program waits at its end for the last spans to arrive.
const LAST: Duration = Duration::from_secs(3);

/// Exports spans until it is told to end.
#[derive(Debug)]
pub(super) struct Exporter {
    provider: SdkTracerProvider,
    client: Client,
    /// The collector's address, without secrets.
    place: String,
}

impl Exporter {
    /// Begins to export to this collector.
    ///
    /// # Errors
    /// An address that is none, or a variable of the exporter's own that does not fit.
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
            place: shown_url(&collector.url),
        })
    }

    /// Takes the spans of agcore's own crates.
    pub(super) fn layer(&self) -> Box<dyn Layer<Registry> + Send + Sync> {
        let layer = tracing_opentelemetry::layer()
            .with_tracer(self.provider.tracer(SERVICE))
            .with_location(false)
            .with_threads(false)
            .with_tracked_inactivity(false);
        let ours = Targets::new().with_target(OURS, LevelFilter::INFO);
        Box::new(layer.with_filter(ours))
    }

    /// Sends what is left.
    ///
    /// # Errors
    /// When spans were lost, now or before: the first reason.
    pub(super) fn end(&self) -> Result<(), Failure> {
        let ended = self.provider.shutdown_with_timeout(LAST);
        let why = match (self.client.fault(), ended) {
            (Some(fault), _) => fault.to_owned(),
            (None, Err(error)) => error.to_string(),
            (None, Ok(())) => return Ok(()),
        };
        Err(Failure::task(format!(
            "spans were not exported to {}: {why}",
            self.place
        )))
    }
}

fn resource() -> Resource {
    let version = KeyValue::new("service.version", env!("CARGO_PKG_VERSION"));
    let resource = Resource::builder().with_attribute(version);
    match crate::environment::variable("OTEL_SERVICE_NAME") {
        // The builder has read it.
        Some(_) => resource.build(),
        None => resource.with_service_name(SERVICE).build(),
    }
}
