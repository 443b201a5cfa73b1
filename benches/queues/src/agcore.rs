//! agcore: runs in a [`PostgresStore`], and a worker on the contract of leases.

mod held;
mod producer;
mod worker;

use std::sync::Arc;

use agcore_chat::SystemClock;
use agcore_session::{Commit, NewSession, Run, RunChange, RunFilter, RunStatus, SessionReader, SessionWriter};
use agcore_store::postgres::{PostgresOptions, PostgresStore};
use serde_json::json;

use self::{producer::Producer, worker::Worker};
use crate::subject::{Fallible, Plan, Report, Subject};

/// The tenant of all sessions.
const TENANT: &str = "local";

/// The id of the only run of each session.
const RUN: &str = "run";

/// Each job is a run in a session of its own, because a session has one run at a time. Its end is one commit, which begins and
/// completes the run.
#[derive(Debug)]
pub struct Agcore;

/// As [`Agcore`], with two commits: one begins the run, the other completes it, and each has an event, as those of the server.
#[derive(Debug)]
pub struct AgcoreWithEvents;

/// Implements [`Subject`] for a type, with or without events.
macro_rules! subject {
    ($type:ty, $name:literal, $has_events:literal) => {
        impl Subject for $type {
            const NAME: &'static str = $name;
            const HAS_LEADER: bool = false;
            const COMPLETED: &'static str = "SELECT count(*) FROM agcore.runs WHERE status = 'completed'";
            type Producer = Producer;
            type Worker = Worker;

            async fn prepare(url: &str) -> Fallible {
                open(url, 1).await?.close().await;
                Ok(())
            }

            async fn open(url: &str, connections: u32) -> Fallible<Producer> {
                Ok(Producer::start(open(url, connections).await?))
            }

            async fn enqueue(producer: &Producer, number: u64) -> Fallible {
                enqueue(producer.store(), number).await?;
                producer.announce();
                Ok(())
            }

            async fn state(producer: &Producer, number: u64) -> Fallible<String> {
                state(producer.store(), number).await
            }

            async fn close(producer: Producer) {
                producer.stop().await;
            }

            async fn work(url: &str, plan: Plan, report: Report) -> Fallible<Worker> {
                Worker::start(url, plan, report, $has_events).await
            }

            fn wake(worker: &Worker) {
                worker.wake();
            }

            async fn stop(worker: Worker) {
                worker.stop().await;
            }
        }
    };
}

subject!(Agcore, "agcore", false);
subject!(AgcoreWithEvents, "agcore, with events", true);

async fn open(url: &str, connections: u32) -> Fallible<PostgresStore> {
    let options = PostgresOptions::new(url)?.with_pool_size(connections);
    Ok(options.open(Arc::new(SystemClock::new())).await?)
}

/// Creates the session and queues the run, which are two transactions.
async fn enqueue(store: &PostgresStore, number: u64) -> Fallible {
    let session = store.create(NewSession::new(session_of(number))).await?;
    let run = RunChange::new(RUN, RunStatus::Queued).with_input(json!({"number": number}));
    let commit = Commit::new().with_run(run);
    store.commit(TENANT, &session.id, session.end, commit).await?;
    Ok(())
}

async fn state(store: &PostgresStore, number: u64) -> Fallible<String> {
    let run = run_of(store, &session_of(number), RUN).await?;
    let worker = run.outcome.as_ref().and_then(|outcome| outcome["worker"].as_str());
    let worker = worker.map_or(String::new(), |worker| format!(" by the {worker}"));
    Ok(format!("{}{worker}, attempt {}", run.status, run.lease.attempts))
}

async fn run_of(store: &PostgresStore, session: &str, run: &str) -> Fallible<Run> {
    let filter = RunFilter::new().with_id(run);
    let found = store.runs(TENANT, session, &filter).await?.pop();
    Ok(found.ok_or("a run is missing")?)
}

fn session_of(number: u64) -> String {
    format!("job-{number}")
}
