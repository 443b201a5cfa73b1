//! The arguments, and all scenarios one after the other.

use std::{env, process, sync::Arc};

use agcore_testkit::clock::ManualClock;

use crate::{
    Fallible, cost,
    report::{self, Outcome},
    requirement::Requirement,
    scenario::{Scenario, Size},
    subject::{Kind, Subject},
    world::simulate,
};

const USAGE: &str = "use --workers N, --slots N, --runs N, --seed N, --scenario NAME, --store sqlite|memory";

/// The arguments.
struct Options {
    size: Size,
    /// Only this scenario, if there is a name.
    scenario: Option<String>,
    store: Kind,
}

impl Options {
    /// Reads the arguments. Cargo adds `--bench`.
    fn read(arguments: impl Iterator<Item = String>) -> Fallible<Self> {
        let mut options = Self {
            size: Size {
                workers: 1_000,
                slots: 1,
                runs: 1_000_000,
                seed: 1,
            },
            scenario: None,
            store: Kind::Sqlite,
        };
        let mut arguments = arguments.filter(|argument| argument != "--bench");
        while let Some(argument) = arguments.next() {
            let value = arguments.next().ok_or(USAGE)?;
            match (argument.as_str(), value.as_str()) {
                ("--workers", _) => options.size.workers = value.parse()?,
                ("--slots", _) => options.size.slots = value.parse()?,
                ("--runs", _) => options.size.runs = value.parse()?,
                ("--seed", _) => options.size.seed = value.parse()?,
                ("--scenario", _) => options.scenario = Some(value),
                ("--store", "sqlite") => options.store = Kind::Sqlite,
                ("--store", "memory") => options.store = Kind::InMemory,
                _ => return Err(USAGE.into()),
            }
        }
        Ok(options)
    }
}

/// Runs all scenarios, prints the tables, and fails if a requirement is not met.
pub fn main() {
    match run() {
        Ok(true) => {}
        Ok(false) => process::exit(1),
        Err(error) => {
            println!("failed: {error}");
            process::exit(1);
        }
    }
}

fn run() -> Fallible<bool> {
    let options = Options::read(env::args().skip(1))?;
    let Size {
        workers,
        slots,
        runs,
        seed,
    } = options.size;
    println!("# Workers that share runs\n\n{workers} workers with {slots} slots each, {runs} runs, seed {seed}\n");
    let mut outcomes = Vec::new();
    for scenario in Scenario::all(options.size) {
        if options.scenario.as_ref().is_none_or(|name| name == scenario.name) {
            let outcome = outcome(scenario, options.store)?;
            let seconds = outcome.figures.cpu.as_secs_f64();
            println!("{} has taken {seconds:.0} s of CPU time", outcome.scenario.name);
            outcomes.push(outcome);
        }
    }
    println!();
    report::print(&outcomes);
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    runtime.block_on(cost::print(options.store))?;
    println!("\n| limit | measured | required | |\n|---|---|---|---|");
    let requirements = report::requirements(&outcomes);
    requirements.iter().for_each(|requirement| println!("{requirement}"));
    for it in &outcomes {
        it.violations
            .first
            .iter()
            .for_each(|violation| println!("{}: {violation}", it.scenario.name));
    }
    Ok(requirements.iter().all(Requirement::is_met))
}

/// Runs a scenario with an empty store.
fn outcome(scenario: Scenario, store: Kind) -> Fallible<Outcome> {
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    let clock = Arc::new(ManualClock::new());
    let simulated = runtime.block_on(async {
        let subject = Subject::open(store, Arc::clone(&clock) as _).await?;
        simulate(&scenario, &subject, &clock).await
    });
    let (figures, violations) = simulated?;
    Ok(Outcome {
        scenario,
        figures,
        violations,
    })
}
