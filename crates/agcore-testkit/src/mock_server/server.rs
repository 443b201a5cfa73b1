//! [`MockServer`]: the server itself.

mod shutdown;
mod options;
mod request_log;
mod outcome_guard;
mod socket;
mod reply_body;
mod dispatch;
mod service;

pub use options::MockOptions;

use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};

use crate::mock_server::{
    behavior::{Behavior, Mismatch},
    request::{Outcome, RecordedRequest},
};

use self::{
    service::Service,
    shutdown::ShutdownSignal,
    socket::{ConnectionState, Socket},
};

/// A model server on 127.0.0.1 that runs on the current tokio runtime and uses its clock.
///
/// Dropping it closes all connections immediately; [`shutdown`](Self::shutdown) waits for replies in progress.
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// use agcore_testkit::mock_server::{MockOptions, MockServer, RecordedRequest, Reply};
///
/// let answer = |_: &RecordedRequest| Reply::text("Good day.");
/// let server = MockServer::start_with(MockOptions::new().with_key("sk-test"), answer).await.unwrap();
/// assert_eq!(server.base_url(), format!("http://{}/v1", server.address()));
/// assert!(server.requests().is_empty());
/// # });
/// ```
#[derive(Debug)]
pub struct MockServer {
    address: SocketAddr,
    service: Arc<Service>,
    close: watch::Sender<bool>,
    accepting: JoinHandle<()>,
}

impl MockServer {
    /// Starts a server with default options on a free port.
    ///
    /// # Errors
    ///
    /// Returns an error if no port of 127.0.0.1 is available.
    pub async fn start(behavior: impl Behavior) -> io::Result<Self> {
        Self::start_with(MockOptions::new(), behavior).await
    }

    /// Starts a server.
    ///
    /// # Errors
    ///
    /// Returns an error if the port is not available.
    pub async fn start_with(options: MockOptions, behavior: impl Behavior) -> io::Result<Self> {
        let listener = TcpListener::bind(options.address).await?;
        let address = listener.local_addr()?;
        let (close, shutdown) = ShutdownSignal::new();
        let service = Arc::new(Service::new(options, Box::new(behavior), shutdown));
        let accepting = tokio::spawn(accept(listener, Arc::clone(&service)));
        Ok(Self {
            address,
            service,
            close,
            accepting,
        })
    }

    /// Returns the address on which the server listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns `http://127.0.0.1:PORT`, to which the paths of Ollama (`/api/chat`), Gemini (`/v1beta/models`) and
    /// Bedrock (`/model`) are relative.
    pub fn root_url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Returns `http://127.0.0.1:PORT/v1`, to which `/chat/completions`, `/responses` and `/messages` are relative.
    pub fn base_url(&self) -> String {
        let prefix = self
            .service
            .options
            .prefixes
            .first()
            .map(String::as_str)
            .unwrap_or_default();
        format!("{}{prefix}", self.root_url())
    }

    /// Returns the requests received so far, in order of arrival, each with its current outcome.
    pub fn requests(&self) -> Vec<RecordedRequest> {
        self.service.log.requests()
    }

    /// Waits until at least `count` requests have arrived in total, and returns all requests received by then.
    ///
    /// This method is cancel safe.
    pub async fn wait_for_requests(&self, count: usize) -> Vec<RecordedRequest> {
        self.service.log.wait_for_count(count).await;
        self.requests()
    }

    /// Waits until the reply to request `number` (starting at 0) has ended, and returns its outcome.
    ///
    /// If the request has not arrived yet, this method waits for it. On a server that does not record requests, it
    /// waits forever.
    ///
    /// This method is cancel safe.
    pub async fn wait_for_outcome(&self, number: usize) -> Outcome {
        self.service.log.wait_for_outcome(number).await
    }

    /// Verifies that everything went as the behavior planned: a script was played to its end and not beyond, and
    /// nothing panicked.
    ///
    /// # Errors
    ///
    /// Returns what did not go as planned.
    pub fn verify(&self) -> Result<(), Mismatch> {
        self.service.verify()
    }

    /// Asserts that [`verify`](Self::verify) succeeds.
    ///
    /// # Panics
    ///
    /// Panics if something did not go as the behavior planned.
    #[track_caller]
    pub fn assert_done(&self) {
        let mismatch = self.verify().err().map(|mismatch| mismatch.to_string());
        assert!(mismatch.is_none(), "mock server: {}", mismatch.unwrap_or_default());
    }

    /// Stops accepting connections, waits for replies in progress, and closes the server. Stalls end immediately; a
    /// client that does not read its reply delays the shutdown. Returns all requests with their final outcomes.
    pub async fn shutdown(mut self) -> Vec<RecordedRequest> {
        self.close.send_replace(true);
        // The task now ends by itself. An error means that it was aborted or panicked, so it has ended as well.
        let _ = (&mut self.accepting).await;
        self.requests()
    }
}

impl Drop for MockServer {
    fn drop(&mut self) {
        self.close.send_replace(true);
        self.accepting.abort();
    }
}

/// Accepts connections until the server shuts down. This task owns the connections: aborting it closes them.
async fn accept(listener: TcpListener, service: Arc<Service>) {
    let mut connections = JoinSet::new();
    let shutdown = service.shutdown.clone();
    loop {
        tokio::select! {
            () = shutdown.wait() => break,
            Some(_) = connections.join_next() => {}
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    connections.spawn(serve_connection(stream, Arc::clone(&service)));
                }
                // Most likely the process is out of file descriptors; one may become available soon.
                Err(_) => tokio::time::sleep(Duration::from_millis(10)).await,
            },
        }
    }
    drop(listener);
    while connections.join_next().await.is_some() {}
}

async fn serve_connection(stream: TcpStream, service: Arc<Service>) {
    // Avoids delays between small writes. Failing to set it only costs those delays.
    let _ = stream.set_nodelay(true);
    let shutdown = service.shutdown.clone();
    let state = Arc::new(ConnectionState::default());
    let socket = TokioIo::new(Socket::new(stream, Arc::clone(&state)));
    let serve = service_fn(move |request| Arc::clone(&service).serve(Arc::clone(&state), request));
    let mut http = pin!(
        http1::Builder::new()
            .auto_date_header(false)
            .serve_connection(socket, serve)
    );
    // A connection error means that the client disconnected or that a fault closed the connection.
    let ended = tokio::select! {
        result = http.as_mut() => Some(result),
        () = shutdown.wait() => None,
    };
    if ended.is_none() {
        http.as_mut().graceful_shutdown();
        let _ = http.await;
    }
}
