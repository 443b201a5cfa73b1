//! The tables.

use crate::{
    figures::{Figures, quantile},
    judge::Violations,
    requirement::Requirement,
    scenario::Scenario,
    worker::{IDLE, LEASE},
};

/// A scenario with its result.
#[derive(Debug)]
pub struct Outcome {
    /// The scenario.
    pub scenario: Scenario,
    /// Its counts and times.
    pub figures: Figures,
    /// The wrong answers of the store.
    pub violations: Violations,
}

/// A row: its name, and its value for a scenario.
type Row = (&'static str, fn(&Outcome) -> String);

const ROWS: &[Row] = &[
    ("tenants", |it| it.scenario.tenants.len().to_string()),
    ("runs", |it| it.scenario.size.runs.to_string()),
    ("simulated time, s", |it| {
        format!("{:.0}", it.figures.simulated.as_secs_f64())
    }),
    ("claims", |it| it.figures.claims.to_string()),
    ("claims that found nothing", |it| it.figures.empty_claims.to_string()),
    ("claims asked for again, with the same leases", |it| {
        it.figures.repeated_claims.to_string()
    }),
    ("renewals, each of all leases of a worker", |it| {
        it.figures.renewals.to_string()
    }),
    ("renewed leases", |it| it.figures.renewed.to_string()),
    ("renewals that were too late", |it| {
        it.figures.renewed_too_late.to_string()
    }),
    ("commits under a lease", |it| it.figures.commits.to_string()),
    ("refused writes of lost leases", |it| it.figures.fenced.to_string()),
    ("… of workers with a slow clock", |it| {
        it.figures.fenced_slow.to_string()
    }),
    ("the same after the session was deleted", |it| {
        it.figures.too_late.to_string()
    }),
    ("wrong answers", |it| it.violations.count.to_string()),
    ("runs left in time by the worker's own clock", |it| {
        it.figures.left_in_time.to_string()
    }),
    ("lost requests and answers", |it| it.figures.lost.to_string()),
    ("killed workers", |it| it.figures.kills.to_string()),
    ("… by a run", |it| it.figures.poisoned.to_string()),
    ("… that never came back", |it| it.figures.gone.to_string()),
    ("stopped workers", |it| it.figures.stops.to_string()),
    ("commits of workers with a wrong calendar", |it| {
        it.figures.with_wrong_calendar.to_string()
    }),
    ("takeovers", |it| it.figures.takeovers.len().to_string()),
    ("… p50, p95, max, s", |it| seconds(&it.figures.takeovers)),
    ("… while a slot was free", |it| {
        it.figures.free_takeovers.len().to_string()
    }),
    ("… p50, p95, max, s", |it| seconds(&it.figures.free_takeovers)),
    ("completed runs", |it| it.figures.ended.to_string()),
    ("dead letters", |it| it.figures.dead.to_string()),
    ("… of runs that do not kill workers", |it| {
        it.figures.dead_innocents.to_string()
    }),
    ("statements per run", |it| {
        format!("{:.2}", it.figures.statements as f64 / it.scenario.size.runs as f64)
    }),
    ("CPU time, s", |it| format!("{:.1}", it.figures.cpu.as_secs_f64())),
    ("CPU time per statement, µs", |it| {
        format!(
            "{:.0}",
            it.figures.cpu.as_secs_f64() * 1e6 / it.figures.statements as f64
        )
    }),
];

fn seconds(sorted: &[u32]) -> String {
    let at = |part| f64::from(quantile(sorted, part)) / 1_000.0;
    format!("{:.1}, {:.1}, {:.1}", at(0.5), at(0.95), at(1.0))
}

/// Prints all tables.
pub(crate) fn print(outcomes: &[Outcome]) {
    let names: Vec<_> = outcomes.iter().map(|it| it.scenario.name).collect();
    println!("| | {} |", names.join(" | "));
    println!("|---|{}", "---|".repeat(names.len()));
    for (name, value) in ROWS {
        let values: Vec<_> = outcomes.iter().map(value).collect();
        println!("| {name} | {} |", values.join(" | "));
    }
    println!("\n| wait until the first claim, ms | runs | p50 | p95 | p99 | max |\n|---|---|---|---|---|---|");
    for it in outcomes {
        for (kind, waits) in it.scenario.kinds.iter().zip(&it.figures.waits) {
            let [p50, p95, p99, max] = [0.5, 0.95, 0.99, 1.0].map(|part| quantile(waits, part));
            println!(
                "| {}: {kind} | {} | {p50} | {p95} | {p99} | {max} |",
                it.scenario.name,
                waits.len()
            );
        }
    }
    println!("\n| share of the workers while all tenants wait | weight | part |\n|---|---|---|");
    for it in outcomes.iter().filter(|it| it.scenario.name == "weights") {
        let all: u64 = it.figures.served.iter().sum();
        for (tenant, served) in it.scenario.tenants.iter().zip(&it.figures.served) {
            let part = *served as f64 / all as f64;
            println!("| {} | {} | {:.2} % |", tenant.name, tenant.share.weight, part * 100.0);
        }
    }
}

/// Returns the requirements that the outcomes of all scenarios, or of some, have to meet.
pub fn requirements(outcomes: &[Outcome]) -> Vec<Requirement> {
    let violations: u64 = outcomes.iter().map(|it| it.violations.count).sum();
    let slowest = outcomes.iter().filter_map(|it| it.figures.free_takeovers.last()).max();
    let requirement = |name, measured, unit, at_most| Requirement {
        name,
        measured,
        unit,
        at_most,
    };
    let mut all = vec![
        requirement("wrong answers of the store", violations as f64, "", 0.0),
        requirement(
            "the longest takeover while a slot was free",
            f64::from(slowest.copied().unwrap_or(0)) / 1_000.0,
            " s",
            (LEASE + IDLE) as f64 / 1_000.0,
        ),
    ];
    let find = |name| outcomes.iter().find(|it| it.scenario.name == name);
    if let (Some(alone), Some(flood)) = (find("alone"), find("flood")) {
        let wait = |it: &Outcome| f64::from(it.figures.waits.first().map_or(0, |waits| quantile(waits, 0.95)));
        let ratio = wait(flood) / wait(alone).max(1.0);
        all.push(requirement("p95 of the wait beside a flood", ratio, " × alone", 2.0));
    }
    if let Some(weights) = find("weights") {
        all.push(requirement(
            "shares beside weights, the largest difference",
            deviation(weights),
            " %",
            5.0,
        ));
    }
    all
}

/// Returns the largest difference between the share of a tenant and its weight, in percent of the latter.
fn deviation(it: &Outcome) -> f64 {
    let served: u64 = it.figures.served.iter().sum();
    let weights: u32 = it.scenario.tenants.iter().map(|tenant| tenant.share.weight).sum();
    let differences = it.scenario.tenants.iter().zip(&it.figures.served).map(|(tenant, own)| {
        let (share, weight) = (
            *own as f64 / served as f64,
            f64::from(tenant.share.weight) / f64::from(weights),
        );
        (share / weight - 1.0).abs() * 100.0
    });
    differences.fold(0.0, f64::max)
}
