//! [`Collector`]: the destination of spans or metrics, according to the standard variables of OpenTelemetry.
//!
//! The variables are specified in <https://opentelemetry.io/docs/specs/otel/protocol/exporter/> and
//! <https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/>.

use std::time::Duration;

/// The default time limit of an export.
const TIMEOUT: Duration = Duration::from_secs(10);

/// The collector that receives spans or metrics.
///
/// ```
/// use agcore_telemetry::Collector;
///
/// let variable = |name: &str| (name == "OTEL_EXPORTER_OTLP_ENDPOINT").then(|| "http://localhost:4318".to_owned());
/// let collector = Collector::from_variables(variable).unwrap();
/// assert_eq!(collector.url, "http://localhost:4318/v1/traces");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Collector {
    /// The URL that spans or metrics are posted to.
    pub url: String,
    /// The variable that set the URL.
    pub variable: &'static str,
    /// The time limit of an export.
    pub timeout: Duration,
}

impl Collector {
    /// Returns the collector of spans that the variables configure, or `None` if they configure none or disable the export.
    pub fn from_variables(variable: impl Fn(&str) -> Option<String>) -> Option<Self> {
        Self::of(&TRACES, variable)
    }

    /// Returns the collector of metrics that the variables configure, or `None` if they configure none or disable the export.
    pub fn of_metrics(variable: impl Fn(&str) -> Option<String>) -> Option<Self> {
        Self::of(&METRICS, variable)
    }

    fn of(signal: &Signal, variable: impl Fn(&str) -> Option<String>) -> Option<Self> {
        let is = |name: &str, value: &str| variable(name).is_some_and(|found| found.eq_ignore_ascii_case(value));
        if is("OTEL_SDK_DISABLED", "true") || is(signal.exporter, "none") {
            return None;
        }
        let general = "OTEL_EXPORTER_OTLP_ENDPOINT";
        let (url, name) = match variable(signal.endpoint) {
            // The URL for one signal is used as it is; the general one is extended with the path.
            Some(url) => (url, signal.endpoint),
            None => {
                let url = variable(general)?;
                (format!("{}{}", url.trim_end_matches('/'), signal.path), general)
            }
        };
        let millis = [signal.timeout, "OTEL_EXPORTER_OTLP_TIMEOUT"];
        let timeout = millis.into_iter().find_map(|name| variable(name)?.parse().ok());
        Some(Self {
            url,
            variable: name,
            timeout: timeout.map_or(TIMEOUT, Duration::from_millis),
        })
    }
}

/// The path and the variables of one kind of data.
struct Signal {
    path: &'static str,
    exporter: &'static str,
    endpoint: &'static str,
    timeout: &'static str,
}

const TRACES: Signal = Signal {
    path: "/v1/traces",
    exporter: "OTEL_TRACES_EXPORTER",
    endpoint: "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
    timeout: "OTEL_EXPORTER_OTLP_TRACES_TIMEOUT",
};

const METRICS: Signal = Signal {
    path: "/v1/metrics",
    exporter: "OTEL_METRICS_EXPORTER",
    endpoint: "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT",
    timeout: "OTEL_EXPORTER_OTLP_METRICS_TIMEOUT",
};

#[cfg(test)]
mod tests {
    use super::*;

    fn collector(variables: &[(&str, &str)]) -> Option<Collector> {
        Collector::from_variables(|name| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn the_variables_set_the_url() {
        let check = |variables: &[(&str, &str)], expected: Option<&str>| {
            assert_eq!(
                collector(variables).map(|found| found.url).as_deref(),
                expected,
                "{variables:?}"
            );
        };
        let all = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://c:4318/");
        let traces = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://d/spans");
        check(&[], None);
        check(&[all], Some("http://c:4318/v1/traces"));
        check(&[traces], Some("http://d/spans"));
        check(&[all, traces], Some("http://d/spans"));
        check(&[all, ("OTEL_SDK_DISABLED", "TRUE")], None);
        check(&[all, ("OTEL_SDK_DISABLED", "no")], Some("http://c:4318/v1/traces"));
        check(&[all, ("OTEL_TRACES_EXPORTER", "none")], None);
    }

    #[test]
    fn metrics_have_their_own_variables() {
        let url = |variables: &[(&str, &str)]| {
            let variables: Vec<(String, String)> = variables
                .iter()
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
                .collect();
            let found = Collector::of_metrics(|name| {
                let found = variables.iter().find(|(known, _)| known == name);
                found.map(|(_, value)| value.clone())
            });
            found.map(|found| found.url)
        };
        let all = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://c:4318/");
        assert_eq!(url(&[all]).as_deref(), Some("http://c:4318/v1/metrics"));
        assert_eq!(url(&[("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://d/spans")]), None);
        assert_eq!(
            url(&[all, ("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", "http://d/m")]).as_deref(),
            Some("http://d/m")
        );
        assert_eq!(url(&[all, ("OTEL_METRICS_EXPORTER", "none")]), None);
        assert_eq!(
            url(&[all, ("OTEL_TRACES_EXPORTER", "none")]).as_deref(),
            Some("http://c:4318/v1/metrics")
        );
    }

    #[test]
    fn the_variables_set_the_timeout() {
        let all = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://c:4318");
        let check = |time: &[(&str, &str)], millis: u64| {
            let found = collector(&[&[all], time].concat()).unwrap();
            assert_eq!(found.timeout, Duration::from_millis(millis));
        };
        check(&[], 10_000);
        check(&[("OTEL_EXPORTER_OTLP_TIMEOUT", "250")], 250);
        check(&[("OTEL_EXPORTER_OTLP_TIMEOUT", "soon")], 10_000);
        let traces = ("OTEL_EXPORTER_OTLP_TRACES_TIMEOUT", "5");
        check(&[("OTEL_EXPORTER_OTLP_TIMEOUT", "250"), traces], 5);
    }
}
