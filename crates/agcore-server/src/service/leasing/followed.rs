//! [`Followed`]: the feeds of runs that users of this process follow.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
};

use tokio::sync::Notify;

use crate::{log::Feed, run::RunJob};

/// The feeds of runs that users of this process follow, or that it executes. A run has one feed in a process, which stays
/// while the run moves from one process to another.
#[derive(Default)]
pub(crate) struct Followed {
    feeds: Mutex<Feeds>,
    /// Notified when there is a new feed, or the events of one come from somewhere else than before.
    changed: Notify,
}

#[derive(Default)]
struct Feeds {
    of_runs: HashMap<RunJob, Weak<Feed>>,
    /// Whether a task reads their events from the store.
    are_watched: bool,
}

impl Followed {
    /// Returns the feed of a run, and whether the feeds have to be watched from here on.
    pub(in crate::service) fn feed(&self, job: &RunJob) -> (Arc<Feed>, bool) {
        let mut feeds = self.feeds();
        let known = feeds.of_runs.get(job).and_then(Weak::upgrade);
        // Of a run that was deleted, the id can be used again.
        if let Some(feed) = known.filter(|feed| !feed.is_closed()) {
            return (feed, false);
        }
        let feed = Arc::new(Feed::elsewhere());
        feeds.of_runs.insert(job.clone(), Arc::downgrade(&feed));
        let is_first = !std::mem::replace(&mut feeds.are_watched, true);
        drop(feeds);
        self.changed.notify_one();
        (feed, is_first)
    }

    /// Returns the feeds that are used and not closed. Without any, there is no more to watch until the next one comes.
    pub(in crate::service) fn open(&self) -> Option<Vec<(RunJob, Arc<Feed>)>> {
        let mut feeds = self.feeds();
        let mut open = Vec::new();
        feeds.of_runs.retain(|job, feed| {
            let feed = feed.upgrade().filter(|feed| !feed.is_closed());
            let is_open = feed.is_some();
            open.extend(feed.map(|feed| (job.clone(), feed)));
            is_open
        });
        feeds.are_watched = !open.is_empty();
        feeds.are_watched.then_some(open)
    }

    /// Closes all feeds.
    pub(in crate::service) fn close(&self) {
        let feeds = std::mem::take(&mut *self.feeds());
        let used = feeds.of_runs.values().filter_map(Weak::upgrade);
        used.for_each(|feed| feed.close());
    }

    /// Notes that there is a feed to read at once: its events come from somewhere else than before, or there are more of them.
    pub(in crate::service) fn note_move(&self) {
        self.changed.notify_one();
    }

    /// Waits for a new feed, or one whose events come from somewhere else than before.
    ///
    /// Cancel safe: it only waits.
    pub(in crate::service) async fn changed(&self) {
        self.changed.notified().await;
    }

    fn feeds(&self) -> MutexGuard<'_, Feeds> {
        self.feeds.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
