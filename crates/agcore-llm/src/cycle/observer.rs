//! [`Observer`]: events on their way from the driver's future to the stream that polls it.

use std::{
    collections::VecDeque,
    future::poll_fn,
    sync::{Arc, Mutex, PoisonError},
    task::Poll,
};

use agcore_chat::StreamEvent;

/// The driver rests when so many events wait: a slow reader slows the reading of the model's reply.
const FULL: usize = 64;

/// Takes the events of a turn. Made by [`TurnStream::of`](super::TurnStream::of), which drains it.
///
/// There is no waker in it: whoever takes events out polls the future next.
#[derive(Clone, Debug, Default)]
pub struct Observer(Arc<Mutex<VecDeque<StreamEvent>>>);

impl Observer {
    pub(super) fn push(&self, event: StreamEvent) {
        self.with(|events| events.push_back(event));
    }

    pub(super) fn pop(&self) -> Option<StreamEvent> {
        self.with(VecDeque::pop_front)
    }

    /// Waits while the queue is full.
    pub(super) async fn room(&self) {
        self.shorter_than(FULL).await;
    }

    /// Waits until all events are taken: what follows must not be seen before them.
    pub(super) async fn drained(&self) {
        self.shorter_than(1).await;
    }

    async fn shorter_than(&self, most: usize) {
        poll_fn(|_| {
            if self.with(|events| events.len()) < most {
                Poll::Ready(())
            } else {
                Poll::Pending
            }
        })
        .await;
    }

    fn with<T>(&self, use_events: impl FnOnce(&mut VecDeque<StreamEvent>) -> T) -> T {
        use_events(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
