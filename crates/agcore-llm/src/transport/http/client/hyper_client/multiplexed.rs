//! [`Multiplexed`]: the client with the connection pool of hyper-util, for servers that may speak HTTP/2.

use std::{future::Future, io};

use bytes::Bytes;
use futures_util::TryFutureExt;
use http::{Request, Response};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper_util::{
    client::legacy,
    rt::{TokioExecutor, TokioTimer},
};

use super::{
    super::{super::failure::Failure, settings::POOL_IDLE_TIMEOUT},
    connector::Connector,
};

/// A client whose connections may be shared by several requests.
pub(super) struct Multiplexed(legacy::Client<Connector, Full<Bytes>>);

impl Multiplexed {
    pub(super) fn new(connector: Connector) -> Self {
        let client = legacy::Client::builder(TokioExecutor::new())
            .timer(TokioTimer::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(POOL_IDLE_TIMEOUT)
            .build(connector);
        Self(client)
    }

    /// Starts to send a request.
    pub(super) fn send(
        &self,
        request: Request<Full<Bytes>>,
    ) -> impl Future<Output = Result<Response<Incoming>, Failure>> + use<> {
        self.0.request(request).map_err(failed)
    }
}

#[cold]
fn failed(error: legacy::Error) -> Failure {
    let is_connect = error.is_connect();
    let mut failure = Failure::new(error, is_connect, false);
    failure.is_timeout = failure.io_kind() == Some(io::ErrorKind::TimedOut);
    failure
}
