//! [`ProgressBuffer`]: buffers the progress of a batch of calls until its reader takes it.

use std::{
    collections::VecDeque,
    sync::{Mutex, MutexGuard, PoisonError},
    task::Waker,
};

use agcore_chat::{Progress, Text};
use futures_util::task::AtomicWaker;

/// The number of unread items above which the oldest progress without a part is dropped: newer progress replaces it.
const MAX_UNREAD: usize = 1024;

/// The progress that calls have reported and the reader has not taken yet.
#[derive(Debug, Default)]
pub(super) struct ProgressBuffer {
    unread: Mutex<Unread>,
    reader: AtomicWaker,
}

#[derive(Debug, Default)]
struct Unread {
    items: VecDeque<(Text, Progress)>,
    /// The number of items without a part.
    without_part: usize,
    /// The number of items that were dropped since the reader last took one.
    dropped: usize,
}

impl ProgressBuffer {
    /// Takes the oldest item.
    pub(super) fn pop(&self) -> Option<(Text, Progress)> {
        let mut unread = self.lock();
        let (call_id, progress) = unread.items.pop_front()?;
        unread.without_part -= usize::from(progress.part.is_none());
        let dropped = std::mem::take(&mut unread.dropped);
        drop(unread);
        if dropped > 0 {
            tracing::warn!(%call_id, dropped, "progress was dropped, because it was reported faster than it was read");
        }
        Some((call_id, progress))
    }

    /// Sets the waker of the reader, which is woken when there is more progress.
    pub(super) fn register(&self, reader: &Waker) {
        self.reader.register(reader);
    }

    /// Adds the progress of a call.
    pub(super) fn push(&self, call_id: Text, progress: Progress) {
        let mut unread = self.lock();
        if progress.part.is_none() {
            unread.without_part += 1;
            if unread.without_part > MAX_UNREAD {
                unread.drop_oldest();
            }
        }
        unread.items.push_back((call_id, progress));
        drop(unread);
        self.reader.wake();
    }

    fn lock(&self) -> MutexGuard<'_, Unread> {
        self.unread.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Unread {
    /// Drops the oldest item without a part.
    fn drop_oldest(&mut self) {
        if let Some(index) = self.items.iter().position(|(_, progress)| progress.part.is_none()) {
            self.items.remove(index);
            self.without_part -= 1;
            self.dropped += 1;
        }
    }
}
