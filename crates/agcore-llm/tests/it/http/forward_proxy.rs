//! A forward proxy on loopback: it forwards plain requests and opens tunnels, always to the same server.

use std::sync::{Arc, Mutex};

use super::raw_server::RawServer;

/// A proxy that records the first line of every request. Stops when dropped.
pub(crate) struct ForwardProxy {
    server: RawServer,
    lines: Arc<Mutex<Vec<String>>>,
}

impl ForwardProxy {
    /// Starts a proxy that sends everything to this address, whatever host is asked for.
    pub(crate) async fn to(address: &str) -> Self {
        let address = address.to_owned();
        let lines = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&lines);
        let server = RawServer::start(move |mut connection| {
            let (address, seen) = (address.clone(), Arc::clone(&seen));
            async move {
                let request = connection.request().await.unwrap();
                let line = request.head.lines().next().unwrap().to_owned();
                let is_tunnel = line.starts_with("connect ");
                seen.lock().unwrap().push(line);
                let mut first = Vec::new();
                if is_tunnel {
                    connection.send("HTTP/1.1 200 Connection established\r\n\r\n").await;
                } else {
                    first = [request.head.as_bytes(), &request.body].concat();
                }
                connection.tunnel(&address, &first).await;
            }
        })
        .await;
        Self { server, lines }
    }

    pub(crate) fn url(&self) -> String {
        self.server.origin()
    }

    /// Returns the first lines of all requests, in lower case.
    pub(crate) fn lines(&self) -> Vec<String> {
        self.lines.lock().unwrap().clone()
    }
}
