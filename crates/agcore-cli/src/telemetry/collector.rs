//! [`Collector`]: where spans go, as OpenTelemetry's own variables tell it.
//!
//! The variables: <https://opentelemetry.io/docs/specs/otel/protocol/exporter/> and
//! <https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/>.

use std::time::Duration;

/// How long one export may take where nobody says otherwise.
const TIMEOUT: Duration = Duration::from_secs(10);

/// A collector of spans.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Collector {
    /// Where spans are posted to.
    pub(crate) url: String,
    /// The variable that says so.
    pub(crate) variable: &'static str,
    /// How long one export may take.
    #[cfg_attr(not(feature = "otel"), allow(dead_code, reason = "nothing is exported without it"))]
    pub(crate) timeout: Duration,
}

impl Collector {
    /// The collector that the variables name; none where they name none, or switch the export off.
    pub(crate) fn of(variable: impl Fn(&str) -> Option<String>) -> Option<Self> {
        let is = |name: &str, value: &str| variable(name).is_some_and(|found| found.eq_ignore_ascii_case(value));
        if is("OTEL_SDK_DISABLED", "true") || is("OTEL_TRACES_EXPORTER", "none") {
            return None;
        }
        let own = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT";
        let all = "OTEL_EXPORTER_OTLP_ENDPOINT";
        let (url, name) = match variable(own) {
            // The one for spans is taken as it is; the one for everything is what stands before the path.
            Some(url) => (url, own),
            None => (format!("{}/v1/traces", variable(all)?.trim_end_matches('/')), all),
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

    fn of(variables: &[(&str, &str)]) -> Option<Collector> {
        Collector::of(|name| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn the_variables_name_it() {
        let check = |variables: &[(&str, &str)], expected: Option<&str>| {
            assert_eq!(
                of(variables).map(|found| found.url).as_deref(),
                expected,
                "{variables:?}"
            );
        };
        let all = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://c:4318/");
        let own = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://d/spans");
        check(&[], None);
        check(&[all], Some("http://c:4318/v1/traces"));
        check(&[own], Some("http://d/spans"));
        check(&[all, own], Some("http://d/spans"));
        check(&[all, ("OTEL_SDK_DISABLED", "TRUE")], None);
        check(&[all, ("OTEL_SDK_DISABLED", "no")], Some("http://c:4318/v1/traces"));
        check(&[all, ("OTEL_TRACES_EXPORTER", "none")], None);
    }

    #[test]
    fn an_export_takes_as_long_as_it_may() {
        let all = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://c:4318");
        let check = |time: &[(&str, &str)], millis: u64| {
            let found = of(&[&[all], time].concat()).unwrap();
            assert_eq!(found.timeout, Duration::from_millis(millis));
        };
        check(&[], 10_000);
        check(&[("OTEL_EXPORTER_OTLP_TIMEOUT", "250")], 250);
        check(&[("OTEL_EXPORTER_OTLP_TIMEOUT", "soon")], 10_000);
        let own = ("OTEL_EXPORTER_OTLP_TRACES_TIMEOUT", "5");
        check(&[("OTEL_EXPORTER_OTLP_TIMEOUT", "250"), own], 5);
    }
}
