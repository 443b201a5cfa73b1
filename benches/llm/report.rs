//! The report: Markdown tables of figures and limits.

use std::collections::BTreeMap;

use crate::{
    figures::Figures,
    job::Job,
    limit::{Figure, LIMITS, Limit},
};

/// The medians of the clients of a job, by name.
pub(crate) type Medians = BTreeMap<&'static str, Figures>;

/// Formats the figures of a job.
pub(crate) fn figures(job: &Job, medians: &Medians) -> String {
    let mut table = format!(
        "\n## {} (`{}`)\n\n\
         | client | CPU, µs per {unit} | × H | × R | allocations | bytes allocated | KiB per stream |\n\
         |---|---|---|---|---|---|---|\n",
        job.title,
        job.name,
        unit = job.unit
    );
    for client in job.clients {
        let own = medians.get(client).copied().unwrap_or_default();
        let ratio = |baseline| match medians.get(baseline) {
            Some(baseline) => format!("{:.2}", own.cpu_us / baseline.cpu_us),
            None => String::new(),
        };
        let memory = if own.stream_kib > 0.0 {
            format!("{:.1}", own.stream_kib)
        } else {
            String::new()
        };
        table += &format!(
            "| {client} | {} | {} | {} | {} | {} | {memory} |\n",
            short(own.cpu_us),
            ratio("H"),
            ratio("R"),
            short(own.allocations),
            short(own.bytes),
        );
    }
    table
}

/// Formats the limits of a job and whether they are met.
pub(crate) fn limits(job: &Job, medians: &Medians) -> String {
    let mut table = "\n| limit | measured | required | target |\n|---|---|---|---|\n".to_owned();
    for limit in LIMITS.iter().filter(|limit| limit.job == job.name) {
        let value = measured(limit, medians);
        let verdict = |bound: Option<f64>, met: &str| match bound {
            Some(bound) if value <= bound => format!("≤ {bound}: {met}"),
            Some(bound) => format!("≤ {bound}: **missed**"),
            None => String::new(),
        };
        table += &format!(
            "| {} | {} | {} | {} |\n",
            name(limit),
            short(value),
            verdict(limit.required, "met"),
            verdict(limit.target, "reached")
        );
    }
    table
}

fn name(limit: &Limit) -> String {
    let client = limit.client;
    match limit.figure {
        Figure::Cpu { of } => format!("{client}: CPU × {of}"),
        Figure::Allocations => format!("{client}: allocations"),
        Figure::Bytes { of } => format!("{client}: bytes × {of}"),
        Figure::StreamKib => format!("{client}: KiB per stream"),
        Figure::StreamKibOver { of } => format!("{client}: KiB per stream − {of}"),
    }
}

fn measured(limit: &Limit, medians: &Medians) -> f64 {
    let median = |client: &str, figure: fn(&Figures) -> f64| medians.get(client).map_or(f64::NAN, figure);
    let client = limit.client;
    match limit.figure {
        Figure::Cpu { of: other } => median(client, |run| run.cpu_us) / median(other, |run| run.cpu_us),
        Figure::Allocations => median(client, |run| run.allocations),
        Figure::Bytes { of: other } => median(client, |run| run.bytes) / median(other, |run| run.bytes),
        Figure::StreamKib => median(client, |run| run.stream_kib),
        Figure::StreamKibOver { of: other } => {
            median(client, |run| run.stream_kib) - median(other, |run| run.stream_kib)
        }
    }
}

/// Formats a number with about three significant digits.
fn short(number: f64) -> String {
    match number.abs() {
        size if size >= 100_000.0 => format!("{:.0}k", number / 1000.0),
        size if size >= 100.0 => format!("{number:.0}"),
        size if size >= 10.0 => format!("{number:.1}"),
        size if size >= 0.1 => format!("{number:.2}"),
        _ => format!("{number:.4}"),
    }
}
