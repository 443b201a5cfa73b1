//! The time until a job starts that finds an idle worker.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use tokio::{
    sync::mpsc::{self, UnboundedReceiver},
    time::{sleep, timeout},
};

use crate::{
    agcore::Agcore,
    database::{Database, Server},
    figures::{quantile, short},
    peer::Awa,
    subject::{Fallible, Plan, Report, Subject, What},
};

/// The number of workers.
const SLOTS: u32 = 4;

/// The longest time until a job starts.
const PATIENCE: Duration = Duration::from_secs(10);

/// A subject with an idle worker.
struct Idle<S: Subject> {
    producer: S::Producer,
    worker: S::Worker,
    starts: UnboundedReceiver<(u64, Instant)>,
    next: u64,
    times: Vec<f64>,
}

impl<S: Subject> Idle<S> {
    async fn begin(database: &Database) -> Fallible<Self> {
        let (sender, starts) = mpsc::unbounded_channel();
        let report: Report = Arc::new(move |notice| {
            if notice.what == What::Started {
                // Nothing waits for it any more when the measurement has failed.
                let _ = sender.send((notice.number, Instant::now()));
            }
        });
        Ok(Self {
            producer: S::open(&database.url("producer")?, 2).await?,
            worker: S::work(&database.url("worker")?, Plan::new("worker", SLOTS), report).await?,
            starts,
            next: 1,
            times: Vec::new(),
        })
    }

    /// Adds a job and waits for its start.
    async fn sample(&mut self, wakes: bool) -> Fallible {
        let number = self.next;
        self.next += 1;
        let added = Instant::now();
        S::enqueue(&self.producer, number).await?;
        if wakes {
            S::wake(&self.worker);
        }
        let start = timeout(PATIENCE, self.starts.recv()).await;
        let start = start.map_err(|_| format!("{}: a job did not start within {PATIENCE:?}", S::NAME))?;
        let (started, at) = start.ok_or("the worker has ended")?;
        if started != number {
            return Err(format!("{}: the job {started} has started instead of {number}", S::NAME).into());
        }
        self.times.push((at - added).as_secs_f64() * 1000.0);
        Ok(())
    }

    async fn end(self) -> Vec<f64> {
        S::stop(self.worker).await;
        S::close(self.producer).await;
        self.times
    }
}

/// Adds one job after the other and returns the table. The worker that only receives announcements gets one after its pauses between claims have
/// grown, which takes seconds in which nearly nothing happens: the other subjects take turns meanwhile.
pub async fn measure(server: &Server, templates: [&Database; 2], samples: usize) -> Fallible<String> {
    let announced = server.copy(templates[0], "announced").await?;
    let woken = server.copy(templates[0], "woken").await?;
    let notified = server.copy(templates[1], "notified").await?;
    let announcing = async {
        let mut idle = Idle::<Agcore>::begin(&announced).await?;
        for _ in 0..samples / 10 {
            // The pauses between claims have grown to a second by then.
            sleep(Duration::from_millis(800) + part_of(1000)).await;
            idle.sample(false).await?;
        }
        Fallible::Ok(idle.end().await)
    };
    let others = async {
        let (mut own, mut peer) = (
            Idle::<Agcore>::begin(&woken).await?,
            Idle::<Awa>::begin(&notified).await?,
        );
        for _ in 0..samples {
            sleep(Duration::from_millis(30) + part_of(40)).await;
            own.sample(true).await?;
            sleep(Duration::from_millis(30) + part_of(40)).await;
            peer.sample(true).await?;
        }
        Fallible::Ok((own.end().await, peer.end().await))
    };
    let (announced, others) = tokio::try_join!(announcing, others)?;
    let rows = [
        ("agcore, added by another process", &announced),
        ("agcore, added by the process that executes it", &others.0),
        ("awa, in any process", &others.1),
    ];
    let mut text = "\n## Time from the call that adds a job to its start, with idle workers\n\n".to_owned();
    text += "| subject | jobs | p50, ms | p99, ms | longest, ms |\n|---|---|---|---|---|\n";
    for (name, times) in rows {
        let [middle, high, longest] = [0.5, 0.99, 1.0].map(|part| short(quantile(times, part)));
        text += &format!("| {name} | {} | {middle} | {high} | {longest} |\n", times.len());
    }
    Ok(text)
}

fn part_of(millis: u64) -> Duration {
    Duration::from_millis(fastrand::u64(0..=millis))
}
