//! [`Opener`]: opens connections to a server or a proxy, with TLS if necessary.

use std::{
    error::Error,
    future::Future,
    io,
    net::IpAddr,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use http::Uri;
use hyper_util::{client::legacy::connect::HttpConnector, rt::TokioIo};
use rustls::{ClientConfig, pki_types::ServerName};
use tokio_rustls::TlsConnector;
use tower_service::Service;

use super::connection::Connection;

/// The time that a connection may be silent before the system checks whether the peer still exists, and the time between two
/// checks.
const KEEPALIVE: Duration = Duration::from_secs(15);

/// The number of unanswered checks after which a connection is lost.
const KEEPALIVE_RETRIES: u32 = 3;

/// The time that sent data may remain unacknowledged.
#[cfg(any(target_os = "android", target_os = "fuchsia", target_os = "linux"))]
const UNACKNOWLEDGED: Duration = Duration::from_secs(30);

pub(super) type BoxError = Box<dyn Error + Send + Sync>;
pub(super) type Opening = Pin<Box<dyn Future<Output = Result<Connection, BoxError>> + Send>>;

/// Opens connections to a server or a proxy.
#[derive(Clone)]
pub(super) struct Opener {
    /// Resolves hosts and tries all of their addresses.
    tcp: HttpConnector,
    tls: Option<TlsConnector>,
    /// The address to connect to in place of those of the host.
    address: Option<IpAddr>,
}

impl Opener {
    /// Creates an opener of connections that are encrypted if there is a configuration for that. `limit` is divided
    /// among the addresses of a host.
    pub(super) fn new(tls: Option<ClientConfig>, limit: Option<Duration>) -> Self {
        let mut tcp = HttpConnector::new();
        tcp.enforce_http(false);
        tcp.set_nodelay(true);
        tcp.set_connect_timeout(limit);
        tcp.set_keepalive(Some(KEEPALIVE));
        tcp.set_keepalive_interval(Some(KEEPALIVE));
        tcp.set_keepalive_retries(Some(KEEPALIVE_RETRIES));
        #[cfg(any(target_os = "android", target_os = "fuchsia", target_os = "linux"))]
        tcp.set_tcp_user_timeout(Some(UNACKNOWLEDGED));
        Self {
            tcp,
            tls: tls.map(|config| TlsConnector::from(Arc::new(config))),
            address: None,
        }
    }

    /// Sets the address to connect to in place of those of the host.
    pub(super) fn with_address(mut self, address: Option<IpAddr>) -> Self {
        self.address = address;
        self
    }

    pub(super) async fn open(mut self, peer: Uri) -> Result<Connection, BoxError> {
        if !matches!(peer.scheme_str(), Some("http" | "https")) {
            return Err(io::Error::new(io::ErrorKind::Unsupported, "unsupported scheme").into());
        }
        let target = match self.address {
            Some(address) => at_address(&peer, address)?,
            None => peer.clone(),
        };
        let connection = Connection::plain(self.tcp.call(target).await?);
        match &self.tls {
            Some(tls) => encrypt(tls, &peer, connection).await,
            None => Ok(connection),
        }
    }
}

/// Returns the URI with this address in place of the host.
fn at_address(peer: &Uri, address: IpAddr) -> Result<Uri, http::Error> {
    let port = peer.port().map(|port| format!(":{port}")).unwrap_or_default();
    let host = match address {
        IpAddr::V4(address) => address.to_string(),
        IpAddr::V6(address) => format!("[{address}]"),
    };
    let scheme = peer.scheme_str().unwrap_or("http");
    Uri::builder()
        .scheme(scheme)
        .authority(host + &port)
        .path_and_query("/")
        .build()
}

/// Establishes TLS with a peer over a connection that leads to it.
pub(super) async fn encrypt(tls: &TlsConnector, peer: &Uri, connection: Connection) -> Result<Connection, BoxError> {
    let host = peer.host().unwrap_or_default();
    let name = ServerName::try_from(host.trim_start_matches('[').trim_end_matches(']'))?.to_owned();
    let stream = tls.connect(name, TokioIo::new(connection)).await?;
    Ok(Connection::encrypted(stream))
}

impl Service<Uri> for Opener {
    type Response = Connection;
    type Error = BoxError;
    type Future = Opening;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, peer: Uri) -> Opening {
        Box::pin(self.clone().open(peer))
    }
}
