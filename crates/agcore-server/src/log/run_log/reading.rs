//! Reading a log while it is written.

use std::sync::{Arc, atomic::Ordering};

use super::{LogItem, RunLog};

impl RunLog {
    /// Notes that nothing more is written.
    pub(crate) fn close(&self) {
        self.is_closed.store(true, Ordering::SeqCst);
        self.changed.notify_waiters();
    }

    /// Returns whether nothing more is written. Events that were written before may not have been read yet.
    pub(crate) fn is_closed(&self) -> bool {
        self.is_closed.load(Ordering::SeqCst)
    }

    /// Waits until there is an event at an index, or until nothing more is written.
    ///
    /// Cancel safe: it only waits.
    pub(crate) async fn wait_for(&self, index: usize) {
        loop {
            // Created before the check: it misses nothing that comes after it.
            let changed = self.changed.notified();
            if self.is_closed() || index < self.items().len() {
                return;
            }
            changed.await;
        }
    }

    /// Returns up to `limit` events from an index on.
    pub(crate) fn read(&self, from: usize, limit: usize) -> Vec<Arc<LogItem>> {
        self.items().iter().skip(from).take(limit).cloned().collect()
    }
}
