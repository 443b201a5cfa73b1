//! [`Observer`]: the queue of events between the driver's future and the stream that polls it.

use std::{
    collections::VecDeque,
    future::poll_fn,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Waker},
};

use agcore_chat::StreamEvent;

/// The number of queued events at which the driver waits, so that a slow reader slows down the model's stream.
const CAPACITY: usize = 64;

/// The usual number of queued events. Most readers take each event as it comes, so that more space would never be used.
const INITIAL_CAPACITY: usize = 2;

/// Receives the events of a turn. Created by [`TurnStream::new`](crate::TurnStream::new), which drains it.
///
/// Usually, the code that takes events out polls the driver next. The wakers are for drivers that run in another task, or
/// among futures that are polled only when woken.
#[derive(Clone, Debug)]
pub struct Observer(Arc<Mutex<Queue>>);

#[derive(Debug, Default)]
struct Queue {
    events: VecDeque<StreamEvent>,
    /// The number of the next event.
    next: u64,
    /// The task that waits for an event.
    reader: Option<Waker>,
    /// The tasks that wait for a shorter queue.
    writers: Vec<Waker>,
}

impl Observer {
    /// Creates an empty queue. Not public, because its creator has to drain it.
    pub(super) fn new() -> Self {
        let events = VecDeque::with_capacity(INITIAL_CAPACITY);
        Self(Arc::new(Mutex::new(Queue {
            events,
            ..Queue::default()
        })))
    }

    /// Adds an event of another turn that runs within this one: that of a sub-agent, which the tool call `parent` has asked. It
    /// gets the next number of this turn. Its own link to a call, from a sub-agent further down, is kept. Waits while the queue
    /// is full.
    ///
    /// Cancel safe: the event is added when this is first polled.
    pub async fn forward(&self, mut event: StreamEvent, parent: &Arc<str>) {
        event.parent.get_or_insert_with(|| Arc::clone(parent));
        self.push(event);
        self.ready().await;
    }

    /// Adds an event of the layer that runs the turn, between two runs of it. It gets the next number.
    pub fn send(&self, event: StreamEvent) {
        self.push(event);
    }

    /// Counts from this number, unless the events that were added before have come further.
    pub(super) fn continue_from(&self, next: u64) {
        self.with(|queue| queue.next = queue.next.max(next));
    }

    /// Counts from 0.
    pub(super) fn restart(&self) {
        self.with(|queue| queue.next = 0);
    }

    /// Returns the number of the next event.
    pub(super) fn next(&self) -> u64 {
        self.with(|queue| queue.next)
    }

    /// Adds an event, with the next number.
    pub(super) fn push(&self, mut event: StreamEvent) {
        let reader = self.with(|queue| {
            event.seq = queue.next;
            queue.next += 1;
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

    /// Like [`pop`](Self::pop), but registers the waker for the next event if the queue is empty.
    pub(super) fn poll_pop(&self, cx: &Context<'_>) -> Poll<StreamEvent> {
        self.take(Some(cx.waker())).map_or(Poll::Pending, Poll::Ready)
    }

    /// Waits while the queue is full.
    pub(super) async fn ready(&self) {
        self.shorter_than(CAPACITY).await;
    }

    /// Waits until all events were taken, because what follows must not be visible before them.
    pub(super) async fn drained(&self) {
        self.shorter_than(1).await;
    }

    /// Waits until the events were taken that were added so far, whatever is added in the meantime.
    ///
    /// Cancel safe: nothing is lost when the future is dropped.
    pub async fn delivered(&self) {
        let end = self.next();
        self.wait_until(|queue| queue.events.front().is_none_or(|first| first.seq >= end))
            .await;
    }

    fn take(&self, reader: Option<&Waker>) -> Option<StreamEvent> {
        let mut queue = self.lock();
        if queue.events.is_empty() {
            queue.reader = reader.cloned();
        } else {
            queue.reader = None;
        }
        // Events are large, so the event is taken out last and moves only once.
        let writers = std::mem::take(&mut queue.writers);
        if writers.is_empty() {
            return queue.events.pop_front();
        }
        let event = queue.events.pop_front();
        drop(queue);
        writers.into_iter().for_each(Waker::wake);
        event
    }

    async fn shorter_than(&self, limit: usize) {
        self.wait_until(|queue| queue.events.len() < limit).await;
    }

    async fn wait_until(&self, is_met: impl Fn(&Queue) -> bool) {
        poll_fn(|cx| {
            self.with(|queue| {
                if is_met(queue) {
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
