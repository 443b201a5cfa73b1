//! [`Metrics`]: the numbers of the server, in the text form of Prometheus.

use std::sync::{Arc, atomic::AtomicU64};

use prometheus_client::{
    encoding::{EncodeLabelSet, text::encode},
    metrics::{counter::Counter, family::Family, gauge::Gauge},
    registry::Registry,
};

/// The numbers of the server.
pub(crate) struct Metrics {
    registry: Registry,
    requests: Family<RequestLabels, Counter<u64, AtomicU64>>,
    runs: Family<RunLabels, Counter<u64, AtomicU64>>,
    deliveries: Family<DeliveryLabels, Counter<u64, AtomicU64>>,
    /// The runs that wait or run.
    pub(crate) runs_active: Gauge,
    /// The streams that are open.
    pub(crate) streams: Gauge,
    /// The connections that are open.
    pub(crate) connections: Gauge,
    more: Option<MetricsText>,
}

/// Returns further metrics in the text form of OpenMetrics, without its end.
pub(crate) type MetricsText = Arc<dyn Fn() -> String + Send + Sync>;

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RequestLabels {
    method: String,
    route: String,
    status: u16,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RunLabels {
    outcome: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct DeliveryLabels {
    hook: String,
    outcome: &'static str,
}

impl Metrics {
    pub(crate) fn new(more: Option<MetricsText>) -> Self {
        let mut registry = Registry::with_prefix("agcore");
        let requests = Family::default();
        let (runs, deliveries) = (Family::default(), Family::default());
        let (runs_active, streams, connections) = (Gauge::default(), Gauge::default(), Gauge::default());
        registry.register("http_requests", "Requests that were answered", requests.clone());
        registry.register("runs", "Runs that have ended, or wait for a person", runs.clone());
        registry.register("hook_deliveries", "Deliveries to hooks", deliveries.clone());
        registry.register("runs_active", "Runs that wait or run", runs_active.clone());
        registry.register("streams_open", "Event streams that are open", streams.clone());
        registry.register("connections_open", "Connections that are open", connections.clone());
        Self {
            registry,
            requests,
            runs,
            deliveries,
            runs_active,
            streams,
            connections,
            more,
        }
    }

    /// Counts a request. The route is the pattern of the path, so that clients cannot create new time series.
    pub(crate) fn request(&self, method: &http::Method, route: Option<&str>, status: u16) {
        let is_known = matches!(
            method.as_str(),
            "GET" | "POST" | "PATCH" | "DELETE" | "OPTIONS" | "HEAD"
        );
        let labels = RequestLabels {
            method: if is_known { method.as_str() } else { "other" }.to_owned(),
            route: route.unwrap_or("none").to_owned(),
            status,
        };
        self.requests.get_or_create(&labels).inc();
    }

    pub(crate) fn run_ended(&self, outcome: &'static str) {
        self.runs.get_or_create(&RunLabels { outcome }).inc();
    }

    /// Counts a delivery to a hook. The name is that of a hook which exists, or a constant.
    pub(crate) fn delivery(&self, hook: &str, outcome: &'static str) {
        let hook = hook.to_owned();
        self.deliveries.get_or_create(&DeliveryLabels { hook, outcome }).inc();
    }

    /// Returns all numbers, also those of the program if they may be seen.
    pub(crate) fn text(&self, shows_more: bool) -> String {
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _ = encode(&mut text, &self.registry);
        if let Some(more) = self.more.as_ref().filter(|_| shows_more) {
            let end = text.rfind("# EOF").unwrap_or(text.len());
            text.insert_str(end, &more());
        }
        text
    }
}
