//! [`RequestLog`]: the requests received so far, with a way to wait for more.

use std::sync::Arc;

use tokio::sync::watch;

use crate::mock_server::request::{Outcome, RecordedRequest};

/// The requests that the server has received. Clones share the same log.
#[derive(Clone, Debug)]
pub(crate) struct RequestLog {
    state: Arc<watch::Sender<State>>,
    recording: bool,
}

#[derive(Debug, Default)]
struct State {
    count: usize,
    /// Empty if the log only counts requests.
    requests: Vec<RecordedRequest>,
}

impl RequestLog {
    /// Creates a log that keeps requests if `recording` is set, and only counts them otherwise.
    pub(crate) fn new(recording: bool) -> Self {
        Self {
            state: Arc::default(),
            recording,
        }
    }

    /// Returns the number of requests received so far, which is also the number of the next one.
    pub(crate) fn count(&self) -> usize {
        self.state.borrow().count
    }

    pub(crate) fn add(&self, request: &RecordedRequest) {
        self.state.send_modify(|state| {
            state.count += 1;
            if self.recording {
                state.requests.push(request.clone());
            }
        });
    }

    pub(crate) fn set_outcome(&self, number: usize, outcome: Outcome) {
        self.state
            .send_if_modified(|state| match state.requests.get_mut(number) {
                Some(request) => {
                    request.set_outcome(outcome);
                    true
                }
                None => false,
            });
    }

    pub(crate) fn requests(&self) -> Vec<RecordedRequest> {
        self.state.borrow().requests.clone()
    }

    pub(crate) async fn wait_for_count(&self, count: usize) {
        self.wait(|state| state.count >= count).await;
    }

    pub(crate) async fn wait_for_outcome(&self, number: usize) -> Outcome {
        let outcome = |state: &State| {
            state
                .requests
                .get(number)
                .map_or(Outcome::Open, RecordedRequest::outcome)
        };
        self.wait(|state| outcome(state) != Outcome::Open).await;
        outcome(&self.state.borrow())
    }

    async fn wait(&self, is_ready: impl Fn(&State) -> bool) {
        // `self` owns the sender, so the channel cannot close during the wait.
        let _ = self.state.subscribe().wait_for(|state| is_ready(state)).await;
    }
}
