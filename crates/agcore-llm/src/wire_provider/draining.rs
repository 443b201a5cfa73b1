//! [`Draining`]: the rest of a body after the wire has decoded the end of the reply.

use std::{
    future::Future,
    pin::Pin,
    task::{Context, Poll, ready},
    time::Duration,
};

use bytes::Bytes;
use futures_core::Stream;
use tokio::time::{Sleep, sleep};

use agcore_wire::LlmError;

/// The longest wait for the rest of a body. A connection whose body was read to the end can be reused, which saves more
/// time than this; most servers send the rest at once.
const MAX_WAIT: Duration = Duration::from_millis(20);

/// The body of a reply.
pub(super) type Body = Pin<Box<dyn Stream<Item = Result<Bytes, LlmError>> + Send>>;

/// The rest of a body after the wire has decoded the end of the reply. It is read and discarded.
pub(super) struct Draining {
    body: Body,
    /// Created when the body is pending for the first time.
    timer: Option<Pin<Box<Sleep>>>,
    end: Option<Result<(), LlmError>>,
}

impl Draining {
    /// Discards the rest of `body`, and then ends with `end`.
    pub(super) fn new(body: Body, end: Result<(), LlmError>) -> Self {
        Self {
            body,
            timer: None,
            end: Some(end),
        }
    }

    /// Returns the end of the reply when the body has ended or [`MAX_WAIT`] has passed.
    pub(super) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), LlmError>> {
        loop {
            match self.body.as_mut().poll_next(cx) {
                Poll::Ready(Some(Ok(_))) => {}
                Poll::Ready(Some(Err(_)) | None) => break,
                Poll::Pending => {
                    let timer = self.timer.get_or_insert_with(|| Box::pin(sleep(MAX_WAIT)));
                    ready!(timer.as_mut().poll(cx));
                    break;
                }
            }
        }
        Poll::Ready(self.end.take().unwrap_or(Ok(())))
    }
}
