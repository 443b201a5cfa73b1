//! The report: Markdown tables of figures and limits.

use std::collections::BTreeMap;

use crate::{
    figures::Figures,
    job::{Job, Suite},
    limit::{Figure, Limit},
};

/// The runs of a client in two lines.
#[derive(Debug, Clone, Copy, Default)]
pub struct Summary {
    /// The lowest of each figure. Other load on the machine can only increase CPU time.
    pub best: Figures,
    /// The median of each figure.
    pub median: Figures,
}

impl Summary {
    /// Summarizes runs.
    pub fn of(runs: &[Figures]) -> Self {
        Self {
            best: Figures::best(runs),
            median: Figures::median(runs),
        }
    }
}

/// The runs of the clients of a job, by name.
pub type Summaries = BTreeMap<&'static str, Summary>;

/// Formats the figures of a job. Ratios are those of the best runs, with those of the medians in parentheses.
pub fn figures(job: &Job, summaries: &Summaries) -> String {
    let mut table = format!(
        "\n## {} (`{}`)\n\n\
         | client | CPU, µs per {unit}: best (median) | × H | × R | allocations | bytes allocated | KiB each | peak MiB |\n\
         |---|---|---|---|---|---|---|---|\n",
        job.title,
        job.name,
        unit = job.unit
    );
    for client in job.clients {
        let Summary { best, median } = summaries.get(client).copied().unwrap_or_default();
        let ratio = |baseline| match summaries.get(baseline) {
            Some(baseline) => format!(
                "{:.2} ({:.2})",
                best.cpu_us / baseline.best.cpu_us,
                median.cpu_us / baseline.median.cpu_us
            ),
            None => String::new(),
        };
        table += &format!(
            "| {client} | {} ({}) | {} | {} | {} | {} | {} | {} |\n",
            short(best.cpu_us),
            short(median.cpu_us),
            ratio("H"),
            ratio("R"),
            short(median.allocations),
            short(median.bytes),
            if median.each_kib == 0.0 {
                String::new()
            } else {
                short(median.each_kib)
            },
            short(median.peak_mib),
        );
    }
    table
}

/// Formats the limits of a job and whether they are met. Limits on instructions need valgrind and are checked separately.
pub fn limits(suite: &Suite, job: &Job, summaries: &Summaries) -> String {
    let limits = suite.limits.iter().filter(|limit| limit.job == job.name);
    let rows: String = limits.filter_map(|limit| row(limit, summaries)).collect();
    match rows.is_empty() {
        true => rows,
        false => format!("\n| limit | measured | required | target |\n|---|---|---|---|\n{rows}"),
    }
}

fn row(limit: &Limit, summaries: &Summaries) -> Option<String> {
    let value = measured(limit, summaries)?;
    let verdict = |bound: Option<f64>, met: &str| match bound {
        Some(bound) if value <= bound => format!("≤ {bound}: {met}"),
        Some(bound) => format!("≤ {bound}: **missed**"),
        None => String::new(),
    };
    Some(format!(
        "| {} | {} | {} | {} |\n",
        name(limit),
        short(value),
        verdict(limit.required, "met"),
        verdict(limit.target, "reached")
    ))
}

fn name(limit: &Limit) -> String {
    let client = limit.client;
    match limit.figure {
        Figure::Cpu { of } => format!("{client}: CPU × {of}"),
        Figure::Instructions { of } => format!("{client}: instructions × {of}"),
        Figure::Allocations => format!("{client}: allocations"),
        Figure::Bytes { of } => format!("{client}: bytes × {of}"),
        Figure::EachKib => format!("{client}: KiB each"),
        Figure::EachKibOver { of } => format!("{client}: KiB each − {of}"),
        Figure::PeakMib => format!("{client}: peak MiB"),
    }
}

fn measured(limit: &Limit, summaries: &Summaries) -> Option<f64> {
    let (client, of) = (limit.client, |name: &str| {
        summaries.get(name).copied().unwrap_or_default()
    });
    let own = of(client);
    Some(match limit.figure {
        Figure::Cpu { of: other } => own.best.cpu_us / of(other).best.cpu_us,
        Figure::Instructions { .. } => return None,
        Figure::Allocations => own.median.allocations,
        Figure::Bytes { of: other } => own.median.bytes / of(other).median.bytes,
        Figure::EachKib => own.median.each_kib,
        Figure::EachKibOver { of: other } => own.median.each_kib - of(other).median.each_kib,
        Figure::PeakMib => own.median.peak_mib,
    })
}

/// Formats a number with about three significant digits, and whole numbers below a million with all of theirs.
pub fn short(number: f64) -> String {
    match number.abs() {
        size if size >= 1_000_000.0 => format!("{:.0}k", number / 1000.0),
        size if size >= 100.0 => format!("{number:.0}"),
        size if size >= 10.0 => format!("{number:.1}"),
        size if size >= 0.1 => format!("{number:.2}"),
        _ => format!("{number:.4}"),
    }
}
