//! [`Told`]: the progress that calls tell, on its way to the one who reads the reports.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, PoisonError},
    task::Waker,
};

use agcore_chat::{Progress, Text};
use futures_util::task::AtomicWaker;

use crate::context::ProgressSender;

/// With so much unread, further progress without a part is dropped: newer progress will follow.
const MOST_UNREAD: usize = 1024;

/// The progress that calls tell, until it is read.
#[derive(Debug, Default)]
pub(super) struct Told {
    unread: Mutex<VecDeque<(Text, Progress)>>,
    reader: AtomicWaker,
}

impl Told {
    /// Where calls send it.
    pub(super) fn sender(self: &Arc<Self>) -> ProgressSender {
        let told = Arc::clone(self);
        Arc::new(move |call_id, progress| told.add(call_id.clone(), progress))
    }

    /// Takes the oldest.
    pub(super) fn next(&self) -> Option<(Text, Progress)> {
        self.unread.lock().unwrap_or_else(PoisonError::into_inner).pop_front()
    }

    /// Who is woken when there is more.
    pub(super) fn register(&self, reader: &Waker) {
        self.reader.register(reader);
    }

    fn add(&self, call_id: Text, progress: Progress) {
        let mut unread = self.unread.lock().unwrap_or_else(PoisonError::into_inner);
        if unread.len() < MOST_UNREAD || progress.part.is_some() {
            unread.push_back((call_id, progress));
            drop(unread);
            self.reader.wake();
        }
    }
}
