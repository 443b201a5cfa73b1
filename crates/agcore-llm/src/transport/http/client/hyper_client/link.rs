//! [`Link`]: a connection with HTTP/1.1, driven by the task that waits for its reply.

use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, Waker},
};

use bytes::Bytes;
use http::{Request, Response, Uri, uri};
use http_body_util::Full;
use hyper::{
    body::Incoming,
    client::conn::{TrySendError, http1},
};
use tokio::time::Instant;

use super::{connection::Connection, relay::Relay};

/// The number of times that the connection and its reader may wake each other in one poll, so that other tasks get their turn.
const ROUNDS: u32 = 4;

pub(super) type Sent = Request<Full<Bytes>>;

/// A connection for one request at a time.
///
/// It has no task of its own: the caller that waits for the reply [polls](Self::poll) it. So a chunk does not wake two tasks,
/// perhaps on two threads, one after the other. While it is idle, nothing is read from it.
pub(super) struct Link {
    /// `None` once it has ended.
    connection: Option<http1::Connection<Connection, Full<Bytes>>>,
    sender: http1::SendRequest<Full<Bytes>>,
    relay: Arc<Relay>,
    /// The waker that belongs to the relay.
    waker: Waker,
    /// The server.
    peer: Peer,
    /// Whether requests contain the whole URL, for a proxy that forwards them.
    forwards: bool,
    /// The moment at which the last reply was complete.
    pub(super) idle_since: Instant,
}

/// The server of a connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Peer {
    scheme: Option<uri::Scheme>,
    authority: Option<uri::Authority>,
}

impl Peer {
    fn of(uri: &Uri) -> Self {
        Self {
            scheme: uri.scheme().cloned(),
            authority: uri.authority().cloned(),
        }
    }

    fn is_of(&self, uri: &Uri) -> bool {
        let (own, other) = (self.authority.as_ref(), uri.authority());
        // Usually they are the same text, whose comparison is cheaper than one that ignores case.
        let is_same_text = own.map(uri::Authority::as_str) == other.map(uri::Authority::as_str);
        (is_same_text || own == other) && self.scheme.as_ref() == uri.scheme()
    }

    /// Returns the whole URL of a path.
    fn url(self, path: &Uri) -> Result<Uri, uri::InvalidUriParts> {
        let mut parts = uri::Parts::default();
        (parts.scheme, parts.authority) = (self.scheme, self.authority);
        parts.path_and_query = path.path_and_query().cloned();
        Uri::from_parts(parts)
    }
}

impl Link {
    /// Starts HTTP on a connection to the server of a URL.
    pub(super) async fn start(connection: Connection, server: &Uri) -> Result<Box<Self>, hyper::Error> {
        let forwards = connection.forwards();
        let (sender, connection) = http1::handshake(connection).await?;
        let relay = Arc::<Relay>::default();
        Ok(Box::new(Self {
            connection: Some(connection),
            sender,
            waker: Waker::from(Arc::clone(&relay)),
            relay,
            peer: Peer::of(server),
            forwards,
            idle_since: Instant::now(),
        }))
    }

    /// Returns whether the connection leads to the server of a URL.
    pub(super) fn leads_to(&self, uri: &Uri) -> bool {
        self.peer.is_of(uri)
    }

    /// Returns whether the next request can be sent.
    pub(super) fn is_ready(&self) -> bool {
        self.connection.is_some() && self.sender.is_ready()
    }

    /// Hands a request to the connection, which sends it when it is polled. An error contains the request if nothing of it was
    /// sent.
    pub(super) fn send(
        &mut self,
        mut request: Sent,
    ) -> impl Future<Output = Result<Response<Incoming>, TrySendError<Sent>>> + use<> {
        if !self.forwards {
            *request.uri_mut() = path_of(request.uri());
        }
        self.sender.try_send_request(request)
    }

    /// Takes the request of a failure back, if nothing of it was sent.
    pub(super) fn take_back(self, mut failure: TrySendError<Sent>) -> Result<Sent, hyper::Error> {
        let Some(mut request) = failure.take_message() else {
            return Err(failure.into_error());
        };
        match self.peer.url(request.uri()) {
            Ok(url) => *request.uri_mut() = url,
            Err(_) => return Err(failure.into_error()),
        }
        Ok(request)
    }

    /// Polls the connection, and then a future or a stream that depends on it. With `asks`, what depends on it is also polled
    /// before, because the connection waits to be asked.
    pub(super) fn poll<T>(
        &mut self,
        cx: &mut Context<'_>,
        asks: bool,
        mut poll: impl FnMut(&mut Context<'_>) -> Poll<T>,
    ) -> Poll<T> {
        for round in 0..ROUNDS {
            self.relay.start();
            let mut own = Context::from_waker(&self.waker);
            let mut polled = Poll::Pending;
            if asks && round == 0 {
                polled = poll(&mut own);
            }
            if polled.is_pending() {
                advance(&mut self.connection, &mut own);
                polled = poll(&mut own);
            }
            if polled.is_ready() {
                self.relay.end();
                return polled;
            }
            if !self.relay.wait(cx.waker()) {
                return Poll::Pending;
            }
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    /// Ends an exchange: nothing wakes its task any more.
    pub(super) fn rest(&mut self) {
        self.relay.forget();
        self.idle_since = Instant::now();
    }

    /// Lets the connection finish what it can do at once, such as noticing that the server has closed it.
    pub(super) fn settle(&mut self) {
        advance(&mut self.connection, &mut Context::from_waker(Waker::noop()));
    }

    /// Closes an idle connection: with TLS, the server is notified.
    pub(super) fn close(self) {
        let Self {
            mut connection, sender, ..
        } = self;
        drop(sender);
        advance(&mut connection, &mut Context::from_waker(Waker::noop()));
    }
}

/// Polls a connection, and drops it if it has ended: that passes its errors on to the tasks that wait for it.
fn advance(connection: &mut Option<http1::Connection<Connection, Full<Bytes>>>, cx: &mut Context<'_>) {
    if connection
        .as_mut()
        .is_some_and(|connection| Pin::new(connection).poll(cx).is_ready())
    {
        *connection = None;
    }
}

/// Returns a URL without scheme and host, as servers expect it.
fn path_of(uri: &Uri) -> Uri {
    uri.path_and_query()
        .map(|path| Uri::from(path.clone()))
        .unwrap_or_default()
}
