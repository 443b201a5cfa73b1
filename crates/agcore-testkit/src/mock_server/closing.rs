//! The server's end of life, seen from a reply.

use tokio::sync::watch;

/// Tells when the server closes. Clones see the same.
#[derive(Clone, Debug)]
pub(crate) struct Closing {
    told: watch::Receiver<bool>,
}

impl Closing {
    /// A closing that has not come yet, and the sender that tells it (by `true`, or by being dropped).
    pub(crate) fn new() -> (watch::Sender<bool>, Self) {
        let (tell, told) = watch::channel(false);
        (tell, Self { told })
    }

    /// Whether it has come.
    pub(crate) fn is_told(&self) -> bool {
        *self.told.borrow() || self.told.has_changed().is_err()
    }

    /// Waits for it.
    pub(crate) async fn told(&self) {
        // An error means that the server is gone without a word, which is an end as well.
        let _ = self.told.clone().wait_for(|closed| *closed).await;
    }
}
