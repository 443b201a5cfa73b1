//! The number of jobs that are added and executed in a second.

use std::{
    collections::BTreeSet,
    ops::Range,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use tokio::{sync::Notify, task::JoinSet, time::timeout};

use crate::{
    agcore::{Agcore, AgcoreWithEvents},
    database::{Database, Server},
    figures::{median, short, spread},
    peer::{self, Awa},
    subject::{Fallible, Plan, Report, Subject, What},
};

/// The numbers of workers, which are also those of the producers, with the numbers of jobs.
const SIZES: [(u32, u64); 3] = [(1, 80), (4, 300), (16, 800)];

/// The number of jobs of a batch.
const BATCH: u64 = 100;

/// The longest time for the jobs of one size.
const PATIENCE: Duration = Duration::from_secs(60);

/// The time after which no further round begins, so that a slow machine takes minutes and not an hour.
const BUDGET: Duration = Duration::from_secs(60);

/// The figures of a subject, with a value for each round.
#[derive(Debug)]
pub struct Row {
    name: &'static str,
    /// For each size: jobs that were added and executed in a second, and transactions for each job of both.
    sizes: [[Vec<f64>; 4]; SIZES.len()],
}

/// Runs rounds of all subjects in turns and returns the tables.
pub async fn measure(server: &Server, templates: [&Database; 2], rounds: usize) -> Fallible<String> {
    let databases = [
        server.copy(templates[0], "agcore").await?,
        server.copy(templates[0], "events").await?,
        server.copy(templates[1], "awa").await?,
    ];
    let batches = server.copy(templates[1], "batches").await?;
    let mut rows = [Agcore::NAME, AgcoreWithEvents::NAME, Awa::NAME].map(|name| Row {
        name,
        sizes: Default::default(),
    });
    let mut batched = Vec::new();
    let mut next = [1; 3];
    let start = Instant::now();
    for round in 0..rounds {
        if start.elapsed() > BUDGET {
            eprintln!("{round} rounds took {:?}, and are the last", start.elapsed());
            break;
        }
        for turn in 0..3 {
            let place = (round + turn) % 3;
            let (database, row, next) = (&databases[place], &mut rows[place], &mut next[place]);
            match place {
                0 => once::<Agcore>(database, row, next).await?,
                1 => once::<AgcoreWithEvents>(database, row, next).await?,
                _ => once::<Awa>(database, row, next).await?,
            }
        }
        batched.push(add_batches(&batches).await?);
        eprintln!("round {} of {rounds}", round + 1);
    }
    Ok(tables(&rows, &batched))
}

/// Adds and executes the jobs of all sizes.
async fn once<S: Subject>(database: &Database, row: &mut Row, next: &mut u64) -> Fallible {
    for ((count, jobs), figures) in SIZES.into_iter().zip(&mut row.sizes) {
        let numbers = *next..*next + jobs;
        *next += jobs;
        let before = database.commits().await?;
        figures[0].push(add::<S>(database, count, numbers.clone()).await?);
        let between = database.commits().await?;
        figures[1].push(execute::<S>(database, count, jobs).await?);
        let after = database.commits().await?;
        figures[2].push((between - before) / jobs as f64);
        figures[3].push((after - between) / jobs as f64);
        let completed = database.completed::<S>().await?;
        if completed + 1 != *next {
            return Err(format!("{}: {completed} of {} jobs are completed", S::NAME, *next - 1).into());
        }
    }
    Ok(())
}

/// Adds jobs with several producers at a time. Returns the number of jobs in a second.
async fn add<S: Subject>(database: &Database, producers: u32, numbers: Range<u64>) -> Fallible<f64> {
    let producer = S::open(&database.url("producer")?, producers).await?;
    let jobs = numbers.end - numbers.start;
    let next = Arc::new(AtomicU64::new(numbers.start));
    let mut tasks = JoinSet::new();
    let start = Instant::now();
    for _ in 0..producers {
        let (producer, next, end) = (producer.clone(), Arc::clone(&next), numbers.end);
        tasks.spawn(async move {
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                if number >= end {
                    return Fallible::Ok(());
                }
                S::enqueue(&producer, number).await?;
            }
        });
    }
    while let Some(done) = tasks.join_next().await {
        done??;
    }
    let rate = jobs as f64 / start.elapsed().as_secs_f64();
    S::close(producer).await;
    Ok(rate)
}

/// Executes all jobs that wait. Returns the number of jobs in a second, from the start of the first to that of the last: a slot
/// starts a job when the end of the one before is stored.
async fn execute<S: Subject>(database: &Database, slots: u32, jobs: u64) -> Fallible<f64> {
    let started: Arc<Mutex<Vec<(Instant, u64)>>> = Arc::default();
    let all = Arc::new(Notify::new());
    let report: Report = {
        let (started, all) = (Arc::clone(&started), Arc::clone(&all));
        Arc::new(move |notice| {
            if notice.what == What::Started {
                let mut started = started.lock().unwrap_or_else(PoisonError::into_inner);
                started.push((Instant::now(), notice.number));
                if started.len() as u64 == jobs {
                    all.notify_one();
                }
            }
        })
    };
    let worker = S::work(&database.url("worker")?, Plan::new("worker", slots), report).await?;
    let finished = timeout(PATIENCE, all.notified()).await;
    S::stop(worker).await;
    finished.map_err(|_| format!("{}: not all jobs were executed within {PATIENCE:?}", S::NAME))?;
    let started = started.lock().unwrap_or_else(PoisonError::into_inner);
    let distinct: BTreeSet<u64> = started.iter().map(|(_, number)| *number).collect();
    if distinct.len() as u64 != jobs || started.len() != distinct.len() {
        return Err(format!(
            "{}: {} starts of {} jobs instead of {jobs}",
            S::NAME,
            started.len(),
            distinct.len()
        )
        .into());
    }
    let times = started.iter().map(|(time, _)| *time);
    let (first, last) = (times.clone().min(), times.max());
    let time = first.zip(last).map_or(Duration::ZERO, |(first, last)| last - first);
    Ok((jobs - 1) as f64 / time.as_secs_f64())
}

/// Adds jobs in batches. Returns the number of jobs in a second.
async fn add_batches(database: &Database) -> Fallible<f64> {
    let producer = Awa::open(&database.url("producer")?, 1).await?;
    let start = Instant::now();
    for batch in 0..10 {
        peer::enqueue_batch(&producer, batch * BATCH..(batch + 1) * BATCH).await?;
    }
    let rate = 10.0 * BATCH as f64 / start.elapsed().as_secs_f64();
    Awa::close(producer).await;
    Ok(rate)
}

fn tables(rows: &[Row], batched: &[f64]) -> String {
    let mut text = String::new();
    for (heading, figure) in [("Jobs added in a second", 0), ("Jobs executed in a second", 1)] {
        let of = if figure == 0 { "producers" } else { "workers" };
        let rounds = batched.len();
        text += &format!("\n## {heading}: medians of {rounds} rounds, with the lowest and the highest\n\n| subject |");
        for (count, _) in SIZES {
            text += &format!(" {count} {} |", if count == 1 { &of[..of.len() - 1] } else { of });
        }
        text += " transactions per job |\n|---|---|---|---|---|\n";
        for row in rows {
            text += &format!("| {} |", row.name);
            for size in &row.sizes {
                text += &format!(" {} |", spread(&size[figure]));
            }
            let commits = row.sizes.iter().map(|size| short(median(&size[figure + 2])));
            text += &format!(" {} |\n", commits.collect::<Vec<_>>().join(", "));
        }
        if figure == 0 {
            text += &format!("| awa, {BATCH} in a transaction | {} | | | |\n", spread(batched));
        }
    }
    text
}
