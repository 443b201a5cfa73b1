//! A gate in front of a reply: the test, not the clock, says when the server goes on.

use std::sync::Arc;

use tokio::sync::watch;

/// A point at which the server waits until the test lets it pass.
///
/// Clones are handles on one gate. Once released it stays open, for every reply that comes to it.
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// use agcore_testkit::mock_server::{Fault, Gate, MockServer, Point, Reply};
///
/// let gate = Gate::new();
/// let reply = Reply::text("late").with_fault(Fault::stall(Point::BeforeHeaders, gate.clone()));
/// let server = MockServer::start(move |_: &_| reply.clone()).await.unwrap();
/// // … a client asks; `gate.reached().await` returns when its reply hangs …
/// gate.release();
/// # server.shutdown().await;
/// # });
/// ```
#[derive(Clone, Debug, Default)]
pub struct Gate {
    state: Arc<watch::Sender<State>>,
}

#[derive(Debug, Default)]
struct State {
    arrivals: usize,
    released: bool,
}

impl Gate {
    /// A closed gate.
    pub fn new() -> Self {
        Self::default()
    }

    /// Opens the gate for good.
    pub fn release(&self) {
        self.state.send_modify(|state| state.released = true);
    }

    /// Waits until at least one reply has come to the gate. All bytes before the gate are then in the socket.
    ///
    /// Cancel safe.
    pub async fn reached(&self) {
        self.wait(|state| state.arrivals > 0).await;
    }

    /// How many replies have come to the gate so far.
    pub fn arrivals(&self) -> usize {
        self.state.borrow().arrivals
    }

    /// The server's side: counts the arrival and waits for the release.
    pub(crate) async fn pass(&self) {
        self.state.send_modify(|state| state.arrivals += 1);
        self.wait(|state| state.released).await;
    }

    async fn wait(&self, ready: impl Fn(&State) -> bool) {
        // `self` holds the sender, so the channel cannot close while we wait.
        let _ = self.state.subscribe().wait_for(|state| ready(state)).await;
    }
}
