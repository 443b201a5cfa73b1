//! [`Body`]: the chunks of a reply as they arrive, with the idle and the total limit applied.

use std::{
    future::Future,
    pin::{Pin, pin},
    sync::Arc,
    task::{Context, Poll, ready},
};

use bytes::Bytes;
use futures_core::Stream;

use agcore_wire::{LlmError, TimeoutStage};

use super::{error::body_error, timeouts::Timeouts, timer::ExchangeTimer};

/// The body of a reply. Dropping it before its end closes the connection.
pub(super) struct Body {
    response: reqwest::Response,
    timer: ExchangeTimer,
    /// Whether the wait for the next chunk has started.
    waiting: bool,
    ended: bool,
    timeouts: Timeouts,
    origin: Arc<str>,
}

impl Body {
    /// Creates the body of a response from the timer of its exchange.
    pub(super) fn new(response: reqwest::Response, timer: ExchangeTimer, timeouts: Timeouts, origin: Arc<str>) -> Self {
        Self {
            response,
            timer,
            waiting: false,
            ended: false,
            timeouts,
            origin,
        }
    }

    /// Resolves to an error once no chunk has arrived for too long. The wait starts with the first call after a chunk.
    fn poll_timeout(&mut self, cx: &mut Context<'_>) -> Poll<LlmError> {
        if !std::mem::replace(&mut self.waiting, true) {
            self.timer.start(self.timeouts.idle, TimeoutStage::Idle);
        }
        self.timer
            .poll(cx)
            .map(|stage| self.timeouts.error(stage, &self.origin))
    }
}

impl Stream for Body {
    type Item = Result<Bytes, LlmError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = &mut *self;
        if this.ended {
            return Poll::Ready(None);
        }
        // The future has no state of its own: creating one for each poll neither allocates nor loses bytes.
        let chunk = pin!(this.response.chunk()).poll(cx);
        let end = match chunk {
            Poll::Ready(Ok(Some(bytes))) => {
                this.waiting = false;
                return Poll::Ready(Some(Ok(bytes)));
            }
            Poll::Ready(Ok(None)) => None,
            Poll::Ready(Err(error)) => Some(body_error(error, &this.origin)),
            Poll::Pending => Some(ready!(this.poll_timeout(cx))),
        };
        this.ended = true;
        Poll::Ready(end.map(Err))
    }
}
