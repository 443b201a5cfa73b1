//! [`WaitBuffer`]: buffers which calls of a batch wait for people until the reader takes it.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, PoisonError},
    task::Waker,
};

use agcore_chat::Text;
use futures_util::task::AtomicWaker;

use crate::context::WaitSender;

/// The starts and ends of waits that the reader has not taken yet.
#[derive(Debug, Default)]
pub(super) struct WaitBuffer {
    unread: Mutex<VecDeque<(Text, bool)>>,
    reader: AtomicWaker,
}

impl WaitBuffer {
    /// Returns a sender that adds to this buffer.
    pub(super) fn sender(self: &Arc<Self>) -> WaitSender {
        let buffer = Arc::clone(self);
        Arc::new(move |call_id, waiting| buffer.push(call_id.clone(), waiting))
    }

    /// Takes the oldest item.
    pub(super) fn pop(&self) -> Option<(Text, bool)> {
        self.unread.lock().unwrap_or_else(PoisonError::into_inner).pop_front()
    }

    /// Sets the waker of the reader, which is woken when there is more.
    pub(super) fn register(&self, reader: &Waker) {
        self.reader.register(reader);
    }

    fn push(&self, call_id: Text, waiting: bool) {
        let mut unread = self.unread.lock().unwrap_or_else(PoisonError::into_inner);
        unread.push_back((call_id, waiting));
        drop(unread);
        self.reader.wake();
    }
}
