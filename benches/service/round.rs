//! [`Job`]: many streams at the same time, on a server and on the floor in turns.

use std::{net::SocketAddr, time::Duration};

use futures_util::future::try_join_all;
use tokio::task::JoinSet;

use crate::{
    Fallible,
    child::{Child, Side},
    client::{Client, input},
    plan::{PAUSE, Plan, now},
    requirement::Requirement,
};

/// The streams that are open at the same time.
const STREAMS: usize = 1000;

/// The runs of a live tail. The streams follow them in equal numbers.
const RUNS: usize = 10;

/// The deltas of each text: five seconds.
const DELTAS: u32 = 100;

/// The time for all streams to be opened, in milliseconds.
const LEAD: u64 = 8000;

/// The time that is measured before the first delta and after the last, in milliseconds.
const MARGIN: u64 = 300;

/// The time that texts stay open, in milliseconds, so that their ends are not measured.
const OPEN: u64 = 1500;

/// The kind of the streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Job {
    /// A stream for each run.
    Deltas,
    /// Streams that follow a few runs.
    Tail,
}

/// The figures of a round.
#[derive(Debug, Clone, Copy)]
struct Round {
    /// The CPU time of a delta in a stream, in microseconds.
    micros: f64,
    /// The memory of an open stream, in KiB.
    kib: f64,
    /// The CPU time of everything else for a stream: opening it, and the end of its run.
    rest: f64,
}

impl Job {
    /// Runs rounds of both sides in turns.
    pub(crate) async fn compare(self, rounds: usize) -> Fallible<Vec<Requirement>> {
        let (mut floor, mut agcore) = (Vec::new(), Vec::new());
        for _ in 0..rounds {
            floor.push(self.round(Side::Floor).await?);
            agcore.push(self.round(Side::Agcore).await?);
        }
        // The limit of memory is that of a stream, not of the run behind it.
        let (name, memory, cpu_limit, memory_limit) = match self {
            Self::Deltas => ("a delta of 1000 streams", "an open stream with its run", 2.0, None),
            Self::Tail => ("a frame of a live tail", "an open stream that follows", 1.5, Some(20.0)),
        };
        let row = |name: &str, of: fn(&Round) -> f64| {
            let [floor, agcore] = [&floor, &agcore].map(|rounds| Summary::of(rounds.iter().map(of)));
            print(name, &floor, &agcore);
            (floor.best, agcore.best)
        };
        heading(name);
        let (floor, agcore) = row("CPU, µs", |round| round.micros);
        let (_, kib) = row("memory of an open stream, KiB", |round| round.kib);
        row("CPU of a stream without its deltas, µs", |round| round.rest);
        Ok(vec![
            Requirement {
                name,
                measured: agcore / floor,
                unit: "× floor",
                at_most: Some(cpu_limit),
            },
            Requirement {
                name: memory,
                measured: kib,
                unit: "KiB",
                at_most: memory_limit,
            },
        ])
    }

    async fn round(self, side: Side) -> Fallible<Round> {
        let child = Child::start(side, RUNS).await?;
        // What is used by the first request only.
        let warm_up = Plan {
            start: now() + MARGIN,
            deltas: 2,
            open: 0,
        };
        let streams = self.streams(&child, "warm", RUNS, &warm_up).await?;
        streams.finish().await?;
        let plan = Plan {
            start: now() + LEAD,
            deltas: DELTAS,
            open: OPEN,
        };
        let (idle, started) = (child.memory()?, child.cpu()?);
        let streams = self.streams(&child, "run", STREAMS, &plan).await?;
        if now() + MARGIN > plan.start {
            return Err("the streams were not opened in time; is the machine busy?".into());
        }
        let open = child.memory()?;
        Plan::wait_for(plan.start - MARGIN).await;
        let before = child.cpu()?;
        let length = u64::try_from((PAUSE * DELTAS).as_millis())?;
        Plan::wait_for(plan.start + length + MARGIN).await;
        let after = child.cpu()?;
        streams.finish().await?;
        let ended = child.cpu()?;
        let (units, streams) = (STREAMS as f64 * f64::from(DELTAS), STREAMS as f64);
        let micros = |time: Duration| time.as_secs_f64() * 1e6;
        Ok(Round {
            micros: micros(after - before) / units,
            kib: (open - idle) / streams,
            rest: micros((before - started) + (ended - after)) / streams,
        })
    }

    /// Opens streams.
    async fn streams(self, child: &Child, name: &str, count: usize, plan: &Plan) -> Fallible<Streams> {
        let runs = match self {
            Self::Deltas => count,
            Self::Tail => RUNS.min(count),
        };
        let thread = |run: usize| match child.side {
            Side::Agcore => format!("{name}-{run}"),
            Side::Floor => run.to_string(),
        };
        let body = |run: usize| input(child.side, &thread(run), &plan.shifted(run, runs));
        let api = "/api/v1/agent";
        let mut streams = Streams::new(*plan);
        if self == Self::Tail {
            for run in 0..runs {
                let path = format!("{api}/runs/{}", thread(run));
                Client::open(child.address, "POST", &path, &body(run)).await?;
            }
        }
        for first in (0..count).step_by(50) {
            let opened = (first..count.min(first + 50)).map(|index| {
                let (method, path, body) = match self {
                    Self::Deltas => ("POST", format!("{api}/run"), body(index)),
                    Self::Tail => {
                        let thread = thread(index % runs);
                        ("GET", format!("{api}/runs/{thread}/events?runId=run"), String::new())
                    }
                };
                async move { Client::open(child.address, method, &path, &body).await }
            });
            streams.add(try_join_all(opened).await?);
        }
        Ok(streams)
    }
}

/// Streams that are read in tasks.
struct Streams {
    plan: Plan,
    tasks: JoinSet<Fallible>,
}

impl Streams {
    fn new(plan: Plan) -> Self {
        let tasks = JoinSet::new();
        Self { plan, tasks }
    }

    fn add(&mut self, clients: Vec<Client>) {
        let plan = self.plan;
        for client in clients {
            self.tasks.spawn(async move { client.finish(&plan).await });
        }
    }

    /// Waits for the ends of all streams.
    ///
    /// # Errors
    /// When one of them was not complete.
    async fn finish(mut self) -> Fallible {
        while let Some(result) = self.tasks.join_next().await {
            result??;
        }
        Ok(())
    }
}

/// Starts runs on a server and reads them, without measuring anything, for a profiler.
pub(crate) async fn load(address: SocketAddr, count: usize, deltas: u32) -> Fallible {
    let plan = Plan {
        start: now() + LEAD,
        deltas,
        open: 0,
    };
    let mut streams = Streams::new(plan);
    for index in 0..count {
        let shifted = plan.shifted(index, count);
        let body = input(Side::Agcore, &format!("load-{}-{index}", plan.start), &shifted);
        streams.add(vec![Client::open(address, "POST", "/api/v1/agent/run", &body).await?]);
    }
    streams.finish().await
}

/// The best and the median of several rounds.
struct Summary {
    best: f64,
    median: f64,
}

impl Summary {
    fn of(values: impl Iterator<Item = f64>) -> Self {
        let mut values: Vec<f64> = values.collect();
        values.sort_by(f64::total_cmp);
        Self {
            best: values.first().copied().unwrap_or(f64::NAN),
            median: values.get(values.len() / 2).copied().unwrap_or(f64::NAN),
        }
    }
}

#[expect(clippy::print_stdout, reason = "a benchmark prints its results")]
fn heading(name: &str) {
    println!("\n## {name}\n\n| best (median) | floor | agcore |\n|---|---|---|");
}

#[expect(clippy::print_stdout, reason = "a benchmark prints its results")]
fn print(name: &str, floor: &Summary, agcore: &Summary) {
    let cell = |summary: &Summary| format!("{:.1} ({:.1})", summary.best, summary.median);
    println!("| {name} | {} | {} |", cell(floor), cell(agcore));
}
