//! [`Observer`]: events on their way from the driver's future to the stream that polls it.

use std::{
    collections::VecDeque,
    future::poll_fn,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Waker},
};

use agcore_chat::StreamEvent;

/// The driver rests when so many events wait: a slow reader slows the reading of the model's reply.
const FULL: usize = 64;

/// So many events wait mostly at once: those of a reply with three calls.
const SOME: usize = 8;

/// Takes the events of a turn. Made by [`TurnStream::of`](super::TurnStream::of), which drains it.
///
/// Mostly whoever takes events out polls the driver next; wakers are for drivers that run in another task, or among
/// futures that are polled only when woken.
#[derive(Clone, Debug)]
pub struct Observer(Arc<Mutex<Queue>>);

#[derive(Debug, Default)]
struct Queue {
    events: VecDeque<StreamEvent>,
    /// Waits for an event.
    reader: Option<Waker>,
    /// Wait for room.
    writers: Vec<Waker>,
}

impl Observer {
    /// Not public: who makes one has to drain it.
    pub(super) fn new() -> Self {
        let events = VecDeque::with_capacity(SOME);
        Self(Arc::new(Mutex::new(Queue {
            events,
            ..Queue::default()
        })))
    }

    pub(super) fn push(&self, event: StreamEvent) {
        let reader = self.with(|queue| {
            queue.events.push_back(event);
            queue.reader.take()
        });
        if let Some(reader) = reader {
            reader.wake();
        }
    }

    pub(super) fn pop(&self) -> Option<StreamEvent> {
        self.take(None)
    }

    /// As [`pop`](Self::pop); with nothing there, the next event wakes.
    pub(super) fn poll_pop(&self, cx: &Context<'_>) -> Poll<StreamEvent> {
        self.take(Some(cx.waker())).map_or(Poll::Pending, Poll::Ready)
    }

    /// Waits while the queue is full.
    pub(super) async fn ready(&self) {
        self.shorter_than(FULL).await;
    }

    /// Waits until all events are taken: what follows must not be seen before them.
    pub(super) async fn drained(&self) {
        self.shorter_than(1).await;
    }

    fn take(&self, reader: Option<&Waker>) -> Option<StreamEvent> {
        let mut queue = self.lock();
        if queue.events.is_empty() {
            queue.reader = reader.cloned();
        } else {
            queue.reader = None;
        }
        // Events are large: taken out last, one moves once.
        let writers = std::mem::take(&mut queue.writers);
        if writers.is_empty() {
            return queue.events.pop_front();
        }
        let event = queue.events.pop_front();
        drop(queue);
        writers.into_iter().for_each(Waker::wake);
        event
    }

    async fn shorter_than(&self, most: usize) {
        poll_fn(|cx| {
            self.with(|queue| {
                if queue.events.len() < most {
                    return Poll::Ready(());
                }
                queue.writers.push(cx.waker().clone());
                Poll::Pending
            })
        })
        .await;
    }

    fn with<T>(&self, use_queue: impl FnOnce(&mut Queue) -> T) -> T {
        use_queue(&mut self.lock())
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
