//! [`Followed`]: the feeds of runs that other processes execute.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
};

use agcore_chat::{Fault, FaultKind};
use agcore_session::{DeadLetter, EventFilter, Run, SessionError};

use crate::{
    log::{Feed, LogInput, LogItem},
    run::RunJob,
    service::{OwnedRun, state::Service},
};

/// The number of events that are read at once.
const PAGE: u64 = 256;

/// The number of feeds above which those without readers are removed.
const MANY: usize = 256;

/// The feeds of runs that users of this process follow, or that it executes. A run has one feed in a process, which stays
/// while the run moves from one process to another.
#[derive(Default)]
pub(crate) struct Followed(Mutex<HashMap<RunJob, Weak<Feed>>>);

impl Followed {
    /// Returns the feed of a run, and whether it is new.
    fn feed(&self, job: &RunJob) -> (Arc<Feed>, bool) {
        let mut feeds = self.feeds();
        let known = feeds.get(job).and_then(Weak::upgrade);
        // Of a run that was deleted, the id can be used again.
        if let Some(feed) = known.filter(|feed| !feed.is_closed()) {
            return (feed, false);
        }
        if feeds.len() >= MANY {
            feeds.retain(|_, feed| feed.strong_count() > 0);
        }
        let feed = Arc::new(Feed::elsewhere());
        feeds.insert(job.clone(), Arc::downgrade(&feed));
        (feed, true)
    }

    fn feeds(&self) -> MutexGuard<'_, HashMap<RunJob, Weak<Feed>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Service {
    /// Returns the feed of a run that is not over; `None` if it is.
    ///
    /// # Errors
    /// When the store fails.
    pub(crate) async fn feed_of(self: &Arc<Self>, run: &OwnedRun) -> Result<Option<Arc<Feed>>, SessionError> {
        if let Some(log) = self.log(run) {
            return Ok(Some(Arc::clone(&log.feed)));
        }
        match self.stored_run(run, &run.run).await? {
            Some(found) if !found.status.is_over() => Ok(Some(self.feed(run))),
            Some(found) => self.end_dead(run, &found).await.map(|()| None),
            None => Ok(None),
        }
    }

    /// Returns the feed of a run, which has its events for as long as it is kept.
    pub(super) fn feed(self: &Arc<Self>, job: &RunJob) -> Arc<Feed> {
        let (feed, is_new) = self.leasing.followed.feed(job);
        if is_new {
            let (service, weak, job) = (Arc::clone(self), Arc::downgrade(&feed), job.clone());
            self.tasks.spawn(async move { service.keep_reading(&job, weak).await });
        }
        feed
    }

    /// Reads the events of a run from the store while another process writes them, until its end, or until the feed is not used.
    async fn keep_reading(self: Arc<Self>, job: &RunJob, feed: Weak<Feed>) {
        let pause = self.leasing.settings.poll;
        loop {
            {
                let Some(feed) = feed.upgrade() else { return };
                if feed.is_closed() {
                    return;
                }
                if !feed.is_written_here()
                    && let Err(error) = self.read_more(job, &feed).await
                {
                    tracing::warn!(
                        run = job.run,
                        ?error,
                        "the events of a run cannot be read at the moment"
                    );
                }
            }
            tokio::select! {
                // Those who follow the run come back, to this server when it has started again, or to another one.
                () = self.parking.cancelled() => return feed.upgrade().into_iter().for_each(|feed| feed.close()),
                () = self.clock.sleep(pause) => {}
            }
        }
    }

    /// Reads the events that were stored since the last time.
    async fn read_more(&self, job: &RunJob, feed: &Feed) -> Result<(), SessionError> {
        let (tenant, thread) = job.session();
        // Before its events: what the process writes between the two is read then.
        let run = self.stored_run(job, &job.run).await?;
        loop {
            let filter = EventFilter::new()
                .with_run(&*job.run)
                .after(feed.last())
                .with_limit(PAGE);
            let found = self.store().events(tenant, thread, &filter).await?;
            let is_all = u64::try_from(found.len()).is_ok_and(|count| count < PAGE);
            feed.publish_found(found.into_iter().map(LogItem::from));
            if feed.is_written_here() {
                return Ok(());
            }
            if is_all {
                break;
            }
        }
        let is_ended = run.as_ref().is_none_or(|run| !run.status.is_workable());
        if let Some(run) = &run
            && !feed.is_over()
            && run.lease.dead_at.is_some()
        {
            return self.end_dead(job, run).await;
        }
        if is_ended && !feed.is_written_here() {
            feed.close();
        }
        Ok(())
    }

    /// Stores the last event of a run that has failed because it was claimed too often, unless another process has done so.
    ///
    /// # Errors
    /// When the store fails.
    pub(super) async fn end_dead(&self, job: &RunJob, run: &Run) -> Result<(), SessionError> {
        let Some(at) = run.lease.dead_at else { return Ok(()) };
        let (tenant, thread) = job.session();
        let Some(session) = self.store().get_session(tenant, thread).await? else {
            return Ok(());
        };
        let filter = EventFilter::new().with_run(&*job.run);
        let events = self.store().events(tenant, thread, &filter).await?;
        let feed = Arc::new(Feed::here(events.into_iter().map(LogItem::from).collect()));
        if feed.is_over() {
            return Ok(());
        }
        let ids = (tenant, thread, &*job.run);
        let reason = DeadLetter::new(ids, run.lease.attempts, run.lease.worker.clone(), at).reason();
        tracing::error!(run = job.run, reason, "a run has failed");
        let fault = Fault::new(FaultKind::Limit, reason);
        let log = self.new_log(job.clone(), session.end, feed, None);
        log.append(Vec::new(), vec![LogInput::Failed(fault)]).await
    }
}
