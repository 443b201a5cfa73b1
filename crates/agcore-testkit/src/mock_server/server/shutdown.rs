//! [`ShutdownSignal`]: notifies connections and replies that the server shuts down.

use tokio::sync::watch;

/// A signal that is triggered when the server shuts down. Clones observe the same signal.
#[derive(Clone, Debug)]
pub(crate) struct ShutdownSignal {
    triggered: watch::Receiver<bool>,
}

impl ShutdownSignal {
    /// Creates a signal and the sender that triggers it, by sending `true` or by being dropped.
    pub(crate) fn new() -> (watch::Sender<bool>, Self) {
        let (trigger, triggered) = watch::channel(false);
        (trigger, Self { triggered })
    }

    /// Returns whether the signal has been triggered.
    pub(crate) fn is_triggered(&self) -> bool {
        *self.triggered.borrow() || self.triggered.has_changed().is_err()
    }

    /// Waits until the signal is triggered.
    pub(crate) async fn wait(&self) {
        // An error means that the sender was dropped, which triggers the signal as well.
        let _ = self.triggered.clone().wait_for(|triggered| *triggered).await;
    }
}
