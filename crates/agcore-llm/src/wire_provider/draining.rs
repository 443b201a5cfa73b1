//! [`Draining`]: the rest of a body after the wire saw the reply's end.

use std::{
    future::Future,
    pin::Pin,
    task::{Context, Poll, ready},
    time::Duration,
};

use bytes::Bytes;
use futures_core::Stream;
use tokio::time::{Sleep, sleep};

use crate::error::LlmError;

/// How long the rest is awaited. A connection that was read to its end is used again, which saves more than this; most
/// servers send the rest at once.
const PATIENCE: Duration = Duration::from_millis(20);

/// The body of a reply.
pub(super) type Body = Pin<Box<dyn Stream<Item = Result<Bytes, LlmError>> + Send>>;

/// The rest of a body after the wire saw the reply's end. What it holds is of no interest.
pub(super) struct Draining {
    body: Body,
    /// Made when there is something to wait for.
    patience: Option<Pin<Box<Sleep>>>,
    end: Option<Result<(), LlmError>>,
}

impl Draining {
    /// Lets the rest of this body through before this end.
    pub(super) fn new(body: Body, end: Result<(), LlmError>) -> Self {
        Self {
            body,
            patience: None,
            end: Some(end),
        }
    }

    /// Ready with the end when the body ended, or went on for too long.
    pub(super) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), LlmError>> {
        loop {
            match self.body.as_mut().poll_next(cx) {
                Poll::Ready(Some(Ok(_))) => {}
                Poll::Ready(Some(Err(_)) | None) => break,
                Poll::Pending => {
                    let patience = self.patience.get_or_insert_with(|| Box::pin(sleep(PATIENCE)));
                    ready!(patience.as_mut().poll(cx));
                    break;
                }
            }
        }
        Poll::Ready(self.end.take().unwrap_or(Ok(())))
    }
}
