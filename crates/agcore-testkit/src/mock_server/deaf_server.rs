//! [`DeafServer`]: an address that never accepts a connection.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};

use tokio::net::{TcpListener, TcpSocket, TcpStream};

/// A port of 127.0.0.1 that never accepts a connection, so a client waits until its own connect timeout.
///
/// It listens with the shortest possible backlog, fills it, and never accepts. Linux then ignores further connection
/// attempts (tcp(7), listen(2)); other systems may establish the connection, but no data is ever sent.
///
/// ```
/// # #[cfg(target_os = "linux")]
/// # tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap().block_on(async {
/// use std::time::Duration;
/// use agcore_testkit::mock_server::DeafServer;
/// use tokio::{net::TcpStream, time::timeout};
///
/// let server = DeafServer::start().await.unwrap();
/// assert!(timeout(Duration::from_secs(5), TcpStream::connect(server.address())).await.is_err());
/// # });
/// ```
#[derive(Debug)]
pub struct DeafServer {
    address: SocketAddr,
    _listener: TcpListener,
    _backlogged: TcpStream,
}

impl DeafServer {
    /// Opens the port.
    ///
    /// # Errors
    ///
    /// Returns an error if no port of 127.0.0.1 is available.
    pub async fn start() -> io::Result<Self> {
        let socket = TcpSocket::new_v4()?;
        socket.bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))?;
        let listener = socket.listen(0)?;
        let address = listener.local_addr()?;
        let backlogged = TcpStream::connect(address).await?;
        Ok(Self {
            address,
            _listener: listener,
            _backlogged: backlogged,
        })
    }

    /// Returns the address of the port.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns `http://127.0.0.1:PORT/v1`, like [`MockServer::base_url`](crate::mock_server::MockServer::base_url).
    pub fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }
}
