//! [`WaitBuffer`]: buffers which calls of a batch wait for people until the reader takes it.

use std::{
    collections::VecDeque,
    sync::{Mutex, PoisonError},
    task::Waker,
};

use agcore_chat::Text;
use futures_util::task::AtomicWaker;

/// The starts and ends of waits that the reader has not taken yet.
#[derive(Debug, Default)]
pub(super) struct WaitBuffer {
    unread: Mutex<VecDeque<(Text, bool)>>,
    reader: AtomicWaker,
}

impl WaitBuffer {
    /// Takes the oldest item.
    pub(super) fn pop(&self) -> Option<(Text, bool)> {
        self.unread.lock().unwrap_or_else(PoisonError::into_inner).pop_front()
    }

    /// Sets the waker of the reader, which is woken when there is more.
    pub(super) fn register(&self, reader: &Waker) {
        self.reader.register(reader);
    }

    /// Adds that a call starts or stops waiting.
    pub(super) fn push(&self, call_id: Text, waiting: bool) {
        let mut unread = self.unread.lock().unwrap_or_else(PoisonError::into_inner);
        unread.push_back((call_id, waiting));
        drop(unread);
        self.reader.wake();
    }
}
