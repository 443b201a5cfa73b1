//! [`Body`]: the pieces of a reply as they arrive, under the idle and the total limit.

use std::{
    future::Future,
    pin::{Pin, pin},
    sync::Arc,
    task::{Context, Poll, ready},
};

use bytes::Bytes;
use futures_core::Stream;
use tokio::time::{Instant, Sleep, sleep_until};

use crate::error::{LlmError, TimeoutStage};

use super::{error::broken_body, timeouts::Timeouts};

/// The body of a reply. Dropping it in the middle closes the connection.
pub(super) struct Body {
    response: reqwest::Response,
    /// Made when the first wait begins, then moved on.
    alarm: Option<Pin<Box<Sleep>>>,
    waiting: bool,
    ended: bool,
    timeouts: Timeouts,
    deadline: Option<Instant>,
    origin: Arc<str>,
}

impl Body {
    pub(super) fn new(
        response: reqwest::Response,
        timeouts: Timeouts,
        deadline: Option<Instant>,
        origin: Arc<str>,
    ) -> Self {
        Self {
            response,
            alarm: None,
            waiting: false,
            ended: false,
            timeouts,
            deadline,
            origin,
        }
    }

    /// Ready when nothing came for too long. The wait begins with the first call after a piece.
    fn poll_alarm(&mut self, cx: &mut Context<'_>) -> Poll<LlmError> {
        if !std::mem::replace(&mut self.waiting, true) {
            let idle = self.timeouts.idle.map(|limit| Instant::now() + limit);
            let Some(at) = idle.into_iter().chain(self.deadline).min() else {
                return Poll::Pending;
            };
            match &mut self.alarm {
                Some(alarm) => alarm.as_mut().reset(at),
                None => self.alarm = Some(Box::pin(sleep_until(at))),
            }
        }
        let Some(alarm) = &mut self.alarm else {
            return Poll::Pending;
        };
        ready!(alarm.as_mut().poll(cx));
        let overdue = self.deadline.is_some_and(|deadline| alarm.deadline() >= deadline);
        let stage = if overdue {
            TimeoutStage::Total
        } else {
            TimeoutStage::Idle
        };
        Poll::Ready(self.timeouts.expired(stage, &self.origin))
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
