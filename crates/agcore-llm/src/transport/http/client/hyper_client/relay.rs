//! [`Relay`]: the waker of a connection, which wakes the task that works with it.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU8, Ordering},
    },
    task::{Wake, Waker},
};

use futures_util::task::AtomicWaker;

/// Nothing is polled.
const RESTING: u8 = 0;
/// The task polls the connection.
const POLLING: u8 = 1;
/// The connection or its reply was woken while the task polled them.
const WOKEN: u8 = 2;

/// Passes wake-ups of a connection on to the task that works with it.
///
/// A connection and the reader of its reply wake each other. Both are polled by the same task, which would be scheduled once
/// more for each of these wake-ups. So wake-ups during a poll are only noted, and the task polls again at once.
#[derive(Debug, Default)]
pub(super) struct Relay {
    task: AtomicWaker,
    state: AtomicU8,
}

impl Relay {
    /// Starts a poll.
    pub(super) fn start(&self) {
        self.state.store(POLLING, Ordering::SeqCst);
    }

    /// Ends a poll after which the task continues.
    pub(super) fn end(&self) {
        self.state.store(RESTING, Ordering::SeqCst);
    }

    /// Ends a poll after which the task with this waker waits. Returns whether the connection or its reply was woken during the
    /// poll.
    pub(super) fn wait(&self, task: &Waker) -> bool {
        self.task.register(task);
        self.state.swap(RESTING, Ordering::SeqCst) == WOKEN
    }

    /// Forgets the task: nothing wakes it any more.
    pub(super) fn forget(&self) {
        drop(self.task.take());
    }
}

impl Wake for Relay {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        let noted = self
            .state
            .compare_exchange(POLLING, WOKEN, Ordering::SeqCst, Ordering::SeqCst);
        if noted == Err(RESTING) {
            self.task.wake();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;

    use super::*;

    /// Counts how often a task is woken.
    #[derive(Default)]
    struct Count(AtomicUsize);

    impl Wake for Count {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }

    #[test]
    fn wakes_the_task_only_between_polls() {
        let (count, relay) = (Arc::new(Count::default()), Arc::new(Relay::default()));
        let (task, waker) = (Waker::from(Arc::clone(&count)), Waker::from(Arc::clone(&relay)));
        let woken = || count.0.load(Ordering::SeqCst);

        relay.start();
        assert!(!relay.wait(&task));

        relay.start();
        waker.wake_by_ref();
        waker.wake_by_ref();
        assert_eq!((woken(), relay.wait(&task)), (0, true));

        waker.wake_by_ref();
        assert_eq!(woken(), 1);

        relay.start();
        waker.wake_by_ref();
        relay.end();
        assert_eq!(woken(), 1);

        relay.start();
        assert!(!relay.wait(&task));
        relay.forget();
        waker.wake_by_ref();
        assert_eq!(woken(), 1);
    }
}
