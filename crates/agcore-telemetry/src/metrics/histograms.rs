//! [`Histograms`]: metrics in the memory of the process, as text for Prometheus.

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use agcore_trace::{MetricName, attribute, metric};

use super::sink::{Label, MetricSink};

/// The largest number of combinations of labels that a metric has. Of measurements with further ones, the names are replaced.
const MAX_SERIES: usize = 1000;

/// The largest number of combinations without names. Measurements with further ones are counted together.
const MAX_OTHERS: usize = 200;

/// The labels with names that users or models may choose.
const NAMES: [&str; 5] = [
    attribute::REQUEST_MODEL,
    attribute::RESPONSE_MODEL,
    attribute::AGENT_NAME,
    attribute::TOOL_NAME,
    attribute::WORKFLOW_NAME,
];

/// The replacement of names, which OpenTelemetry's conventions use for unknown values of other attributes.
const OTHER: &str = "_OTHER";

/// The label of measurements beyond both limits, which OpenTelemetry's SDKs use as well.
const OVERFLOW: Label<'_> = ("otel.metric.overflow", "true");

/// Metrics in the memory of the process, as text for Prometheus.
///
/// For each metric, at most 1000 combinations of labels are kept. Of further ones, the names of models, agents, tools and flows are
/// replaced by `_OTHER`: that calls fail remains visible by their `error.type`. After that, measurements are counted together, with
/// the label `otel_metric_overflow`. The first text after names were replaced is accompanied by a warning in the log.
#[derive(Debug, Default)]
pub struct Histograms {
    all: Mutex<All>,
    /// Whether names were replaced.
    is_full: AtomicBool,
    /// Whether the log has the warning about that.
    has_warned: AtomicBool,
}

/// The measurements by metric, sorted by their labels.
type All = BTreeMap<&'static str, Vec<Series>>;

/// The measurements with the same labels.
#[derive(Debug, Clone)]
struct Series {
    labels: Arc<[(&'static str, String)]>,
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
        // Not while a measurement is taken: inside a subscriber, nothing may be logged.
        if self.is_full.load(Ordering::Relaxed) && !self.has_warned.swap(true, Ordering::Relaxed) {
            tracing::warn!(
                "a metric has more than {MAX_SERIES} combinations of labels; new names of models, agents, tools and flows \
                 are counted as {OTHER} until the program restarts"
            );
        }
        // Calls of models and tools wait for the lock: the numbers are copied, and written without it.
        let all = self.lock().clone();
        let mut text = String::new();
        for metric in metric::ALL {
            if let Some(series) = all.get(metric.name) {
                write_metric(&mut text, metric, series);
            }
        }
        text
    }

    fn lock(&self) -> MutexGuard<'_, All> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl MetricSink for Histograms {
    fn record(&self, metric: &'static MetricName, value: f64, labels: &[Label<'_>]) {
        let mut all = self.lock();
        let all = all.entry(metric.name).or_default();
        let place = place(all, metric, labels, MAX_SERIES)
            .or_else(|| {
                self.is_full.store(true, Ordering::Relaxed);
                place(all, metric, &without_names(labels), MAX_SERIES + MAX_OTHERS)
            })
            .or_else(|| place(all, metric, &[OVERFLOW], usize::MAX));
        let Some(series) = place.and_then(|place| all.get_mut(place)) else {
            return;
        };
        let bucket = metric.boundaries.partition_point(|bound| *bound < value);
        series.buckets[bucket] += 1;
        series.sum += value;
        series.count += 1;
    }
}

/// Returns the index of the measurements with these labels, which are added if there are fewer than `max`. Allocates nothing if
/// they are known.
fn place(all: &mut Vec<Series>, metric: &MetricName, labels: &[Label<'_>], max: usize) -> Option<usize> {
    let known = |series: &Series| {
        let known = series.labels.iter().map(|(name, value)| (*name, value.as_str()));
        known.cmp(labels.iter().copied())
    };
    match all.binary_search_by(known) {
        Ok(at) => Some(at),
        Err(at) if all.len() < max => {
            let labels = labels.iter().map(|(name, value)| (*name, (*value).to_owned()));
            let series = Series {
                labels: labels.collect(),
                buckets: vec![0; metric.boundaries.len() + 1],
                sum: 0.0,
                count: 0,
            };
            all.insert(at, series);
            Some(at)
        }
        Err(_) => None,
    }
}

fn without_names<'a>(labels: &[Label<'a>]) -> Vec<Label<'a>> {
    let without = |(name, value): &Label<'a>| (*name, if NAMES.contains(name) { OTHER } else { *value });
    labels.iter().map(without).collect()
}

fn write_metric(text: &mut String, metric: &MetricName, all: &[Series]) {
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
    for series in all {
        let labels: String = series
            .labels
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
        let record = |name: &str, error: &str| {
            histograms.record(tool, 1.0, &[("gen_ai.tool.name", name), ("error.type", error)]);
        };
        for number in 0..MAX_SERIES {
            record(&number.to_string(), "timeout");
        }
        assert!(!histograms.is_full.load(Ordering::Relaxed));
        record("new", "timeout");
        record("newer", "timeout");
        record("newer", "tool");
        // Known ones are counted as before.
        record("7", "timeout");
        let text = histograms.to_text();
        assert_eq!(text.matches("_count{").count(), MAX_SERIES + 2);
        for line in [
            "_count{gen_ai_tool_name=\"_OTHER\",error_type=\"timeout\"} 2\n",
            "_count{gen_ai_tool_name=\"_OTHER\",error_type=\"tool\"} 1\n",
            "_count{gen_ai_tool_name=\"7\",error_type=\"timeout\"} 2\n",
        ] {
            assert!(text.contains(line), "{line}");
        }
        assert!(histograms.has_warned.load(Ordering::Relaxed));
        for number in 0..MAX_OTHERS + 50 {
            record("new", &number.to_string());
        }
        let text = histograms.to_text();
        assert_eq!(text.matches("_count{").count(), MAX_SERIES + MAX_OTHERS + 1);
        assert!(text.contains("_count{otel_metric_overflow=\"true\"} 52\n"));
    }
}
