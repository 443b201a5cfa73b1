//! [`Pool`]: sends requests on idle connections, or on new ones.

use std::{future::poll_fn, io, pin::pin, sync::Arc};

use futures_util::future::Either;
use http::Response;
use hyper::{body::Incoming, client::conn::TrySendError};

use super::{
    super::super::failure::Failure,
    connector::Connector,
    idle::IdleLinks,
    link::{Link, Sent},
};

/// The head of a reply, and the connection on which its body arrives.
pub(super) type Received = (Response<Incoming>, Box<Link>);

/// The connections to a server with HTTP/1.1.
pub(super) struct Pool {
    connector: Connector,
    idle: Arc<IdleLinks>,
}

impl Pool {
    pub(super) fn new(connector: Connector) -> Self {
        Self {
            connector,
            idle: Arc::default(),
        }
    }

    /// Returns the connections that wait for a request.
    pub(super) fn idle(&self) -> &Arc<IdleLinks> {
        &self.idle
    }

    /// Starts to send a request.
    ///
    /// Not an `async fn`, because its future would contain the request until the end.
    pub(super) fn send(self: &Arc<Self>, request: Sent) -> impl Future<Output = Result<Received, Failure>> + use<> {
        let pool = Arc::clone(self);
        let Some(mut link) = self.idle.take(request.uri()) else {
            // Boxed because it is large and rarely needed.
            return Either::Right(Box::pin(async move { pool.send_on_new(request).await }));
        };
        // Boxed because it is large and moves several times before it is polled.
        let response = Box::pin(link.send(request));
        Either::Left(async move {
            match exchange(&mut link, response).await {
                Ok(response) => Ok((response, link)),
                Err(failure) => Box::pin(pool.send_again(*link, failure)).await,
            }
        })
    }

    /// Sends a request again that was not sent: the server may close an idle connection at any time.
    async fn send_again(&self, link: Link, failure: TrySendError<Sent>) -> Result<Received, Failure> {
        let mut request = link.take_back(failure).map_err(failed)?;
        while let Some(mut link) = self.idle.take(request.uri()) {
            let response = link.send(request);
            match exchange(&mut link, response).await {
                Ok(response) => return Ok((response, link)),
                Err(failure) => request = link.take_back(failure).map_err(failed)?,
            }
        }
        self.send_on_new(request).await
    }

    async fn send_on_new(&self, request: Sent) -> Result<Received, Failure> {
        let server = request.uri().clone();
        // Boxed so that its memory, which is most of that of this future, is free again while the request waits for its reply.
        let connection = Box::pin(self.connector.connect(server.clone())).await;
        let connection = connection.map_err(|error| timed(Failure::new(error, true, false)))?;
        let mut link = Link::start(connection, &server).await.map_err(failed)?;
        let response = link.send(request);
        match exchange(&mut link, response).await {
            Ok(response) => Ok((response, link)),
            Err(failure) => Err(failed(failure.into_error())),
        }
    }
}

/// Waits for the head of a reply.
async fn exchange<E>(
    link: &mut Link,
    response: impl Future<Output = Result<Response<Incoming>, E>>,
) -> Result<Response<Incoming>, E> {
    let mut response = pin!(response);
    poll_fn(|cx| link.poll(cx, false, |cx| response.as_mut().poll(cx))).await
}

#[cold]
fn failed(error: hyper::Error) -> Failure {
    timed(Failure::new(error, false, false))
}

fn timed(mut failure: Failure) -> Failure {
    failure.is_timeout = failure.io_kind() == Some(io::ErrorKind::TimedOut);
    failure
}
