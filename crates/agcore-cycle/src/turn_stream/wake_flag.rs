//! [`WakeFlag`]: remembers whether a future was woken.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Wake},
};

use futures_util::task::AtomicWaker;

/// Remembers whether a future was woken since it was polled last, and wakes the task that polls it.
///
/// The reader of a stream polls it again after each event. Without the flag this would poll everything that the turn waits
/// for once more, although nothing has happened.
#[derive(Debug)]
pub(super) struct WakeFlag {
    is_woken: AtomicBool,
    task: AtomicWaker,
}

impl WakeFlag {
    /// Creates the flag of a future that was never polled, and therefore has to be.
    pub(super) fn new() -> Arc<Self> {
        Arc::new(Self {
            is_woken: AtomicBool::new(true),
            task: AtomicWaker::new(),
        })
    }

    /// Returns whether the future has to be polled, with the waker of this flag. Otherwise the task of `cx` will be woken.
    pub(super) fn take(&self, cx: &Context<'_>) -> bool {
        // In this order, so that no wake in between is lost.
        self.task.register(cx.waker());
        self.is_woken.swap(false, Ordering::AcqRel)
    }
}

impl Wake for WakeFlag {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.is_woken.store(true, Ordering::Release);
        self.task.wake();
    }
}

#[cfg(test)]
mod tests {
    use std::task::Waker;

    use futures_util::task::noop_waker;

    use super::*;

    #[test]
    fn a_wake_is_taken_once_and_reaches_the_task() {
        let (flag, task) = (WakeFlag::new(), WakeFlag::new());
        let outer = Waker::from(Arc::clone(&task));
        let context = Context::from_waker(&outer);
        let was_woken = || task.take(&Context::from_waker(&noop_waker()));

        assert!(was_woken() && flag.take(&context), "neither was polled yet");
        assert!(!flag.take(&context) && !was_woken());
        Waker::from(Arc::clone(&flag)).wake();
        assert!(was_woken() && flag.take(&context));
        assert!(!flag.take(&context) && !was_woken());
    }
}
