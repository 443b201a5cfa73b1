//! The report: Markdown tables of what was measured and of the limits.

use std::collections::BTreeMap;

use crate::{
    figures::Figures,
    job::Job,
    limit::{Figure, LIMITS, Limit},
};

/// The medians of a job's clients, by name.
pub(crate) type Medians = BTreeMap<&'static str, Figures>;

/// What was measured in a job.
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
        let times = |floor| match medians.get(floor) {
            Some(floor) => format!("{:.2}", own.cpu_us / floor.cpu_us),
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
            times("H"),
            times("R"),
            short(own.allocations),
            short(own.bytes),
        );
    }
    table
}

/// How a job's limits are held.
pub(crate) fn limits(job: &Job, medians: &Medians) -> String {
    let mut table = "\n| limit | found | must | aim |\n|---|---|---|---|\n".to_owned();
    for limit in LIMITS.iter().filter(|limit| limit.job == job.name) {
        let found = found(limit, medians);
        let verdict = |most: Option<f64>, held: &str| match most {
            Some(most) if found <= most => format!("≤ {most}: {held}"),
            Some(most) => format!("≤ {most}: **missed**"),
            None => String::new(),
        };
        table += &format!(
            "| {} | {} | {} | {} |\n",
            name(limit),
            short(found),
            verdict(limit.must, "held"),
            verdict(limit.aim, "reached")
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
        Figure::StreamKibOver { of } => format!("{client}: KiB per stream − {of}'s"),
    }
}

fn found(limit: &Limit, medians: &Medians) -> f64 {
    let of = |client: &str, figure: fn(&Figures) -> f64| medians.get(client).map_or(f64::NAN, figure);
    let client = limit.client;
    match limit.figure {
        Figure::Cpu { of: other } => of(client, |run| run.cpu_us) / of(other, |run| run.cpu_us),
        Figure::Allocations => of(client, |run| run.allocations),
        Figure::Bytes { of: other } => of(client, |run| run.bytes) / of(other, |run| run.bytes),
        Figure::StreamKib => of(client, |run| run.stream_kib),
        Figure::StreamKibOver { of: other } => of(client, |run| run.stream_kib) - of(other, |run| run.stream_kib),
    }
}

/// A number with as many digits as one can use.
fn short(number: f64) -> String {
    match number.abs() {
        size if size >= 100_000.0 => format!("{:.0}k", number / 1000.0),
        size if size >= 100.0 => format!("{number:.0}"),
        size if size >= 10.0 => format!("{number:.1}"),
        size if size >= 0.1 => format!("{number:.2}"),
        _ => format!("{number:.4}"),
    }
}
