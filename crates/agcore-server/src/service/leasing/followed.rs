//! [`Followed`]: the feeds of runs that users of this process follow.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
};

use crate::{log::Feed, run::RunJob};

/// The number of feeds above which those without readers are removed.
const MANY: usize = 256;

/// The feeds of runs that users of this process follow, or that it executes. A run has one feed in a process, which stays
/// while the run moves from one process to another.
#[derive(Default)]
pub(crate) struct Followed(Mutex<HashMap<RunJob, Weak<Feed>>>);

impl Followed {
    /// Returns the feed of a run, and whether it is new.
    pub(in crate::service) fn feed(&self, job: &RunJob) -> (Arc<Feed>, bool) {
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
