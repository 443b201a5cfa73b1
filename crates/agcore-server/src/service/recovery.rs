//! Finding the runs that an earlier process has left.

use std::{sync::Arc, time::Duration};

use agcore_session::{EventFilter, RunStatus, SessionError};

use super::state::Service;
use crate::{
    log::{LogInput, LogItem, RunLog},
    queue::QueueError,
    run::RunJob,
    settings::Unfinished,
};

/// The pause before a run is added again to a queue without space.
const PAUSE: Duration = Duration::from_millis(200);

impl Service {
    /// Continues the runs that an earlier process has left, or cancels them. Returns their number.
    ///
    /// # Errors
    /// When the store fails.
    pub(crate) async fn recover(self: &Arc<Self>, unfinished: Unfinished) -> Result<usize, SessionError> {
        let mut found = Vec::new();
        for job in self.registry.open_jobs().await? {
            match self.read_log(&job).await? {
                Some(log) => found.push(log),
                None => self.registry.ended(&job).await?,
            }
        }
        if unfinished == Unfinished::Cancel {
            for log in &found {
                if !log.feed.is_cancel_requested() {
                    log.append(Vec::new(), vec![LogInput::CancelRequested]).await?;
                }
                log.token.cancel();
            }
        }
        let count = found.len();
        for log in &found {
            self.active.insert(Arc::clone(log));
        }
        self.metrics.runs_active.set(i64::try_from(count).unwrap_or(i64::MAX));
        let service = Arc::clone(self);
        self.tasks.spawn(async move { service.enqueue(found).await });
        Ok(count)
    }

    /// Returns the log of a run that has not ended.
    async fn read_log(&self, job: &RunJob) -> Result<Option<Arc<RunLog>>, SessionError> {
        let (tenant, thread) = job.session();
        let Some(session) = self.store().get_session(tenant, thread).await? else {
            return Ok(None);
        };
        let Some(run) = self.stored_run(job, &job.run).await? else {
            return Ok(None);
        };
        if !matches!(run.status, RunStatus::Queued | RunStatus::Running) {
            return Ok(None);
        }
        let filter = EventFilter::new().with_run(&*job.run);
        let events = self.store().events(tenant, thread, &filter).await?;
        let items: Vec<LogItem> = events.into_iter().map(LogItem::from).collect();
        let log = self.new_log(job.clone(), session.end, items);
        if log.feed.is_cancel_requested() {
            log.token.cancel();
        }
        // Ends what the process has left open, such as a text.
        log.flush().await?;
        Ok(Some(Arc::new(log)))
    }

    async fn enqueue(&self, found: Vec<Arc<RunLog>>) {
        for log in found {
            while self.queue.push(log.job.clone()).await == Err(QueueError::Full) {
                tokio::select! {
                    () = self.parking.cancelled() => return,
                    () = self.clock.sleep(PAUSE) => {}
                }
            }
        }
    }
}
