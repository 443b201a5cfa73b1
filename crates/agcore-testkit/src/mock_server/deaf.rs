//! An address at which nobody answers the phone.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};

use tokio::net::{TcpListener, TcpSocket, TcpStream};

/// A port of 127.0.0.1 to which no connection comes about: a client waits until its own limit. For connect timeouts.
///
/// It listens with the shortest queue there is, fills it, and takes nobody in. Linux then leaves further calls
/// unanswered (tcp(7), listen(2)); on other systems a call may be put through and nobody says a word.
#[derive(Debug)]
pub struct DeafServer {
    address: SocketAddr,
    _listener: TcpListener,
    _caller: TcpStream,
}

impl DeafServer {
    /// Opens the port.
    ///
    /// # Errors
    ///
    /// When no port of 127.0.0.1 can be had.
    pub async fn start() -> io::Result<Self> {
        let socket = TcpSocket::new_v4()?;
        socket.bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))?;
        let listener = socket.listen(0)?;
        let address = listener.local_addr()?;
        let caller = TcpStream::connect(address).await?;
        Ok(Self {
            address,
            _listener: listener,
            _caller: caller,
        })
    }

    /// Where it does not answer.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// `http://127.0.0.1:PORT/v1`, as [`MockServer::base_url`](super::MockServer::base_url).
    pub fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }
}
