//! [`Unread`]: what the calls of a batch report, until the reader takes it.

use std::{
    collections::VecDeque,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    task::Waker,
};

use agcore_chat::{Progress, Text};
use futures_util::task::AtomicWaker;

/// The number of unread items above which the oldest progress without a part is dropped: newer progress replaces it.
const MAX_PROGRESS: usize = 1024;

/// A report of a call.
#[derive(Debug)]
pub(super) enum CallReport {
    /// The call starts or stops waiting for a person.
    Waiting(bool),
    Progress(Progress),
}

/// The reports that the reader has not taken yet.
#[derive(Debug, Default)]
pub(super) struct Unread {
    /// Whether there is a report. Written under the lock, and read without it: most calls report nothing.
    any: AtomicBool,
    reports: Mutex<Reports>,
    reader: AtomicWaker,
}

#[derive(Debug, Default)]
struct Reports {
    /// The starts and ends of waits.
    waits: VecDeque<(Text, bool)>,
    progress: VecDeque<(Text, Progress)>,
    /// The number of items of progress without a part.
    without_part: usize,
    /// The number of items of progress that were dropped since the reader last took one.
    dropped: usize,
}

impl Unread {
    /// Takes the oldest wait, or the oldest progress if there is none.
    pub(super) fn pop(&self) -> Option<(Text, CallReport)> {
        if !self.any.load(Ordering::Acquire) {
            return None;
        }
        let mut reports = self.lock();
        let (report, dropped) = reports.pop();
        self.any.store(!reports.is_empty(), Ordering::Release);
        drop(reports);
        if let Some((call_id, _)) = report.as_ref().filter(|_| dropped > 0) {
            tracing::warn!(%call_id, dropped, "progress was dropped, because it was reported faster than it was read");
        }
        report
    }

    /// Sets the waker of the reader, which is woken when there is more.
    pub(super) fn register(&self, reader: &Waker) {
        self.reader.register(reader);
    }

    /// Adds what a call reports.
    pub(super) fn push(&self, call_id: Text, report: CallReport) {
        let mut reports = self.lock();
        reports.push(call_id, report);
        self.any.store(true, Ordering::Release);
        drop(reports);
        self.reader.wake();
    }

    fn lock(&self) -> MutexGuard<'_, Reports> {
        self.reports.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Reports {
    fn is_empty(&self) -> bool {
        self.waits.is_empty() && self.progress.is_empty()
    }

    /// Takes a report, with the number of items that were dropped before it.
    fn pop(&mut self) -> (Option<(Text, CallReport)>, usize) {
        if let Some((call_id, waiting)) = self.waits.pop_front() {
            return (Some((call_id, CallReport::Waiting(waiting))), 0);
        }
        let Some((call_id, progress)) = self.progress.pop_front() else {
            return (None, 0);
        };
        self.without_part -= usize::from(progress.part.is_none());
        let report = (call_id, CallReport::Progress(progress));
        (Some(report), std::mem::take(&mut self.dropped))
    }

    fn push(&mut self, call_id: Text, report: CallReport) {
        match report {
            CallReport::Waiting(waiting) => self.waits.push_back((call_id, waiting)),
            CallReport::Progress(progress) => {
                if progress.part.is_none() {
                    self.without_part += 1;
                    if self.without_part > MAX_PROGRESS {
                        self.drop_oldest();
                    }
                }
                self.progress.push_back((call_id, progress));
            }
        }
    }

    /// Drops the oldest progress without a part.
    fn drop_oldest(&mut self) {
        if let Some(index) = self.progress.iter().position(|(_, progress)| progress.part.is_none()) {
            self.progress.remove(index);
            self.without_part -= 1;
            self.dropped += 1;
        }
    }
}
