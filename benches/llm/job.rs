//! [`Job`]: a measurement with its clients.

mod history;
mod many;
mod stream;
mod tool_loop;
mod turn;

use tokio::runtime::{Builder, Runtime};

use crate::{Fallible, alloc, clock, figures::Figures};

/// A measurement with its clients.
pub(crate) struct Job {
    /// The name on the command line.
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    /// The unit of the figures.
    pub(crate) unit: &'static str,
    /// The clients: letters for baselines, names for agcore's.
    pub(crate) clients: &'static [&'static str],
    /// Whether client and server are pinned to the same core.
    pub(crate) pinned: bool,
    /// The number of runs of each client.
    pub(crate) repetitions: usize,
    /// Runs a client, given its name and the URL of the server.
    pub(crate) run: fn(&str, &str) -> Fallible<Figures>,
}

/// All jobs in the order of the report.
pub(crate) const JOBS: &[Job] = &[
    turn::JOB,
    tool_loop::JOB,
    stream::JOB,
    stream::ANTHROPIC,
    stream::RESPONSES,
    many::JOB,
    history::JOB,
];

/// Creates the runtime of a client. It has one thread, so that the allocations of this thread are all allocations.
fn runtime() -> Fallible<Runtime> {
    Ok(Builder::new_current_thread().enable_all().build()?)
}

/// The number of rounds to warm up, to measure the time, and to count allocations.
struct Rounds {
    warm: u32,
    timed: u32,
    counted: u32,
    /// The number of units per round.
    units: u32,
}

/// Runs a job repeatedly and returns the figures per unit.
fn measure(runtime: &Runtime, rounds: &Rounds, mut job: impl AsyncFnMut() -> Fallible) -> Fallible<Figures> {
    let mut repeat = |rounds: u32| {
        runtime.block_on(async {
            for _ in 0..rounds {
                job().await?;
            }
            Fallible::Ok(())
        })
    };
    repeat(rounds.warm)?;
    let start = clock::cpu();
    repeat(rounds.timed)?;
    let elapsed = clock::cpu().saturating_sub(start);
    let (result, allocated) = alloc::count(|| repeat(rounds.counted));
    result?;
    let per_unit = |total: f64, count: u32| total / f64::from(count) / f64::from(rounds.units);
    Ok(Figures {
        cpu_us: per_unit(elapsed.as_secs_f64() * 1e6, rounds.timed),
        allocations: per_unit(allocated.count as f64, rounds.counted),
        bytes: per_unit(allocated.bytes as f64, rounds.counted),
        stream_kib: 0.0,
    })
}

/// Checks that a reply is the expected one.
fn expect<T: PartialEq + std::fmt::Debug>(found: T, expected: T) -> Fallible {
    if found == expected {
        return Ok(());
    }
    Err(format!("unexpected reply: expected {expected:?}, found {found:?}").into())
}
