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
///
/// The events come from the log of this process while it executes the run, and otherwise from the store, in which another process
/// writes them.
#[derive(Debug)]
pub(crate) struct Feed {
    events: Mutex<Events>,
    /// Whether nothing more is written.
    is_closed: AtomicBool,
    /// Whether a person wants the run to be cancelled, as this process has learnt.
    is_cancel_requested: AtomicBool,
    /// Notifies readers of events, and of the end of all writes.
    changed: Notify,
}

#[derive(Debug, Default)]
struct Events {
    items: Vec<Arc<LogItem>>,
    /// Whether the log of this process adds them.
    is_written_here: bool,
    /// The number of logs that have added events in this process.
    logs: u64,
    /// The number of the last event of the session up to which the events of the run were read from the store.
    seen: Option<u64>,
}

impl Events {
    fn last(&self) -> u64 {
        self.items.last().map_or(0, |item| item.seq)
    }

    /// Adds events that come after those that are known. An end before a restart does not count.
    fn add(&mut self, new: impl Iterator<Item = LogItem>) {
        let last = self.last();
        for item in new.filter(|item| item.seq > last) {
            if matches!(item.event, LogEvent::Restarted) {
                forget_ends(&mut self.items);
            }
            self.items.push(Arc::new(item));
        }
    }
}

impl Feed {
    /// Creates the feed of a run that another process executes.
    pub(crate) fn elsewhere() -> Self {
        Self {
            events: Mutex::default(),
            is_closed: AtomicBool::new(false),
            is_cancel_requested: AtomicBool::new(false),
            changed: Notify::new(),
        }
    }

    /// Creates the feed of a run that this process executes, with the events that are stored already.
    pub(crate) fn here(items: Vec<LogItem>) -> Self {
        let feed = Self::elsewhere();
        feed.begin_here();
        feed.publish(items.into_iter());
        feed
    }

    /// From here on, a log of this process adds the events, and no others are. Returns the number of the log.
    pub(crate) fn begin_here(&self) -> u64 {
        let mut events = self.events();
        events.is_written_here = true;
        events.logs += 1;
        events.logs
    }

    /// From here on, the events come from the store again, unless another log adds them by now.
    pub(crate) fn end_here(&self, log: u64) {
        let mut events = self.events();
        if events.logs == log {
            events.is_written_here = false;
            // What the log has written may not be all that is stored.
            events.seen = None;
        }
    }

    pub(crate) fn is_written_here(&self) -> bool {
        self.events().is_written_here
    }

    /// Adds events that were stored by the log of this process.
    pub(crate) fn publish(&self, new: impl Iterator<Item = LogItem>) {
        self.events().add(new);
        self.changed.notify_waiters();
    }

    /// Adds events that were found in the store, unless the log of this process adds them meanwhile.
    pub(crate) fn publish_found(&self, found: impl Iterator<Item = LogItem>) {
        {
            let mut events = self.events();
            if events.is_written_here {
                return;
            }
            events.add(found);
        }
        self.changed.notify_waiters();
    }

    /// Returns all events so far.
    pub(super) fn all(&self) -> Vec<Arc<LogItem>> {
        self.events().items.clone()
    }

    /// Returns whether there is an event of a type.
    pub(crate) fn has(&self, kind: EventType) -> bool {
        let is_kind = |item: &Arc<LogItem>| matches!(&item.event, LogEvent::Agui(event) if event.event_type() == kind);
        self.events().items.iter().any(is_kind)
    }

    /// Returns the number of events so far.
    pub(super) fn count(&self) -> usize {
        self.events().items.len()
    }

    /// Returns the number of the last event within the session; 0 if there is none.
    pub(crate) fn last(&self) -> u64 {
        self.events().last()
    }

    /// Notes that a person wants the run to be cancelled.
    pub(crate) fn request_cancel(&self) {
        self.is_cancel_requested.store(true, Ordering::SeqCst);
    }

    /// Notes that nothing more is written.
    pub(crate) fn close(&self) {
        self.is_closed.store(true, Ordering::SeqCst);
        self.changed.notify_waiters();
    }

    /// Returns the number of the last event of the session up to which the events of the run were read from the store, if they
    /// were.
    pub(crate) fn seen(&self) -> Option<u64> {
        self.events().seen
    }

    /// Notes that there are events which were not read from the store yet.
    pub(crate) fn forget_seen(&self) {
        self.events().seen = None;
    }

    /// Returns the number of logs that have added events in this process.
    pub(crate) fn logs(&self) -> u64 {
        self.events().logs
    }

    /// Notes that all events of the run up to this event of the session were read from the store, unless a log has added events
    /// since there were this many logs: then those that were read may not have been added.
    pub(crate) fn set_seen(&self, last: u64, logs: u64) {
        let mut events = self.events();
        if events.logs == logs && !events.is_written_here {
            events.seen = Some(last);
        }
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
            if self.is_closed() || index < self.events().items.len() {
                return;
            }
            changed.await;
        }
    }

    /// Returns up to `limit` events from an index on.
    pub(crate) fn read(&self, from: usize, limit: usize) -> Vec<Arc<LogItem>> {
        self.events().items.iter().skip(from).take(limit).cloned().collect()
    }

    /// Returns whether the run has ended.
    pub(crate) fn is_over(&self) -> bool {
        self.events().items.iter().rev().any(|item| item.event.is_end())
    }

    /// Returns whether the run was started again after it had failed.
    pub(crate) fn is_restarted(&self) -> bool {
        let events = self.events();
        events
            .items
            .iter()
            .any(|item| matches!(item.event, LogEvent::Restarted))
    }

    /// Returns how the run has ended.
    pub(crate) fn outcome(&self) -> &'static str {
        let events = self.events();
        let Some(LogEvent::Agui(end)) = events
            .items
            .iter()
            .rev()
            .map(|item| &item.event)
            .find(|event| event.is_end())
        else {
            return "failed";
        };
        let outcome = end.member("outcome");
        // The client has to run calls of its tools.
        let is_pending = outcome.is_some_and(|outcome| !outcome["pendingToolCallIds"].is_null());
        match (end.event_type(), outcome.and_then(|outcome| outcome["type"].as_str())) {
            (EventType::RunError, _) => "failed",
            (_, Some("interrupt")) => "interrupted",
            _ if is_pending => "interrupted",
            (_, Some("cancelled")) => "cancelled",
            _ => "completed",
        }
    }

    /// Returns whether a person wants the run to be cancelled.
    pub(crate) fn is_cancel_requested(&self) -> bool {
        self.is_cancel_requested.load(Ordering::SeqCst)
    }

    /// Returns the sources from which the stored events come, with the number of the last event of each.
    pub(crate) fn sources(&self) -> BTreeMap<String, u64> {
        let events = self.events();
        let sources = events.items.iter().filter_map(|item| match &item.event {
            LogEvent::Source { name, seq } => Some((name.clone(), *seq)),
            _ => None,
        });
        sources.collect()
    }

    fn events(&self) -> MutexGuard<'_, Events> {
        self.events.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Hides the ends of a run that was started again after them.
pub(crate) fn forget_ends(items: &mut [Arc<LogItem>]) {
    for item in items.iter_mut().filter(|item| item.event.is_end()) {
        *item = Arc::new(LogItem::new(item.seq, LogEvent::Unknown));
    }
}

#[cfg(test)]
mod tests {
    use agcore_agui::{Encoder, Run};

    use super::*;

    fn item(seq: u64) -> LogItem {
        LogItem::new(seq, LogEvent::Unknown)
    }

    fn seqs(feed: &Feed) -> Vec<u64> {
        feed.all().iter().map(|item| item.seq).collect()
    }

    #[test]
    fn events_come_once_whether_they_were_written_here_or_found() {
        let feed = Feed::elsewhere();
        feed.publish_found([item(1), item(3)].into_iter());
        // A page that was read before the one above was added.
        feed.publish_found([item(3), item(4)].into_iter());
        assert_eq!(seqs(&feed), [1, 3, 4]);
        let log = feed.begin_here();
        // Read before this process began to write: its log has read them as well.
        feed.publish_found([item(5)].into_iter());
        feed.publish([item(4), item(5), item(6)].into_iter());
        assert_eq!(seqs(&feed), [1, 3, 4, 5, 6]);
        // A log that was here before ends late.
        feed.end_here(log - 1);
        assert!(feed.is_written_here());
        feed.end_here(log);
        feed.publish_found([item(6), item(7)].into_iter());
        assert_eq!((seqs(&feed).len(), feed.last()), (6, 7));
    }

    #[test]
    fn what_a_log_may_have_kept_out_is_read_again() {
        let feed = Feed::elsewhere();
        let logs = feed.logs();
        feed.set_seen(5, logs);
        assert_eq!(feed.seen(), Some(5));
        let log = feed.begin_here();
        // Found before the log began, and not added for that reason.
        feed.publish_found([item(6)].into_iter());
        feed.set_seen(6, logs);
        feed.end_here(log);
        assert_eq!(feed.seen(), None);
        feed.set_seen(6, logs);
        assert_eq!(feed.seen(), None, "the read is older than the log");
        feed.set_seen(6, feed.logs());
        assert_eq!(feed.seen(), Some(6));
    }

    #[test]
    fn an_end_before_a_restart_does_not_count() {
        let mut encoder = Encoder::new("t", "r");
        let mut event = |run: Run| LogEvent::Agui(Box::new(encoder.push(run.into()).unwrap().remove(0)));
        let [started, failed] = [event(Run::started()), event(Run::failed("gone", "limit"))];
        let feed = Feed::elsewhere();
        let items = [started, failed.clone()];
        feed.publish_found((1..).zip(items).map(|(seq, event)| LogItem::new(seq, event)));
        assert!(feed.is_over());
        feed.publish_found([LogItem::new(3, LogEvent::Restarted)].into_iter());
        assert!(!feed.is_over() && feed.count() == 3);
        // The second end is one.
        feed.publish_found([LogItem::new(4, failed)].into_iter());
        assert!(feed.is_over());
    }
}
