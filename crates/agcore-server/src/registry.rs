//! [`Registry`]: the runs that have not ended, so that a server finds them again after its process has ended.

use std::{collections::HashMap, sync::Arc};

use agcore_chat::Clock;
use agcore_memory::{Entry, MemoryError, MemoryErrorKind, Record, Timestamp, id, session::SessionStore};
use serde_json::json;
use tokio::sync::Mutex;

use crate::run::RunJob;

/// The number of times a record is appended again because another process has appended one.
const ATTEMPTS: usize = 20;

/// Jobs that have not ended, in a stream of the store: sessions can only be listed by tenant.
///
/// A job is noted before its run is stored, and forgotten after the run has ended. Of both, a crash can leave too much behind, so
/// what is found is only a hint: the status of the run decides.
#[derive(Debug)]
pub(crate) struct Registry {
    store: Arc<dyn SessionStore>,
    clock: Arc<dyn Clock>,
    stream: String,
    end: Mutex<u64>,
}

impl Registry {
    pub(crate) fn new(store: Arc<dyn SessionStore>, clock: Arc<dyn Clock>) -> Self {
        Self {
            store,
            clock,
            stream: id::join(["server", "runs"]),
            end: Mutex::new(0),
        }
    }

    /// Returns the jobs that have not ended, in the order in which they were noted.
    ///
    /// # Errors
    /// When the store fails.
    pub(crate) async fn open_jobs(&self) -> Result<Vec<RunJob>, MemoryError> {
        let mut end = self.end.lock().await;
        let entries = self.store.read(&self.stream, 1).await?;
        *end = entries.last().map_or(*end, |entry| entry.seq);
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
        let first = jobs.first().map_or(*end + 1, |(_, seq)| *seq);
        self.store.trim(&self.stream, first).await?;
        Ok(jobs.into_iter().map(|(job, _)| job).collect())
    }

    /// Notes a job.
    ///
    /// # Errors
    /// When the store fails.
    pub(crate) async fn began(&self, job: &RunJob) -> Result<(), MemoryError> {
        self.append("began", job).await
    }

    /// Forgets a job.
    ///
    /// # Errors
    /// When the store fails.
    pub(crate) async fn ended(&self, job: &RunJob) -> Result<(), MemoryError> {
        self.append("ended", job).await
    }

    async fn append(&self, kind: &str, job: &RunJob) -> Result<(), MemoryError> {
        let record = Record::new(kind, 1, Timestamp::from(self.clock.now()), json!({ "job": job }));
        let mut end = self.end.lock().await;
        let mut attempt = 0;
        loop {
            match self.store.append(&self.stream, *end, vec![record.clone()]).await {
                Ok(new) => {
                    *end = new;
                    return Ok(());
                }
                Err(error) => match error.kind() {
                    MemoryErrorKind::Conflict { found, .. } if attempt < ATTEMPTS => {
                        *end = found;
                        attempt += 1;
                    }
                    _ => return Err(error),
                },
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use agcore_chat::{Actor, SystemClock};
    use agcore_memory::session::InMemorySessionStore;

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
}
