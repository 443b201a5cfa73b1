//! [`Histograms`]: metrics in the memory of the process, as text for Prometheus.

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    sync::{Mutex, MutexGuard, PoisonError},
};

use agcore_trace::{MetricName, metric};

use super::sink::{Label, MetricSink};

/// The largest number of combinations of labels that a metric has. Measurements with further ones are counted together.
const MAX_SERIES: usize = 1000;

/// The label of measurements beyond the limit, which OpenTelemetry's SDKs use as well.
const OVERFLOW: (&str, &str) = ("otel.metric.overflow", "true");

type Labels = Vec<(&'static str, String)>;

/// Metrics in the memory of the process, as text for Prometheus. For each metric, at most 1000 combinations of labels are kept;
/// further ones are counted together, with the label `otel_metric_overflow`.
#[derive(Debug, Default)]
pub struct Histograms(Mutex<BTreeMap<&'static str, BTreeMap<Labels, Series>>>);

/// The measurements with the same labels.
#[derive(Debug)]
struct Series {
    /// The number of values up to each boundary, without those up to the one before; then that of larger ones.
    buckets: Vec<u64>,
    sum: f64,
    count: u64,
}

impl Histograms {
    /// Creates histograms without measurements.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns all histograms in the text form of OpenMetrics, without its end `# EOF`. Names are those that collectors of
    /// OpenTelemetry give to Prometheus: `gen_ai_client_operation_duration_seconds`.
    pub fn to_text(&self) -> String {
        let all = self.lock();
        let mut text = String::new();
        for metric in metric::ALL {
            if let Some(series) = all.get(metric.name) {
                write_metric(&mut text, metric, series);
            }
        }
        text
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<&'static str, BTreeMap<Labels, Series>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl MetricSink for Histograms {
    fn record(&self, metric: &'static MetricName, value: f64, labels: &[Label<'_>]) {
        let mut labels: Labels = labels
            .iter()
            .map(|(name, value)| (*name, (*value).to_owned()))
            .collect();
        let mut all = self.lock();
        let series = all.entry(metric.name).or_default();
        if series.len() >= MAX_SERIES && !series.contains_key(&labels) {
            labels = vec![(OVERFLOW.0, OVERFLOW.1.to_owned())];
        }
        let series = series.entry(labels).or_insert_with(|| Series {
            buckets: vec![0; metric.boundaries.len() + 1],
            sum: 0.0,
            count: 0,
        });
        let bucket = metric.boundaries.partition_point(|bound| *bound < value);
        series.buckets[bucket] += 1;
        series.sum += value;
        series.count += 1;
    }
}

fn write_metric(text: &mut String, metric: &MetricName, all: &BTreeMap<Labels, Series>) {
    let mut name = metric.name.replace('.', "_");
    if metric.unit == "s" {
        name.push_str("_seconds");
    }
    // Writing to a string cannot fail.
    let _ = writeln!(text, "# HELP {name} {}", metric.description);
    let _ = writeln!(text, "# TYPE {name} histogram");
    if metric.unit == "s" {
        let _ = writeln!(text, "# UNIT {name} seconds");
    }
    for (labels, series) in all {
        let labels: String = labels
            .iter()
            .map(|(label, value)| format!("{}=\"{}\",", label.replace('.', "_"), escaped(value)))
            .collect();
        let mut sum = 0;
        for (at, count) in series.buckets.iter().enumerate() {
            sum += count;
            let bound = metric
                .boundaries
                .get(at)
                .map_or("+Inf".to_owned(), |bound| format!("{bound:?}"));
            let _ = writeln!(text, "{name}_bucket{{{labels}le=\"{bound}\"}} {sum}");
        }
        let labels = labels.trim_end_matches(',');
        let _ = writeln!(text, "{name}_count{{{labels}}} {}", series.count);
        let _ = writeln!(text, "{name}_sum{{{labels}}} {}", series.sum);
    }
}

/// Returns the value of a label without characters that would end it.
fn escaped(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_counted_in_all_buckets_that_include_them() {
        let histograms = Histograms::new();
        let tool = &metric::EXECUTE_TOOL_DURATION;
        // A boundary belongs to its bucket.
        for value in [0.01, 0.011, 100.0] {
            histograms.record(tool, value, &[("gen_ai.tool.name", "a \"b\"\\\n")]);
        }
        let text = histograms.to_text();
        let line = |start: &str, end: &str| {
            let line =
                format!("gen_ai_execute_tool_duration_seconds{start}gen_ai_tool_name=\"a \\\"b\\\"\\\\\\n\"{end}\n");
            assert!(text.contains(&line), "{line}\n{text}");
        };
        line("_bucket{", ",le=\"0.01\"} 1");
        line("_bucket{", ",le=\"0.02\"} 2");
        line("_bucket{", ",le=\"81.92\"} 2");
        line("_bucket{", ",le=\"+Inf\"} 3");
        line("_count{", "} 3");
        assert_eq!(text.matches("# TYPE").count(), 1);
    }

    #[test]
    fn the_number_of_series_is_bounded() {
        let histograms = Histograms::new();
        let tool = &metric::EXECUTE_TOOL_DURATION;
        for number in 0..MAX_SERIES + 50 {
            histograms.record(tool, 1.0, &[("gen_ai.tool.name", &number.to_string())]);
        }
        let text = histograms.to_text();
        assert_eq!(text.matches("_count{").count(), MAX_SERIES + 1);
        assert!(text.contains("_count{otel_metric_overflow=\"true\"} 50\n"));
    }
}
