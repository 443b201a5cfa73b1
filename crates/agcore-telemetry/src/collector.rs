//! [`Collector`]: the destination of spans, according to the standard variables of OpenTelemetry.
//!
//! The variables are specified in <https://opentelemetry.io/docs/specs/otel/protocol/exporter/> and
//! <https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/>.

use std::time::Duration;

/// The default time limit of an export.
const TIMEOUT: Duration = Duration::from_secs(10);

/// The collector that receives spans.
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
    /// The URL that spans are posted to.
    pub url: String,
    /// The variable that set the URL.
    pub variable: &'static str,
    /// The time limit of an export.
    pub timeout: Duration,
}

impl Collector {
    /// Returns the collector that the variables configure, or `None` if they configure none or disable the export.
    pub fn from_variables(variable: impl Fn(&str) -> Option<String>) -> Option<Self> {
        let is = |name: &str, value: &str| variable(name).is_some_and(|found| found.eq_ignore_ascii_case(value));
        if is("OTEL_SDK_DISABLED", "true") || is("OTEL_TRACES_EXPORTER", "none") {
            return None;
        }
        let traces = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT";
        let general = "OTEL_EXPORTER_OTLP_ENDPOINT";
        let (url, name) = match variable(traces) {
            // The URL for traces is used as it is; the general one is extended with the path.
            Some(url) => (url, traces),
            None => (
                format!("{}/v1/traces", variable(general)?.trim_end_matches('/')),
                general,
            ),
        };
        let millis = ["OTEL_EXPORTER_OTLP_TRACES_TIMEOUT", "OTEL_EXPORTER_OTLP_TIMEOUT"];
        let timeout = millis.into_iter().find_map(|name| variable(name)?.parse().ok());
        Some(Self {
            url,
            variable: name,
            timeout: timeout.map_or(TIMEOUT, Duration::from_millis),
        })
    }
}

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
