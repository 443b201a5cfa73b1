//! [`Feed`]: the stored events of a run, for its readers.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use agcore_agui::EventType;
use tokio::sync::Notify;

use super::event::{LogEvent, LogItem};

/// The stored events of a run. Readers are notified of events after they were stored, and read at their own pace:
/// nothing is kept for them but the events themselves, which all of them share.
#[derive(Debug)]
pub(crate) struct Feed {
    items: Mutex<Vec<Arc<LogItem>>>,
    /// Whether nothing more is written.
    is_closed: AtomicBool,
    /// Notifies readers of events, and of the end of all writes.
    changed: Notify,
}

impl Feed {
    /// Creates the feed of a run with the events that are stored already.
    pub(super) fn new(items: Vec<LogItem>) -> Self {
        Self {
            items: Mutex::new(items.into_iter().map(Arc::new).collect()),
            is_closed: AtomicBool::new(false),
            changed: Notify::new(),
        }
    }

    /// Adds events that were stored.
    pub(super) fn publish(&self, new: impl Iterator<Item = LogItem>) {
        self.items().extend(new.map(Arc::new));
        self.changed.notify_waiters();
    }

    /// Returns all events so far.
    pub(super) fn all(&self) -> Vec<Arc<LogItem>> {
        self.items().clone()
    }

    /// Returns the number of the last event within the session; 0 if there is none.
    pub(super) fn last(&self) -> u64 {
        self.items().last().map_or(0, |item| item.seq)
    }

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

    /// Returns whether the run has ended.
    pub(crate) fn is_over(&self) -> bool {
        self.items().iter().rev().any(|item| item.event.is_end())
    }

    /// Returns how the run has ended.
    pub(crate) fn outcome(&self) -> &'static str {
        let items = self.items();
        let Some(LogEvent::Agui(end)) = items.iter().rev().map(|item| &item.event).find(|event| event.is_end()) else {
            return "failed";
        };
        let outcome = end.member("outcome").and_then(|outcome| outcome["type"].as_str());
        match (end.event_type(), outcome) {
            (EventType::RunError, _) => "failed",
            (_, Some("interrupt")) => "interrupted",
            (_, Some("cancelled")) => "cancelled",
            _ => "completed",
        }
    }

    /// Returns whether a person wants the run to be cancelled.
    pub(crate) fn is_cancel_requested(&self) -> bool {
        self.items()
            .iter()
            .any(|item| matches!(item.event, LogEvent::CancelRequested))
    }

    /// Returns the sources from which the stored events come, with the number of the last event of each.
    pub(crate) fn sources(&self) -> BTreeMap<String, u64> {
        let items = self.items();
        let sources = items.iter().filter_map(|item| match &item.event {
            LogEvent::Source { name, seq } => Some((name.clone(), *seq)),
            _ => None,
        });
        sources.collect()
    }

    fn items(&self) -> MutexGuard<'_, Vec<Arc<LogItem>>> {
        self.items.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
