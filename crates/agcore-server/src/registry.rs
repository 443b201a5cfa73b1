//! [`Registry`]: the runs that have not ended, so that a server finds them again after its process has ended.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use agcore_chat::Clock;
use agcore_session::{Entry, Record, SessionError, SessionErrorKind, SessionStore, Timestamp, id};
use serde_json::json;
use tokio::sync::oneshot;

use crate::run::RunJob;

/// The number of times records are appended again because another process has appended some.
const ATTEMPTS: usize = 20;

/// The number of records after which those that are not needed any more are removed.
const TRIM: usize = 1000;

/// Jobs that have not ended, in a stream of the store: sessions can only be listed by tenant.
///
/// A job is noted before its run is stored, and forgotten after the run has ended. Of both, a crash can leave too much behind, so
/// what is found is only a hint: the status of the run decides.
#[derive(Debug, Clone)]
pub(crate) struct Registry(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    store: Arc<dyn SessionStore>,
    clock: Arc<dyn Clock>,
    stream: String,
    outbox: Mutex<Outbox>,
}

/// Records that are about to be written. All that wait are written together, so that no request waits for the writes of others, one
/// after the other.
#[derive(Debug, Default)]
struct Outbox {
    waiting: Vec<(Record, Written)>,
    /// Whether a task writes them.
    is_written: bool,
    /// The last known end of the stream.
    end: u64,
    /// The number of records since the last removal of old ones.
    untrimmed: usize,
}

/// Receives the end of a write.
type Written = oneshot::Sender<Result<(), SessionError>>;

impl Registry {
    pub(crate) fn new(store: Arc<dyn SessionStore>, clock: Arc<dyn Clock>) -> Self {
        Self(Arc::new(Shared {
            store,
            clock,
            stream: id::join(["server", "runs"]),
            outbox: Mutex::default(),
        }))
    }

    /// Returns the jobs that have not ended, in the order in which they were noted.
    ///
    /// # Errors
    /// When the store fails.
    pub(crate) async fn open_jobs(&self) -> Result<Vec<RunJob>, SessionError> {
        let Shared { store, stream, .. } = &*self.0;
        let entries = store.read(stream, 1).await?;
        let end = {
            let mut outbox = self.0.outbox();
            outbox.end = outbox.end.max(entries.last().map_or(0, |entry| entry.seq));
            outbox.untrimmed = 0;
            entries.last().map_or(outbox.end, |entry| entry.seq)
        };
        let mut open: HashMap<RunJob, u64> = HashMap::new();
        for entry in entries {
            let Entry { seq, record, .. } = entry;
            let Ok(job) = serde_json::from_value::<RunJob>(record.data["job"].clone()) else {
                continue;
            };
            match &*record.kind {
                "began" => drop(open.entry(job).or_insert(seq)),
                _ => drop(open.remove(&job)),
            }
        }
        let mut jobs: Vec<_> = open.into_iter().collect();
        jobs.sort_by_key(|(_, seq)| *seq);
        let first = jobs.first().map_or(end + 1, |(_, seq)| *seq);
        store.trim(stream, first).await?;
        Ok(jobs.into_iter().map(|(job, _)| job).collect())
    }

    /// Notes a job.
    ///
    /// # Errors
    /// When the store fails.
    pub(crate) async fn began(&self, job: &RunJob) -> Result<(), SessionError> {
        self.append("began", job).await
    }

    /// Forgets a job.
    ///
    /// # Errors
    /// When the store fails.
    pub(crate) async fn ended(&self, job: &RunJob) -> Result<(), SessionError> {
        self.append("ended", job).await
    }

    async fn append(&self, kind: &str, job: &RunJob) -> Result<(), SessionError> {
        let now = Timestamp::from(self.0.clock.now());
        let record = Record::new(kind, 1, now, json!({ "job": job }));
        let (written, result) = oneshot::channel();
        let is_first = {
            let mut outbox = self.0.outbox();
            outbox.waiting.push((record, written));
            !std::mem::replace(&mut outbox.is_written, true)
        };
        if is_first {
            // A task of its own: the request that is first may be dropped, and the others must not be.
            let registry = self.clone();
            tokio::spawn(async move { registry.write().await });
        }
        result.await.unwrap_or_else(|_| {
            let detail = "the list of runs was not written because the server ends";
            Err(SessionError::new(SessionErrorKind::Unavailable, detail))
        })
    }

    /// Writes what waits, until nothing does.
    async fn write(&self) {
        loop {
            let waiting = {
                let mut outbox = self.0.outbox();
                if outbox.waiting.is_empty() {
                    outbox.is_written = false;
                    return;
                }
                std::mem::take(&mut outbox.waiting)
            };
            let (records, written): (Vec<_>, Vec<_>) = waiting.into_iter().unzip();
            let result = self.0.append(records).await;
            for written in written {
                // The receiver is gone if the request was dropped.
                let _ = written.send(result.clone());
            }
            if result.is_ok()
                && self.0.outbox().untrimmed >= TRIM
                && let Err(error) = self.open_jobs().await
            {
                tracing::warn!(?error, "the list of runs was not shortened");
            }
        }
    }
}

impl Shared {
    async fn append(&self, records: Vec<Record>) -> Result<(), SessionError> {
        let mut end = self.outbox().end;
        let mut attempt = 0;
        loop {
            match self.store.append(&self.stream, end, records.clone()).await {
                Ok(new) => {
                    let mut outbox = self.outbox();
                    outbox.end = new;
                    outbox.untrimmed += records.len();
                    return Ok(());
                }
                Err(error) => match error.kind() {
                    SessionErrorKind::Conflict { found, .. } if attempt < ATTEMPTS => {
                        end = found;
                        attempt += 1;
                    }
                    _ => return Err(error),
                },
            }
        }
    }

    fn outbox(&self) -> MutexGuard<'_, Outbox> {
        self.outbox.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use agcore_chat::{Actor, SystemClock};
    use agcore_session::InMemorySessionStore;

    use super::*;

    #[tokio::test]
    async fn jobs_that_have_not_ended_are_found_in_their_order() {
        let clock: Arc<dyn Clock> = Arc::new(SystemClock::new());
        let store = Arc::new(InMemorySessionStore::new(Arc::clone(&clock)));
        let registry = Registry::new(Arc::<InMemorySessionStore>::clone(&store), Arc::clone(&clock));
        let job = |run: &str| RunJob::new(Actor::local(), "t", run);
        for run in ["c", "b", "a"] {
            registry.began(&job(run)).await.unwrap();
        }
        registry.ended(&job("c")).await.unwrap();
        // Another process, which does not know the end of the stream.
        let other = Registry::new(store, clock);
        other.ended(&job("nobody")).await.unwrap();
        assert_eq!(other.open_jobs().await.unwrap(), [job("b"), job("a")]);
        // What is not needed any more was removed, and the rest is still found.
        assert_eq!(registry.open_jobs().await.unwrap(), [job("b"), job("a")]);
        registry.began(&job("d")).await.unwrap();
        assert_eq!(registry.open_jobs().await.unwrap().len(), 3);
    }

    #[tokio::test]
    async fn jobs_that_are_noted_together_are_all_found_and_old_records_are_removed() {
        let clock: Arc<dyn Clock> = Arc::new(SystemClock::new());
        let store = Arc::new(InMemorySessionStore::new(Arc::clone(&clock)));
        let registry = Registry::new(Arc::<InMemorySessionStore>::clone(&store), Arc::clone(&clock));
        let job = |run: usize| RunJob::new(Actor::local(), "t", format!("r{run}"));
        let all = |count: usize| (0..count).map(job);
        let note = async |count: usize| {
            let jobs: Vec<_> = all(count).collect();
            futures_util::future::join_all(jobs.iter().map(|job| registry.began(job))).await
        };
        assert!(note(700).await.iter().all(Result::is_ok));
        assert_eq!(registry.open_jobs().await.unwrap().len(), 700);
        for job in all(699) {
            registry.ended(&job).await.unwrap();
        }
        assert_eq!(registry.open_jobs().await.unwrap(), [job(699)]);
        // Without a restart, and without a retention.
        registry.ended(&job(699)).await.unwrap();
        for _ in 0..2 * TRIM {
            registry.ended(&job(1)).await.unwrap();
        }
        let left = agcore_session::Journal::read(&*store, "server/runs", 1).await.unwrap();
        assert!(left.len() <= TRIM + 1, "{}", left.len());
    }
}
