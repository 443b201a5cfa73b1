//! [`Body`]: the chunks of a reply as they arrive, with the idle and the total limit applied.

use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use bytes::Bytes;
use futures_core::Stream;

use agcore_wire::{LlmError, TimeoutStage};

use super::{content::Content, error::body_error, timeouts::Timeouts, timer::ExchangeTimer};

/// The body of a reply. Dropping it before its end closes the connection.
pub(super) struct Body {
    content: Content,
    timer: ExchangeTimer,
    /// Whether the wait for the next chunk has started.
    waiting: bool,
    ended: bool,
    timeouts: Timeouts,
    origin: Arc<str>,
}

impl Body {
    /// Creates the body of a reply from the timer of its exchange.
    pub(super) fn new(content: Content, timer: ExchangeTimer, timeouts: Timeouts, origin: Arc<str>) -> Self {
        Self {
            content,
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
        let end = match this.content.poll_next(cx) {
            Poll::Ready(Some(Ok(bytes))) => {
                this.waiting = false;
                return Poll::Ready(Some(Ok(bytes)));
            }
            Poll::Ready(None) => None,
            Poll::Ready(Some(Err(failure))) => Some(body_error(failure, &this.origin)),
            Poll::Pending => Some(ready!(this.poll_timeout(cx))),
        };
        this.ended = true;
        Poll::Ready(end.map(Err))
    }
}
