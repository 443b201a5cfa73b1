//! [`Job`]: what is measured, by whom, and how often.

mod history;
mod many;
mod stream;
mod tool_loop;
mod turn;

use tokio::runtime::{Builder, Runtime};

use crate::{Fallible, alloc, clock, figures::Figures};

/// One job.
pub(crate) struct Job {
    /// Its name on the command line.
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    /// What the figures are for each of.
    pub(crate) unit: &'static str,
    /// Its clients: letters of floors, names of ours.
    pub(crate) clients: &'static [&'static str],
    /// Whether client and server share one core.
    pub(crate) pinned: bool,
    /// How often each client runs.
    pub(crate) repetitions: usize,
    /// Runs a client.
    pub(crate) run: fn(&str, &str) -> Fallible<Figures>,
}

/// All jobs, in the order of the report.
pub(crate) const JOBS: &[Job] = &[
    turn::JOB,
    tool_loop::JOB,
    stream::JOB,
    stream::ANTHROPIC,
    stream::RESPONSES,
    many::JOB,
    history::JOB,
];

/// A runtime as clients use it: of one thread, so that counting allocations of the thread counts all.
fn runtime() -> Fallible<Runtime> {
    Ok(Builder::new_current_thread().enable_all().build()?)
}

/// How often a job is done to warm up, to take the time, and to count allocations.
struct Rounds {
    warm: u32,
    timed: u32,
    counted: u32,
    /// Units in each round.
    units: u32,
}

/// Does a job over and over; figures for each unit.
fn measured(runtime: &Runtime, rounds: &Rounds, mut job: impl AsyncFnMut() -> Fallible) -> Fallible<Figures> {
    let mut times = |times: u32| {
        runtime.block_on(async {
            for _ in 0..times {
                job().await?;
            }
            Fallible::Ok(())
        })
    };
    times(rounds.warm)?;
    let begun = clock::cpu();
    times(rounds.timed)?;
    let spent = clock::cpu().saturating_sub(begun);
    let (done, allocated) = alloc::counted(|| times(rounds.counted));
    done?;
    let each = |total: f64, rounds_of: u32| total / f64::from(rounds_of) / f64::from(rounds.units);
    Ok(Figures {
        cpu_us: each(spent.as_secs_f64() * 1e6, rounds.timed),
        allocations: each(allocated.count as f64, rounds.counted),
        bytes: each(allocated.bytes as f64, rounds.counted),
        stream_kib: 0.0,
    })
}

/// Whether the reply was the right one.
fn expect<T: PartialEq + std::fmt::Debug>(found: T, expected: T) -> Fallible {
    if found == expected {
        return Ok(());
    }
    Err(format!("the reply was {found:?}, not {expected:?}").into())
}
