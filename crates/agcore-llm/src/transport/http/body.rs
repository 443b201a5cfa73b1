//! [`Body`]: the pieces of a reply as they arrive, under the idle and the total limit.

use std::{
    future::Future,
    pin::{Pin, pin},
    sync::Arc,
    task::{Context, Poll, ready},
};

use bytes::Bytes;
use futures_core::Stream;

use agcore_wire::{LlmError, TimeoutStage};

use super::{alarm::Alarm, error::broken_body, timeouts::Timeouts};

/// The body of a reply. Dropping it in the middle closes the connection.
pub(super) struct Body {
    response: reqwest::Response,
    alarm: Alarm,
    waiting: bool,
    ended: bool,
    timeouts: Timeouts,
    origin: Arc<str>,
}

impl Body {
    /// The body of a response, under the alarm of the exchange.
    pub(super) fn new(response: reqwest::Response, alarm: Alarm, timeouts: Timeouts, origin: Arc<str>) -> Self {
        Self {
            response,
            alarm,
            waiting: false,
            ended: false,
            timeouts,
            origin,
        }
    }

    /// Ready when nothing came for too long. The wait begins with the first call after a piece.
    fn poll_alarm(&mut self, cx: &mut Context<'_>) -> Poll<LlmError> {
        if !std::mem::replace(&mut self.waiting, true) {
            self.alarm.set(self.timeouts.idle, TimeoutStage::Idle);
        }
        self.alarm
            .poll(cx)
            .map(|stage| self.timeouts.expired(stage, &self.origin))
    }
}

impl Stream for Body {
    type Item = Result<Bytes, LlmError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = &mut *self;
        if this.ended {
            return Poll::Ready(None);
        }
        // The future keeps nothing between polls: a new one each time costs no allocation and loses no bytes.
        let chunk = pin!(this.response.chunk()).poll(cx);
        let end = match chunk {
            Poll::Ready(Ok(Some(bytes))) => {
                this.waiting = false;
                return Poll::Ready(Some(Ok(bytes)));
            }
            Poll::Ready(Ok(None)) => None,
            Poll::Ready(Err(error)) => Some(broken_body(error, &this.origin)),
            Poll::Pending => Some(ready!(this.poll_alarm(cx))),
        };
        this.ended = true;
        Poll::Ready(end.map(Err))
    }
}
