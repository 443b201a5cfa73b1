//! [`Reply`]: the body of a reply, and the connection on which it arrives.

use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use bytes::Bytes;
use hyper::body::{Body, Frame, Incoming};

use super::{idle::IdleLinks, link::Link};

/// The body of a reply. Dropping it before its end closes the connection.
pub(super) struct Reply {
    /// `None` after the end.
    open: Option<Open>,
    idle: Arc<IdleLinks>,
}

struct Open {
    body: Incoming,
    link: Box<Link>,
    /// Whether the connection knows that the body is wanted.
    is_asked: bool,
}

impl Reply {
    /// Creates the body of a reply on a connection, which returns to the idle ones after its end.
    pub(super) fn new(body: Incoming, link: Box<Link>, idle: Arc<IdleLinks>) -> Self {
        let mut reply = Self {
            open: Some(Open {
                body,
                link,
                is_asked: false,
            }),
            idle,
        };
        reply.end_if_complete();
        reply
    }

    pub(super) fn poll_frame(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let Some(Open { body, link, is_asked }) = &mut self.open else {
            return Poll::Ready(None);
        };
        let asks = !std::mem::replace(is_asked, true);
        let frame = ready!(link.poll(cx, asks, |cx| Pin::new(&mut *body).poll_frame(cx)));
        match frame {
            Some(Ok(_)) => self.end_if_complete(),
            Some(Err(_)) => self.open = None,
            None => self.end(),
        }
        Poll::Ready(frame)
    }

    fn end_if_complete(&mut self) {
        if self.open.as_ref().is_some_and(|open| open.body.is_end_stream()) {
            self.end();
        }
    }

    fn end(&mut self) {
        if let Some(open) = self.open.take() {
            self.idle.put(open.link);
        }
    }
}
