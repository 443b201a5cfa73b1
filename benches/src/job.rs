//! [`Job`]: a measurement with its clients.

use tokio::runtime::{Builder, Runtime};

use crate::{Fallible, alloc, clock, figures::Figures, limit::Limit, memory};

/// The jobs of a benchmark program.
#[derive(Debug)]
pub struct Suite {
    /// All jobs in the order of the report.
    pub jobs: &'static [Job],
    /// The limits that the report compares with the figures.
    pub limits: &'static [Limit],
}

impl Suite {
    /// Returns the job with this name, or an error that lists the known ones.
    pub fn find(&self, name: &str) -> Fallible<&'static Job> {
        self.jobs.iter().find(|job| job.name == name).ok_or_else(|| {
            let known: Vec<_> = self.jobs.iter().map(|job| job.name).collect();
            format!("no job named `{name}`; known jobs: {}", known.join(", ")).into()
        })
    }
}

/// A measurement with its clients.
#[derive(Debug)]
pub struct Job {
    /// The name on the command line.
    pub name: &'static str,
    /// The title in the report.
    pub title: &'static str,
    /// The unit of the figures.
    pub unit: &'static str,
    /// The clients: letters for baselines, names for others.
    pub clients: &'static [&'static str],
    /// Whether client and server are pinned to the same core.
    pub pinned: bool,
    /// The number of runs of each client.
    pub repetitions: usize,
    /// The rounds of each client, or `None` if the job is a single round.
    pub rounds: Option<Rounds>,
    /// Runs a client.
    pub run: fn(&Task<'_>) -> Fallible<Figures>,
}

/// The work of a client process.
#[derive(Debug, Clone, Copy)]
pub struct Task<'a> {
    /// The name of the client.
    pub client: &'a str,
    /// The URL of the server.
    pub url: &'a str,
    /// Which rounds to run.
    pub plan: Plan,
}

/// Which rounds a client runs.
#[derive(Debug, Clone, Copy)]
pub enum Plan {
    /// All rounds of the job.
    Measured,
    /// This many rounds, without reading a clock or counting allocations. Of two such runs with different numbers, the
    /// difference is the cost of the rounds, without setting up and warming up.
    Bare(u32),
}

/// The number of rounds to warm up, to measure the time, and to count allocations.
#[derive(Debug, Clone, Copy)]
pub struct Rounds {
    /// Rounds that are not measured.
    pub warm: u32,
    /// Rounds whose CPU time is measured.
    pub timed: u32,
    /// Rounds whose allocations are counted, or whose instructions are.
    pub counted: u32,
    /// The number of units per round.
    pub units: u32,
}

impl Task<'_> {
    /// Returns an error if only rounds are to be run, for a job that is a single round.
    pub fn is_measured(&self) -> Fallible {
        match self.plan {
            Plan::Measured => Ok(()),
            Plan::Bare(_) => Err("this job is a single round, which depends on the clock or on memory".into()),
        }
    }

    /// Returns the error for a client that the job does not have.
    pub fn unknown_client(&self) -> Fallible<Figures> {
        Err(format!("the job has no client named `{}`", self.client).into())
    }

    /// Runs a round repeatedly and returns the figures per unit.
    pub fn measure(
        &self,
        runtime: &Runtime,
        rounds: &Rounds,
        mut round: impl AsyncFnMut() -> Fallible,
    ) -> Fallible<Figures> {
        let mut repeat = |rounds: u32| {
            runtime.block_on(async {
                for _ in 0..rounds {
                    round().await?;
                }
                Fallible::Ok(())
            })
        };
        let units = |count: u32| f64::from(count) * f64::from(rounds.units);
        if let Plan::Bare(count) = self.plan {
            repeat(count)?;
            return Ok(Figures::of_units(units(count)));
        }
        repeat(rounds.warm)?;
        let start = clock::cpu();
        repeat(rounds.timed)?;
        let elapsed = clock::cpu().saturating_sub(start);
        let (result, allocated) = alloc::count(|| repeat(rounds.counted));
        result?;
        Ok(Figures {
            cpu_us: elapsed.as_secs_f64() * 1e6 / units(rounds.timed),
            allocations: allocated.count as f64 / units(rounds.counted),
            bytes: allocated.bytes as f64 / units(rounds.counted),
            peak_mib: memory::peak() / 1024.0,
            ..Figures::of_units(units(rounds.timed))
        })
    }
}

/// Creates the runtime of a client. It has one thread, so that the allocations of this thread are all allocations.
pub fn runtime() -> Fallible<Runtime> {
    Ok(Builder::new_current_thread().enable_all().build()?)
}

/// Checks that a reply is the expected one.
pub fn expect<T: PartialEq + std::fmt::Debug>(found: T, expected: T) -> Fallible {
    if found == expected {
        return Ok(());
    }
    Err(format!("unexpected reply: expected {expected:?}, found {found:?}").into())
}
