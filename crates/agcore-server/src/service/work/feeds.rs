//! The feeds of runs, also of those that other processes execute.

use std::sync::{Arc, Weak};

use agcore_chat::{Fault, FaultKind};
use agcore_session::{DeadLetter, EventFilter, Run, SessionError, SessionErrorKind, id};

use super::super::{owned::OwnedRun, state::Service};
use crate::{
    log::{Feed, LogInput, LogItem},
    run::RunJob,
};

/// The number of events that are read at once.
const PAGE: u64 = 256;

/// The factor by which the pauses between reads grow while nothing is found.
const SLOW: u32 = 2;

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
            // Until another process has stored its end, it is read like one that is not over.
            Some(found) if !self.end_dead(run, &found).await? => Ok(Some(self.feed(run))),
            _ => Ok(None),
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
    async fn keep_reading(self: Arc<Self>, job: &RunJob, weak: Weak<Feed>) {
        let poll = self.leasing.settings.poll;
        let mut pause = poll;
        loop {
            let Some(feed) = weak.upgrade() else { return };
            if feed.is_closed() {
                return;
            }
            if feed.is_written_here() {
                tokio::select! {
                    () = self.parking.cancelled() => return feed.close(),
                    () = feed.wait_until_moved() => continue,
                }
            }
            let known = feed.last();
            if let Err(error) = self.read_more(job, &feed).await {
                tracing::warn!(
                    run = job.run,
                    ?error,
                    "the events of a run cannot be read at the moment"
                );
            }
            pause = match feed.last() == known {
                true => (pause * 2).min(poll * SLOW),
                false => poll,
            };
            drop(feed);
            tokio::select! {
                // Those who follow the run come back, to this server when it has started again, or to another one.
                () = self.parking.cancelled() => return weak.upgrade().into_iter().for_each(|feed| feed.close()),
                () = self.clock.sleep(pause) => {}
            }
        }
    }

    /// Reads the events that were stored since the last time, and closes the feed after the last one.
    async fn read_more(&self, job: &RunJob, feed: &Feed) -> Result<(), SessionError> {
        // Before its events: what the process writes between the two is read then.
        let run = self.stored_run(job, &job.run).await?;
        self.read_events(job, feed).await?;
        if let Some(run) = &run
            && run.lease.dead_at.is_some()
            && !feed.is_over()
        {
            if !self.end_dead(job, run).await? {
                // The next read finds what another process stores.
                return Ok(());
            }
            self.read_events(job, feed).await?;
        }
        let is_ended = run.is_none_or(|run| !run.status.is_workable());
        if is_ended && !feed.is_written_here() {
            feed.close();
        }
        Ok(())
    }

    /// Adds the events that are stored to a feed, unless the log of this process adds them meanwhile.
    async fn read_events(&self, job: &RunJob, feed: &Feed) -> Result<(), SessionError> {
        let (tenant, thread) = job.session();
        loop {
            let filter = EventFilter::new()
                .with_run(&*job.run)
                .after(feed.last())
                .with_limit(PAGE);
            let found = self.store().events(tenant, thread, &filter).await?;
            let is_all = u64::try_from(found.len()).is_ok_and(|count| count < PAGE);
            feed.publish_found(found.into_iter().map(LogItem::from));
            if is_all || feed.is_written_here() {
                return Ok(());
            }
        }
    }

    /// Stores the last event of a run that has failed because it was claimed too often, unless that was done. Returns false if
    /// another process does it at this moment.
    ///
    /// # Errors
    /// When the store fails.
    pub(super) async fn end_dead(&self, job: &RunJob, run: &Run) -> Result<bool, SessionError> {
        let Some(at) = run.lease.dead_at else { return Ok(true) };
        let (tenant, thread) = job.session();
        // One of the processes that have noticed it.
        let name = id::join(["end", tenant, thread]);
        let _hold = match self.store().hold(&name).await {
            Err(error) if error.kind() == SessionErrorKind::Held => return Ok(false),
            hold => hold?,
        };
        let Some(session) = self.store().get_session(tenant, thread).await? else {
            return Ok(true);
        };
        let filter = EventFilter::new().with_run(&*job.run);
        let events = self.store().events(tenant, thread, &filter).await?;
        let feed = Arc::new(Feed::here(events.into_iter().map(LogItem::from).collect()));
        if feed.is_over() {
            return Ok(true);
        }
        let ids = (tenant, thread, &*job.run);
        let reason = DeadLetter::new(ids, run.lease.attempts, run.lease.worker.clone(), at).reason();
        tracing::error!(run = job.run, reason, "a run has failed");
        let fault = Fault::new(FaultKind::Limit, reason);
        let log = self.new_log(job.clone(), session.end, feed, None);
        log.append(Vec::new(), vec![LogInput::Failed(fault)]).await?;
        Ok(true)
    }
}
