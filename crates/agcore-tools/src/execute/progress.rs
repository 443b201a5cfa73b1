//! [`ProgressBuffer`]: buffers the progress of a batch of calls until its reader takes it.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, PoisonError},
    task::Waker,
};

use agcore_chat::{Progress, Text};
use futures_util::task::AtomicWaker;

use crate::context::ProgressSender;

/// The number of unread items above which progress without a part is dropped: newer progress will follow.
const MAX_UNREAD: usize = 1024;

/// The progress that calls have reported and the reader has not taken yet.
#[derive(Debug, Default)]
pub(super) struct ProgressBuffer {
    unread: Mutex<VecDeque<(Text, Progress)>>,
    reader: AtomicWaker,
}

impl ProgressBuffer {
    /// Returns a sender that adds progress to this buffer.
    pub(super) fn sender(self: &Arc<Self>) -> ProgressSender {
        let buffer = Arc::clone(self);
        Arc::new(move |call_id, progress| buffer.push(call_id.clone(), progress))
    }

    /// Takes the oldest item.
    pub(super) fn pop(&self) -> Option<(Text, Progress)> {
        self.unread.lock().unwrap_or_else(PoisonError::into_inner).pop_front()
    }

    /// Sets the waker of the reader, which is woken when there is more progress.
    pub(super) fn register(&self, reader: &Waker) {
        self.reader.register(reader);
    }

    fn push(&self, call_id: Text, progress: Progress) {
        let mut unread = self.unread.lock().unwrap_or_else(PoisonError::into_inner);
        if unread.len() < MAX_UNREAD || progress.part.is_some() {
            unread.push_back((call_id, progress));
            drop(unread);
            self.reader.wake();
        }
    }
}
