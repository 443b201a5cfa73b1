//! [`Connector`]: opens the connections of the pool, directly or through a proxy, within the limit on connecting.

#[cfg(feature = "http2")]
use std::task::{Context, Poll};
use std::{io, sync::Arc, time::Duration};

use http::{HeaderMap, HeaderValue, Uri, header};
use hyper_util::client::{
    legacy::connect::proxy::Tunnel,
    proxy::matcher::{Intercept, Matcher},
};
use rustls::ClientConfig;
use tokio_rustls::TlsConnector;
use tower_service::Service;
use url::Position;

use agcore_wire::LlmError;

use super::{
    super::{
        super::{base_url::BaseUrl, proxy, route::ProxyRoute, tls},
        settings::ClientSettings,
    },
    connection::Connection,
    opener::{BoxError, Opener, encrypt},
};

/// Opens connections to one server.
#[derive(Clone)]
pub(super) struct Connector {
    route: Arc<Route>,
    /// The limit on resolving the host, connecting, opening a tunnel and TLS together.
    limit: Option<Duration>,
}

/// The way to the server.
enum Route {
    Direct(Opener),
    /// The proxy receives the requests and forwards them.
    Forwarded {
        proxy: Uri,
        opener: Opener,
    },
    /// The proxy opens a tunnel, through which TLS is spoken with the server.
    Tunnel {
        tunnel: Tunnel<Opener>,
        tls: TlsConnector,
    },
}

impl Connector {
    /// Creates a connector, and returns it with the headers that requests need because of their way to the server.
    pub(super) fn new(settings: &ClientSettings<'_>) -> Result<(Self, HeaderMap), LlmError> {
        let limit = settings.options.timeouts.connect;
        let config = |is_secure| match is_secure {
            true => tls::client_config(true, &settings.options.tls).map(Some),
            false => Ok(None),
        };
        let server = config(settings.base.is_secure())?;
        let mut headers = host(settings.base);
        let route = match settings.proxy {
            None => Route::Direct(Opener::new(server, limit).with_address(settings.options.address)),
            Some(proxy) => {
                let address = address(proxy, settings.base).ok_or_else(proxy::invalid)?;
                let opener = Opener::new(config(proxy.is_secure())?.map(without_http2), limit);
                match server {
                    Some(server) => Route::Tunnel {
                        tunnel: tunnel(&address, opener, settings.headers.get(header::USER_AGENT)),
                        tls: TlsConnector::from(Arc::new(server)),
                    },
                    None => {
                        let password = address.basic_auth().cloned();
                        headers.extend(password.map(|password| (header::PROXY_AUTHORIZATION, password)));
                        Route::Forwarded {
                            proxy: address.uri().clone(),
                            opener,
                        }
                    }
                }
            }
        };
        let route = Arc::new(route);
        Ok((Self { route, limit }, headers))
    }

    /// Opens a connection to a server, within the limit.
    pub(super) async fn connect(&self, server: Uri) -> Result<Connection, BoxError> {
        let connecting = self.route.connect(server);
        match self.limit {
            None => connecting.await,
            Some(limit) => match tokio::time::timeout(limit, connecting).await {
                Ok(connection) => connection,
                Err(_) => Err(io::Error::from(io::ErrorKind::TimedOut).into()),
            },
        }
    }
}

/// Returns the header `Host`, unless the pool must set it because HTTP/2 does not use it.
fn host(base: &BaseUrl) -> HeaderMap {
    let may_be_http2 = cfg!(feature = "http2") && base.is_secure();
    let host = &base.url()[Position::BeforeHost..Position::AfterPort];
    let host = HeaderValue::from_str(host).ok().filter(|_| !may_be_http2);
    host.into_iter().map(|host| (header::HOST, host)).collect()
}

/// Returns the address of a proxy, and its user name and password as a header.
fn address(proxy: &ProxyRoute, base: &BaseUrl) -> Option<Intercept> {
    let matcher = Matcher::builder().all(proxy.url().expose()).build();
    matcher.intercept(&base.origin().parse().ok()?)
}

fn tunnel(address: &Intercept, opener: Opener, user_agent: Option<&HeaderValue>) -> Tunnel<Opener> {
    let mut tunnel = Tunnel::new(address.uri().clone(), opener);
    if let Some(password) = address.basic_auth() {
        tunnel = tunnel.with_auth(password.clone());
    }
    match user_agent {
        Some(user_agent) => tunnel.with_headers(HeaderMap::from_iter([(header::USER_AGENT, user_agent.clone())])),
        None => tunnel,
    }
}

/// Only HTTP/1.1 is spoken with proxies.
fn without_http2(mut config: ClientConfig) -> ClientConfig {
    config.alpn_protocols.clear();
    config
}

impl Route {
    async fn connect(&self, server: Uri) -> Result<Connection, BoxError> {
        match self {
            Self::Direct(opener) => opener.clone().open(server).await,
            Self::Forwarded { proxy, opener } => {
                let connection = opener.clone().open(proxy.clone()).await?;
                Ok(connection.forwarding())
            }
            Self::Tunnel { tunnel, tls } => {
                let connection = tunnel.clone().call(server.clone()).await?;
                encrypt(tls, &server, connection).await
            }
        }
    }
}

#[cfg(feature = "http2")]
impl Service<Uri> for Connector {
    type Response = Connection;
    type Error = BoxError;
    type Future = super::opener::Opening;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, server: Uri) -> Self::Future {
        let connector = self.clone();
        Box::pin(async move { connector.connect(server).await })
    }
}
