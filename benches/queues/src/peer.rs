//! awa: jobs in its tables, and its runtime of workers.

use std::{sync::atomic::Ordering, time::Duration};

use awa::{Client, InsertOpts, InsertParams, JobArgs, JobEvent, JobResult, QueueConfig, migrations};
use serde::{Deserialize, Serialize};
use sqlx::postgres::{PgPool, PgPoolOptions};
use tokio::time::sleep;

use crate::subject::{Fallible, Notice, Periods, Plan, Report, Subject, What};

/// The queue of all jobs.
const QUEUE: &str = "jobs";

/// A queue without jobs, for workers that execute none.
const EMPTY: &str = "empty";

/// The longest time for jobs to end.
const PATIENCE: Duration = Duration::from_secs(30);

/// Each job is one call of `insert_with`, and the runtime with its default engine (queue storage) executes it: it claims jobs for
/// free slots, is woken by `NOTIFY`, and completes the jobs of 1 ms together.
#[derive(Debug)]
pub struct Awa;

/// A job without work.
#[derive(Debug, Serialize, Deserialize, JobArgs)]
struct Empty {
    number: u64,
}

impl Subject for Awa {
    const NAME: &'static str = "awa";
    const HAS_LEADER: bool = true;
    /// Completed jobs are removed soon, while they are counted.
    const COMPLETED: &'static str = "SELECT (SELECT count(*) FROM awa.jobs WHERE state = 'completed')
             + coalesce((SELECT sum(pruned_completed_count) FROM awa.queue_terminal_rollups), 0)::bigint";
    type Producer = PgPool;
    type Worker = (Client, PgPool);

    /// A new database uses the default engine once a worker was started, so that jobs must come later.
    async fn prepare(url: &str) -> Fallible {
        let pool = connect(url, 4).await?;
        migrations::run(&pool).await?;
        pool.close().await;
        let worker = Self::work(url, Plan::new("first", 1), std::sync::Arc::new(|_| {})).await?;
        Self::stop(worker).await;
        Ok(())
    }

    async fn open(url: &str, connections: u32) -> Fallible<PgPool> {
        connect(url, connections).await
    }

    async fn enqueue(pool: &PgPool, number: u64) -> Fallible {
        awa::insert_with(pool, &Empty { number }, options()).await?;
        Ok(())
    }

    async fn state(pool: &PgPool, number: u64) -> Fallible<String> {
        let sql = "SELECT state::text || ', attempt ' || attempt FROM awa.jobs WHERE args ->> 'number' = $1";
        let state: Option<String> = sqlx::query_scalar(sql)
            .bind(number.to_string())
            .fetch_optional(pool)
            .await?;
        let completed: i64 = sqlx::query_scalar(Self::COMPLETED).fetch_one(pool).await?;
        Ok(state.unwrap_or_else(|| format!("removed; {completed} counted as completed")))
    }

    async fn close(pool: PgPool) {
        pool.close().await;
    }

    async fn work(url: &str, plan: Plan, report: Report) -> Fallible<(Client, PgPool)> {
        let pool = connect(url, plan.connections()).await?;
        let queue = QueueConfig {
            max_workers: plan.slots,
            ..QueueConfig::default()
        };
        let name = if plan.is_idle { EMPTY } else { QUEUE };
        let mut builder = Client::builder(pool.clone()).queue(name, queue);
        if let Periods::Lease(length) = plan.periods {
            let third = length / 3;
            builder = builder
                .heartbeat_interval(third)
                .heartbeat_staleness(length)
                .heartbeat_rescue_interval(third)
                .leader_election_interval(third)
                .leader_check_interval(third);
        }
        if plan.confirms {
            let report = report.clone();
            builder = builder.on_event::<Empty, _, _>(move |event| {
                if let JobEvent::Completed { args, .. } = event {
                    let (what, number) = (What::Stored, args.number);
                    report(Notice { what, number });
                }
                async {}
            });
        }
        let work = plan.work;
        let client = builder.register::<Empty, _, _>(move |Empty { number }, context| {
            let (report, cancelled) = (report.clone(), context.cancellation_flag());
            async move {
                report(Notice {
                    what: What::Started,
                    number,
                });
                if !work.is_zero() {
                    sleep(work).await;
                }
                let what = match cancelled.load(Ordering::SeqCst) {
                    true => What::EndedLate,
                    false => What::Ended,
                };
                report(Notice { what, number });
                Ok(JobResult::Completed)
            }
        });
        let client = client.build()?;
        client.start().await?;
        Ok((client, pool))
    }

    /// Does nothing: the insertion of a job notifies its queue.
    fn wake(_worker: &(Client, PgPool)) {}

    async fn stop((client, pool): (Client, PgPool)) {
        client.shutdown(PATIENCE).await;
        pool.close().await;
    }
}

/// Adds jobs in one transaction, in the way that is documented for many of them.
pub async fn enqueue_batch(pool: &PgPool, numbers: std::ops::Range<u64>) -> Fallible {
    let params = numbers.map(|number| {
        let args = Empty { number }.to_args()?;
        let opts = options();
        let kind = Empty::kind().to_owned();
        Ok(InsertParams { kind, args, opts })
    });
    let params = params.collect::<Fallible<Vec<_>>>()?;
    awa::insert_many_copy_from_pool(pool, &params).await?;
    Ok(())
}

async fn connect(url: &str, connections: u32) -> Fallible<PgPool> {
    Ok(PgPoolOptions::new().max_connections(connections).connect(url).await?)
}

fn options() -> InsertOpts {
    InsertOpts {
        queue: QUEUE.to_owned(),
        ..InsertOpts::default()
    }
}
