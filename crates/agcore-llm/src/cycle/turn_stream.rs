//! [`TurnStream`]: a turn that tells what happens while it runs.

use std::{
    fmt,
    pin::Pin,
    task::{Context, Poll},
};

use agcore_chat::StreamEvent;
use futures_core::Stream;
use futures_util::StreamExt;

use super::{observer::Observer, turn::TurnOutcome};
use crate::error::LlmError;

/// The events of a turn. It polls the driver's own future and drains what that tells: no task, no second loop. Dropping it
/// is cancelling the turn.
///
/// Read the events, then [`finish`](Self::finish).
#[must_use = "a turn does nothing unless its stream is polled"]
pub struct TurnStream<'a, R = Result<TurnOutcome, LlmError>> {
    observer: Observer,
    state: State<'a, R>,
}

enum State<'a, R> {
    Running(Pin<Box<dyn Future<Output = R> + Send + 'a>>),
    Over(R),
}

impl<'a, R> TurnStream<'a, R> {
    /// A stream of what `turn` tells its observer while it runs.
    pub fn of<F>(turn: impl FnOnce(Observer) -> F) -> Self
    where
        F: Future<Output = R> + Send + 'a,
    {
        let observer = Observer::new();
        Self {
            state: State::Running(Box::pin(turn(observer.clone()))),
            observer,
        }
    }

    /// Runs what is left of the turn, passes its events over, and gives what it came to.
    pub async fn finish(mut self) -> R
    where
        R: Unpin,
    {
        loop {
            while self.next().await.is_some() {}
            if let State::Over(outcome) = self.state {
                return outcome;
            }
        }
    }
}

impl<R: Unpin> Stream for TurnStream<'_, R> {
    type Item = StreamEvent;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<StreamEvent>> {
        let this = self.get_mut();
        if let Some(event) = this.observer.pop() {
            return Poll::Ready(Some(event));
        }
        let State::Running(future) = &mut this.state else {
            return Poll::Ready(None);
        };
        match future.as_mut().poll(cx) {
            Poll::Ready(outcome) => {
                this.state = State::Over(outcome);
                Poll::Ready(this.observer.pop())
            }
            Poll::Pending => this.observer.poll_pop(cx).map(Some),
        }
    }
}

impl<R> fmt::Debug for TurnStream<'_, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TurnStream")
            .field("over", &matches!(self.state, State::Over(_)))
            .finish_non_exhaustive()
    }
}
