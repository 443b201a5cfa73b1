//! A receiver of messages on loopback.

use std::{
    collections::VecDeque,
    convert::Infallible,
    net::SocketAddr,
    sync::{Arc, Mutex},
};

use agcore_chat::{Clock, SystemClock};
use agcore_webhook::SigningSecret;
use bytes::Bytes;
use futures_util::stream;
use http::{HeaderMap, Request, Response};
use http_body_util::{BodyExt, Full, StreamBody, combinators::UnsyncBoxBody};
use hyper::{
    body::{Frame, Incoming},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::{
    net::TcpListener,
    sync::{Notify, mpsc},
    task::JoinHandle,
};

/// An answer to a message.
pub(super) enum Reply {
    Status(u16),
    /// A status with a header and a text.
    With(u16, &'static str, String),
    /// The status 200, when [`Receiver::release`] is called.
    Held,
    /// The status 200 with a body that never ends.
    Endless,
}

/// A message that was received.
#[derive(Debug, Clone)]
pub(super) struct Received {
    pub(super) headers: HeaderMap,
    pub(super) body: String,
}

impl Received {
    pub(super) fn header(&self, name: &str) -> &str {
        self.headers[name].to_str().unwrap()
    }

    pub(super) fn id(&self) -> &str {
        self.header("webhook-id")
    }

    pub(super) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }

    /// Returns whether the message was signed with a secret.
    pub(super) fn is_signed_with(&self, secret: &str) -> bool {
        let secret = SigningSecret::parse(secret).unwrap();
        let signature = (
            self.id(),
            self.header("webhook-timestamp"),
            self.header("webhook-signature"),
        );
        let now = SystemClock::new().now().into();
        secret.verify(signature, self.body.as_bytes(), now).is_ok()
    }
}

/// A server that answers with the given replies, and with the status 200 after that.
pub(super) struct Receiver {
    pub(super) address: SocketAddr,
    received: mpsc::UnboundedReceiver<Received>,
    ended: mpsc::UnboundedReceiver<()>,
    release: Arc<Notify>,
    task: JoinHandle<()>,
}

impl Receiver {
    pub(super) async fn start<const N: usize>(replies: [Reply; N]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let ((sender, received), (ends, ended)) = (mpsc::unbounded_channel(), mpsc::unbounded_channel());
        let release = Arc::new(Notify::new());
        let held = Arc::clone(&release);
        let replies = Arc::new(Mutex::new(VecDeque::from(replies)));
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (sender, ends) = (sender.clone(), ends.clone());
                let (replies, held) = (Arc::clone(&replies), Arc::clone(&held));
                let service = service_fn(move |request| {
                    let reply = replies.lock().unwrap().pop_front().unwrap_or(Reply::Status(200));
                    answer(request, reply, sender.clone(), Arc::clone(&held))
                });
                tokio::spawn(async move {
                    drop(
                        http1::Builder::new()
                            .serve_connection(TokioIo::new(stream), service)
                            .await,
                    );
                    // The test may be over.
                    let _ = ends.send(());
                });
            }
        });
        Self {
            address,
            received,
            ended,
            release,
            task,
        }
    }

    /// Returns the URL of the receiver.
    pub(super) fn url(&self) -> String {
        format!("http://{}/hook?key=hidden", self.address)
    }

    /// Returns the next message.
    pub(super) async fn next(&mut self) -> Received {
        self.received.recv().await.unwrap()
    }

    /// Returns whether no further message has arrived.
    pub(super) fn is_quiet(&mut self) -> bool {
        self.received.try_recv().is_err()
    }

    /// Waits until a connection has ended.
    pub(super) async fn end(&mut self) {
        self.ended.recv().await.unwrap();
    }

    /// Answers a message that is held.
    pub(super) fn release(&self) {
        self.release.notify_one();
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.task.abort();
    }
}

type Body = UnsyncBoxBody<Bytes, Infallible>;

async fn answer(
    request: Request<Incoming>,
    reply: Reply,
    sender: mpsc::UnboundedSender<Received>,
    held: Arc<Notify>,
) -> Result<Response<Body>, Infallible> {
    let (head, body) = request.into_parts();
    assert_eq!((head.method.as_str(), head.uri.path()), ("POST", "/hook"));
    let body = body.collect().await.unwrap().to_bytes().to_vec();
    let body = String::from_utf8(body).unwrap();
    drop(sender.send(Received {
        headers: head.headers,
        body,
    }));
    let text = |text: String| Full::new(Bytes::from(text)).boxed_unsync();
    let (status, body) = match reply {
        Reply::Status(status) => (status, text("The answer of the receiver.".to_owned())),
        Reply::With(status, name, value) => {
            let response = Response::builder().status(status).header(name, value);
            return Ok(response.body(text("The answer of the receiver.".to_owned())).unwrap());
        }
        Reply::Held => {
            held.notified().await;
            (200, text(String::new()))
        }
        Reply::Endless => {
            let piece = || Ok(Frame::data(Bytes::from_static(&[b'x'; 4096])));
            let pieces = stream::repeat_with(piece);
            (200, StreamBody::new(pieces).boxed_unsync())
        }
    };
    Ok(Response::builder().status(status).body(body).unwrap())
}
