//! [`Outbox`]: what a run reports while it works, until it is written.

use std::sync::{
    Mutex, MutexGuard, PoisonError,
    atomic::{AtomicBool, Ordering},
};

use super::pending::Pending;

/// The reports of a run that are not written yet, in the order in which they were added.
#[derive(Debug, Default)]
pub(super) struct Outbox {
    pending: Mutex<Vec<Pending>>,
    /// Whether they are written some time after they were added.
    is_flushed: AtomicBool,
}

impl Outbox {
    /// Adds reports. Returns whether a write of them must be scheduled: they are the first, and are written some time
    /// from now.
    pub(super) fn add(&self, new: impl IntoIterator<Item = Pending>) -> bool {
        let mut pending = self.pending();
        let is_first = pending.is_empty();
        pending.extend(new);
        is_first && !pending.is_empty() && self.is_flushed()
    }

    /// Has reports written some time after they were added. Returns whether a write must be scheduled.
    pub(super) fn begin_flushing(&self) -> bool {
        self.is_flushed.store(true, Ordering::SeqCst);
        !self.is_empty()
    }

    /// From here on, reports are only written with what else is written.
    pub(super) fn end_flushing(&self) {
        self.is_flushed.store(false, Ordering::SeqCst);
    }

    pub(super) fn is_flushed(&self) -> bool {
        self.is_flushed.load(Ordering::SeqCst)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.pending().is_empty()
    }

    /// Returns whether one of the reports must be written before the next checkpoint.
    pub(super) fn is_needed(&self) -> bool {
        self.pending().iter().any(|pending| pending.is_needed)
    }

    /// Takes the reports. The next ones are kept in `memory`.
    pub(super) fn take(&self, memory: Vec<Pending>) -> Vec<Pending> {
        std::mem::replace(&mut *self.pending(), memory)
    }

    fn pending(&self) -> MutexGuard<'_, Vec<Pending>> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_report_schedules_a_write() {
        let outbox = Outbox::default();
        assert!(
            !outbox.add([Pending::source("records", 1)]),
            "nothing is written regularly yet"
        );
        assert!(outbox.begin_flushing());
        assert!(
            !outbox.add([Pending::source("records", 2)]),
            "a write is scheduled already"
        );
        assert_eq!(outbox.take(Vec::new()).len(), 2);
        assert!(!outbox.add([]));
        assert!(outbox.add([Pending::source("records", 3).needed()]));
        assert!(outbox.is_needed());
        outbox.end_flushing();
        drop(outbox.take(Vec::new()));
        assert!(!outbox.add([Pending::source("records", 4)]) && !outbox.is_needed());
    }
}
