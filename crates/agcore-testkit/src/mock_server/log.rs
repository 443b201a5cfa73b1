//! The requests so far, and waiting for more.

use std::sync::Arc;

use tokio::sync::watch;

use super::request::{Outcome, RecordedRequest};

/// What the server has seen. Clones share it.
#[derive(Clone, Debug)]
pub(crate) struct Log {
    seen: Arc<watch::Sender<Seen>>,
    keeping: bool,
}

#[derive(Debug, Default)]
struct Seen {
    count: usize,
    kept: Vec<RecordedRequest>,
}

impl Log {
    pub(crate) fn new(keeping: bool) -> Self {
        Self {
            seen: Arc::default(),
            keeping,
        }
    }

    /// How many requests have arrived, which is the number of the next one.
    pub(crate) fn count(&self) -> usize {
        self.seen.borrow().count
    }

    pub(crate) fn add(&self, request: &RecordedRequest) {
        self.seen.send_modify(|seen| {
            seen.count += 1;
            if self.keeping {
                seen.kept.push(request.clone());
            }
        });
    }

    pub(crate) fn settle(&self, number: usize, outcome: Outcome) {
        self.seen.send_if_modified(|seen| match seen.kept.get_mut(number) {
            Some(request) => {
                request.settle(outcome);
                true
            }
            None => false,
        });
    }

    pub(crate) fn kept(&self) -> Vec<RecordedRequest> {
        self.seen.borrow().kept.clone()
    }

    pub(crate) async fn wait_for_count(&self, count: usize) {
        self.wait(|seen| seen.count >= count).await;
    }

    pub(crate) async fn wait_for_outcome(&self, number: usize) -> Outcome {
        let outcome = |seen: &Seen| seen.kept.get(number).map_or(Outcome::Open, RecordedRequest::outcome);
        self.wait(|seen| outcome(seen) != Outcome::Open).await;
        outcome(&self.seen.borrow())
    }

    async fn wait(&self, ready: impl Fn(&Seen) -> bool) {
        // `self` holds the sender, so the channel cannot close while we wait.
        let _ = self.seen.subscribe().wait_for(|seen| ready(seen)).await;
    }
}
