//! A server on loopback that controls every byte, for behavior that ordinary servers do not have.

use std::{
    future::Future,
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    task::JoinHandle,
};

/// A server whose connections are served by a function. Stops when dropped.
pub(crate) struct RawServer {
    address: SocketAddr,
    connections: Arc<AtomicUsize>,
    task: JoinHandle<()>,
}

impl RawServer {
    pub(crate) async fn start<F, R>(serve: F) -> Self
    where
        F: Fn(Connection) -> R + Send + 'static,
        R: Future<Output = ()> + Send + 'static,
    {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let connections = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&connections);
        let task = tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                stream.set_nodelay(true).unwrap();
                let number = count.fetch_add(1, Ordering::SeqCst);
                tokio::spawn(serve(Connection { stream, number }));
            }
        });
        Self {
            address,
            connections,
            task,
        }
    }

    /// Starts a server that replies to every request with these bytes.
    pub(crate) async fn answering(reply: impl Into<Vec<u8>>) -> Self {
        let reply = Arc::new(reply.into());
        Self::start(move |mut connection| {
            let reply = Arc::clone(&reply);
            async move {
                while connection.request().await.is_some() {
                    connection.send(reply.as_slice()).await;
                }
            }
        })
        .await
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    pub(crate) fn origin(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Returns the number of accepted connections.
    pub(crate) fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }
}

impl Drop for RawServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

pub(crate) struct Connection {
    stream: TcpStream,
    /// The number of connections before this one.
    pub(crate) number: usize,
}

/// A received request.
pub(crate) struct Request {
    /// The head in lower case.
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl Request {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head
            .lines()
            .find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
    }
}

impl Connection {
    /// Returns the next request, or `None` if the peer closed the connection.
    pub(crate) async fn request(&mut self) -> Option<Request> {
        let mut bytes = Vec::new();
        let end = loop {
            if let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
                break end + 4;
            }
            if self.stream.read_buf(&mut bytes).await.ok()? == 0 {
                return None;
            }
        };
        let body = bytes.split_off(end);
        let mut request = Request {
            head: String::from_utf8(bytes).unwrap().to_lowercase(),
            body,
        };
        let length = request
            .header("content-length")
            .map_or(0, |length| length.parse().unwrap());
        while request.body.len() < length {
            assert_ne!(self.stream.read_buf(&mut request.body).await.ok()?, 0);
        }
        Some(request)
    }

    pub(crate) async fn send(&mut self, bytes: impl AsRef<[u8]>) {
        // The peer may have closed the connection already, which the test checks if it matters.
        let _ = self.stream.write_all(bytes.as_ref()).await;
    }

    /// Receives some bytes.
    pub(crate) async fn receive(&mut self) {
        let _ = self.stream.read(&mut [0; 1024]).await;
    }

    /// Waits until the peer closes the connection.
    pub(crate) async fn closed(&mut self) {
        let mut rest = [0; 1024];
        while self.stream.read(&mut rest).await.is_ok_and(|read| read > 0) {}
    }

    /// Sends these bytes to an address and then passes on everything in both directions.
    pub(crate) async fn tunnel(mut self, address: &str, first: &[u8]) {
        let mut upstream = TcpStream::connect(address).await.unwrap();
        upstream.write_all(first).await.unwrap();
        // Either peer may close or reset its connection.
        let _ = tokio::io::copy_bidirectional(&mut self.stream, &mut upstream).await;
    }

    /// Resets the connection instead of closing it.
    pub(crate) fn reset(self) {
        self.stream.set_zero_linger().unwrap();
    }
}

/// Returns a complete reply with its length.
pub(crate) fn whole(status: &str, body: &str) -> String {
    format!(
        "HTTP/1.1 {status}\r\nx-request-id: req-7\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
}

/// The head of a reply with a chunked body.
pub(crate) const CHUNKED: &str = "HTTP/1.1 200 OK\r\nx-request-id: req-7\r\ntransfer-encoding: chunked\r\n\r\n";

/// The end of a chunked body.
pub(crate) const LAST_CHUNK: &str = "0\r\n\r\n";

pub(crate) fn chunk(data: &str) -> String {
    format!("{:x}\r\n{data}\r\n", data.len())
}
