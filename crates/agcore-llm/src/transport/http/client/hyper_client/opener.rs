//! [`Opener`]: opens connections to a server or a proxy, with TLS if necessary.

use std::{
    error::Error,
    future::Future,
    io,
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
        }
    }

    pub(super) async fn open(mut self, peer: Uri) -> Result<Connection, BoxError> {
        if !matches!(peer.scheme_str(), Some("http" | "https")) {
            return Err(io::Error::new(io::ErrorKind::Unsupported, "unsupported scheme").into());
        }
        let connection = Connection::plain(self.tcp.call(peer.clone()).await?);
        match &self.tls {
            Some(tls) => encrypt(tls, &peer, connection).await,
            None => Ok(connection),
        }
    }
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
