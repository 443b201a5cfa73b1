//! The feeds of runs, also of those that other processes execute.

use std::{panic::AssertUnwindSafe, sync::Arc, time::Duration};

use agcore_chat::{Fault, FaultKind};
use agcore_session::{DeadLetter, EventFilter, Run, RunKey, RunProgress, SessionError, SessionErrorKind, id};
use futures_util::{FutureExt, StreamExt, stream};

use super::super::{owned::OwnedRun, state::Service};
use crate::{
    log::{Feed, LogInput, LogItem},
    run::RunJob,
};

/// The number of events that are read at once.
const PAGE: u64 = 256;

/// The number of such pages of a run that are read before it is the turn of others.
const PAGES: u32 = 16;

/// The pause after a round, also if there are new feeds meanwhile.
const REST: Duration = Duration::from_millis(10);

/// The pause after a round that has panicked.
const PAUSE: Duration = Duration::from_secs(1);

/// The number of runs about which one statement asks.
const ASKED: usize = 500;

/// The number of runs whose events are read at the same time.
const READERS: usize = 8;

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
        let (feed, is_first) = self.leasing.followed.feed(job);
        if is_first {
            let service = Arc::clone(self);
            self.tasks.spawn(async move {
                while AssertUnwindSafe(service.watch_feeds()).catch_unwind().await.is_err() {
                    // The hook of panics has reported it. The runs of others must not wait for ever.
                    service.clock.sleep(PAUSE).await;
                }
            });
        }
        feed
    }

    /// Reads the events of runs from the store while other processes write them, until no feed is used any more. However many there
    /// are, one statement finds out which of them have new events.
    async fn watch_feeds(self: &Arc<Self>) {
        let poll = self.leasing.settings.poll;
        let (mut pause, mut next) = (poll, self.clock.monotonic());
        while let Some(feeds) = self.leasing.followed.open() {
            let is_due = self.clock.monotonic() >= next;
            let elsewhere = feeds.into_iter().filter(|(_, feed)| !feed.is_written_here());
            let asked: Vec<_> = elsewhere.filter(|(_, feed)| is_due || feed.seen().is_none()).collect();
            let has_news = self.read_feeds(&asked).await;
            if is_due {
                pause = if has_news { poll } else { (pause * 2).min(poll * SLOW) };
                next = self.clock.monotonic().saturating_add(pause);
            }
            drop(asked);
            let rested = async {
                self.clock.sleep(REST).await;
                tokio::select! {
                    () = self.leasing.followed.changed() => {}
                    () = self.clock.sleep(next.saturating_sub(self.clock.monotonic())) => {}
                }
            };
            tokio::select! {
                // Those who follow the runs come back, to this server when it has started again, or to another one.
                () = self.parking.cancelled() => return self.leasing.followed.close(),
                () = rested => {}
            }
        }
    }

    /// Reads the new events of runs. Returns whether there are any.
    async fn read_feeds(&self, feeds: &[(RunJob, Arc<Feed>)]) -> bool {
        let mut has_news = false;
        for page in feeds.chunks(ASKED) {
            let keys = page.iter().map(|(job, _)| {
                let (tenant, thread) = job.session();
                RunKey::new(tenant, thread, &job.run)
            });
            let keys: Vec<_> = keys.collect();
            let progress = match self.store().progress(&keys).await {
                Ok(progress) => progress,
                Err(error) => {
                    tracing::warn!(?error, "the events of runs cannot be read at the moment");
                    continue;
                }
            };
            let found = page.iter().zip(progress).filter(|((_, feed), progress)| {
                let news = |progress: &RunProgress| {
                    feed.seen() != Some(progress.last_event) || progress.is_dead || !progress.status.is_workable()
                };
                progress.as_ref().is_none_or(news)
            });
            let reads = found.map(|((job, feed), progress)| async move {
                if let Err(error) = self.read_more(job, feed, progress).await {
                    tracing::warn!(
                        run = job.run,
                        ?error,
                        "the events of a run cannot be read at the moment"
                    );
                }
            });
            let mut reads = stream::iter(reads.collect::<Vec<_>>()).buffer_unordered(READERS);
            while reads.next().await.is_some() {
                has_news = true;
            }
        }
        has_news
    }

    /// Reads the events that were stored since the last time, and closes the feed after the last one. The progress was read before
    /// the events: what the process writes between the two is read the next time.
    async fn read_more(&self, job: &RunJob, feed: &Feed, progress: Option<RunProgress>) -> Result<(), SessionError> {
        let logs = feed.logs();
        if !self.read_events(job, feed).await? {
            // The next round, which follows at once, reads on after the events of other runs.
            feed.forget_seen();
            self.leasing.followed.note_move();
            return Ok(());
        }
        if progress.is_some_and(|progress| progress.is_dead) && !feed.is_over() {
            if let Some(run) = self.stored_run(job, &job.run).await?
                && !self.end_dead(job, &run).await?
            {
                // The next read finds what another process stores.
                return Ok(());
            }
            self.read_events(job, feed).await?;
        }
        match progress {
            Some(progress) if progress.status.is_workable() => feed.set_seen(progress.last_event, logs),
            _ if !feed.is_written_here() => feed.close(),
            _ => {}
        }
        Ok(())
    }

    /// Adds the events that are stored to a feed, unless the log of this process adds them meanwhile. Returns whether these are all
    /// of them.
    async fn read_events(&self, job: &RunJob, feed: &Feed) -> Result<bool, SessionError> {
        let (tenant, thread) = job.session();
        for _ in 0..PAGES {
            let filter = EventFilter::new()
                .with_run(&*job.run)
                .after(feed.last())
                .with_limit(PAGE);
            let found = self.store().events(tenant, thread, &filter).await?;
            let is_all = u64::try_from(found.len()).is_ok_and(|count| count < PAGE);
            feed.publish_found(found.into_iter().map(LogItem::from));
            if is_all || feed.is_written_here() {
                return Ok(true);
            }
        }
        Ok(false)
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
        let known = self.stored_run(job, &job.run).await?;
        if known.is_none_or(|known| known.lease.dead_at.is_none()) {
            // It was started again, or discarded with its end.
            return Ok(true);
        }
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
