//! The server itself.

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

use super::behaviour::Behaviour;
use super::closing::Closing;
use super::options::MockOptions;
use super::request::{Outcome, RecordedRequest};
use super::service::Service;
use super::socket::{Line, Socket};
use super::verdict::Mismatch;

/// A model server on 127.0.0.1, living on the current tokio runtime and on its clock.
///
/// Dropping it closes it at once; [`shutdown`](Self::shutdown) lets replies in flight end.
#[derive(Debug)]
pub struct MockServer {
    address: SocketAddr,
    service: Arc<Service>,
    close: watch::Sender<bool>,
    accepting: JoinHandle<()>,
}

impl MockServer {
    /// Starts a server with default options on any free port.
    ///
    /// # Errors
    ///
    /// When no port of 127.0.0.1 can be had.
    pub async fn start(behaviour: impl Behaviour) -> io::Result<Self> {
        Self::start_with(MockOptions::new(), behaviour).await
    }

    /// Starts a server.
    ///
    /// # Errors
    ///
    /// When the port cannot be had.
    pub async fn start_with(options: MockOptions, behaviour: impl Behaviour) -> io::Result<Self> {
        let listener = TcpListener::bind(options.address).await?;
        let address = listener.local_addr()?;
        let (close, closing) = Closing::new();
        let service = Arc::new(Service::new(options, Box::new(behaviour), closing));
        let accepting = tokio::spawn(accept(listener, Arc::clone(&service)));
        Ok(Self {
            address,
            service,
            close,
            accepting,
        })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// `http://127.0.0.1:PORT`: what stands before `/api/chat`.
    pub fn root_url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// `http://127.0.0.1:PORT/v1`: what stands before `/chat/completions`, `/responses` and `/messages`.
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

    /// The requests so far, in the order of arrival, each with what has become of it.
    pub fn requests(&self) -> Vec<RecordedRequest> {
        self.service.log.kept()
    }

    /// Waits until `count` requests have arrived in all and returns all that are there then. Cancel safe.
    pub async fn wait_for_requests(&self, count: usize) -> Vec<RecordedRequest> {
        self.service.log.wait_for_count(count).await;
        self.requests()
    }

    /// Waits until the reply to request `number` (from 0) is over and says how it ended. Cancel safe.
    ///
    /// It waits for a request that has not arrived yet, and for ever on a server that keeps none.
    pub async fn wait_for_outcome(&self, number: usize) -> Outcome {
        self.service.log.wait_for_outcome(number).await
    }

    /// Whether all went as the behaviour planned: its script was played to the end and not beyond, nothing panicked.
    ///
    /// # Errors
    ///
    /// What did not go as planned.
    pub fn verdict(&self) -> Result<(), Mismatch> {
        self.service.verdict()
    }

    /// The same for tests.
    ///
    /// # Panics
    ///
    /// When something did not go as planned.
    #[track_caller]
    pub fn assert_done(&self) {
        let mismatch = self.verdict().err().map(|mismatch| mismatch.to_string());
        assert!(mismatch.is_none(), "mock server: {}", mismatch.unwrap_or_default());
    }

    /// Takes no more connections, lets replies in flight end, and closes. Stalls are cut; a client that does not read
    /// its reply delays the end. Gives back the requests, each with what became of it.
    pub async fn shutdown(mut self) -> Vec<RecordedRequest> {
        self.close.send_replace(true);
        // The task ends by itself now; were it aborted or had it panicked, it would be gone all the same.
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

/// Accepts until the server closes. The connections are this task's: aborting it closes them.
async fn accept(listener: TcpListener, service: Arc<Service>) {
    let mut connections = JoinSet::new();
    let closing = service.closing.clone();
    loop {
        tokio::select! {
            () = closing.told() => break,
            Some(_) = connections.join_next() => {}
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    connections.spawn(connection(stream, Arc::clone(&service)));
                }
                // Most likely out of file descriptors: a moment later there may be one.
                Err(_) => tokio::time::sleep(Duration::from_millis(10)).await,
            },
        }
    }
    drop(listener);
    while connections.join_next().await.is_some() {}
}

async fn connection(stream: TcpStream, service: Arc<Service>) {
    // Without it, small writes would wait for each other; a failure costs only that.
    let _ = stream.set_nodelay(true);
    let closing = service.closing.clone();
    let line = Arc::new(Line::default());
    let socket = TokioIo::new(Socket::new(stream, Arc::clone(&line)));
    let serve = service_fn(move |request| Arc::clone(&service).serve(Arc::clone(&line), request));
    let mut http = pin!(
        http1::Builder::new()
            .auto_date_header(false)
            .serve_connection(socket, serve)
    );
    // An error of a connection is the client's leaving or a fault that was asked for.
    let ended = tokio::select! {
        result = http.as_mut() => Some(result),
        () = closing.told() => None,
    };
    if ended.is_none() {
        http.as_mut().graceful_shutdown();
        let _ = http.await;
    }
}
