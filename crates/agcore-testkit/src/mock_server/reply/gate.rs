//! [`Gate`]: lets a test, rather than a timer, decide when a stalled reply continues.

use std::sync::Arc;

use tokio::sync::watch;

/// A point at which the server holds a reply back until the test releases it.
///
/// Clones are handles to the same gate. A released gate stays open for every reply that reaches it.
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// use agcore_testkit::mock_server::{Fault, Gate, MockServer, Outcome, Point, Reply, Script};
/// # use tokio::{io::{AsyncReadExt, AsyncWriteExt}, net::TcpStream};
/// # async fn chat(server: &MockServer) -> String {
/// #     let body = r#"{"model":"m","messages":[{"role":"user","content":"Hi"}]}"#;
/// #     let mut client = TcpStream::connect(server.address()).await.unwrap();
/// #     let head = "POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: ";
/// #     client.write_all(format!("{head}{}\r\n\r\n{body}", body.len()).as_bytes()).await.unwrap();
/// #     let mut reply = String::new();
/// #     client.read_to_string(&mut reply).await.unwrap();
/// #     reply
/// # }
///
/// let gate = Gate::new();
/// let reply = Reply::text("late").with_fault(Fault::stall(Point::BeforeHeaders, &gate));
/// let server = MockServer::start(Script::new([reply])).await.unwrap();
///
/// // `chat` is the client under test.
/// let (received, ()) = tokio::join!(chat(&server), async {
///     gate.reached().await;
///     assert_eq!(server.requests()[0].outcome(), Outcome::Open);
///     gate.release();
/// });
/// assert!(received.contains("late"));
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
    /// Creates a closed gate.
    pub fn new() -> Self {
        Self::default()
    }

    /// Opens the gate permanently.
    pub fn release(&self) {
        self.state.send_modify(|state| state.released = true);
    }

    /// Waits until at least one reply has reached the gate. By then, all bytes before the gate have been written to the
    /// socket.
    ///
    /// This method is cancel safe.
    pub async fn reached(&self) {
        self.wait(|state| state.arrivals > 0).await;
    }

    /// Returns the number of replies that have reached the gate so far.
    pub fn arrivals(&self) -> usize {
        self.state.borrow().arrivals
    }

    /// Records an arrival and waits for the release. Called by the server.
    pub(crate) async fn pass(&self) {
        self.state.send_modify(|state| state.arrivals += 1);
        self.wait(|state| state.released).await;
    }

    async fn wait(&self, ready: impl Fn(&State) -> bool) {
        // `self` owns the sender, so the channel cannot close during the wait.
        let _ = self.state.subscribe().wait_for(|state| ready(state)).await;
    }
}
