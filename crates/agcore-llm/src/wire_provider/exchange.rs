//! [`Exchange`]: one request and its reply, as a stream of what the wire reads.

use std::{
    future::Future,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use futures_core::Stream;

use crate::{
    error::LlmError,
    transport::Transport,
    wire::{Decoder, Operation, ReplyHead, WireRequest},
};

use super::{
    draining::Draining,
    interrupt::Interrupt,
    reading::{Outcome, Reading},
};

/// What comes out of an exchange.
#[derive(Debug)]
pub(super) enum Step<T> {
    /// Something was read.
    Item(T),
    /// The end, once.
    End(Result<(), LlmError>),
}

/// One request and its reply. Nothing is sent before the first poll; dropping it closes the connection.
pub(super) struct Exchange<O: Operation> {
    state: State<O>,
    /// Read and not yet handed out, the next one last.
    items: Vec<O::Item>,
    interrupt: Interrupt,
}

type Opening<O> = Pin<Box<dyn Future<Output = Result<Reading<O>, LlmError>> + Send>>;

enum State<O: Operation> {
    /// On its way to the head of the reply.
    Opening(Opening<O>),
    /// In the body.
    Reading(Reading<O>),
    /// The wire has read everything; what is left of the body is let through.
    Draining(Draining),
    /// All is known; items may still be waiting.
    Ending(Result<(), LlmError>),
    Ended,
}

impl<O: Operation> Exchange<O> {
    /// Sends what `encode` gives and reads the reply with what `decoder` makes for its head.
    pub(super) fn new(
        encode: impl FnOnce() -> Result<WireRequest, LlmError> + Send + 'static,
        decoder: impl FnOnce(&ReplyHead) -> Box<dyn Decoder<O>> + Send + 'static,
        transport: Arc<dyn Transport>,
        stream: bool,
        interrupt: Interrupt,
    ) -> Self {
        let opening = async move {
            // By a name of its own, so that the future has no room for it once it is sent.
            let request = encode()?;
            let reply = transport.send(request, stream).await?;
            let decoder = decoder(&reply.head);
            Ok(Reading::new(reply, decoder))
        };
        Self {
            state: State::Opening(Box::pin(opening)),
            items: Vec::new(),
            interrupt,
        }
    }

    /// Goes one step further.
    fn poll_state(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let is_open = matches!(self.state, State::Opening(_) | State::Reading(_));
        if is_open && let Poll::Ready(error) = self.interrupt.poll_now(cx) {
            self.interrupted(error);
            return Poll::Ready(());
        }
        let went = self.poll_work(cx);
        // A reply that is whole is not interrupted any more.
        if went.is_pending()
            && is_open
            && let Poll::Ready(error) = self.interrupt.poll_wait(cx)
        {
            self.interrupted(error);
            return Poll::Ready(());
        }
        went
    }

    fn poll_work(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        match &mut self.state {
            State::Opening(opening) => {
                self.state = match ready!(opening.as_mut().poll(cx)) {
                    Ok(reading) => State::Reading(reading),
                    Err(error) => State::Ending(Err(error)),
                };
            }
            State::Reading(reading) => {
                let outcome = ready!(reading.poll(cx, &mut self.items));
                self.items.reverse();
                match outcome {
                    Outcome::More => {}
                    Outcome::Whole(end) => self.drain(end),
                    Outcome::Over(end) => self.state = State::Ending(end),
                }
            }
            State::Draining(draining) => {
                let end = ready!(draining.poll(cx));
                self.state = State::Ending(end);
            }
            State::Ending(_) | State::Ended => {}
        }
        Poll::Ready(())
    }

    /// The exchange ends from our side.
    fn interrupted(&mut self, error: LlmError) {
        let error = match &self.state {
            State::Reading(reading) => reading.placed(error),
            _ => error,
        };
        self.state = State::Ending(Err(error));
    }

    fn drain(&mut self, end: Result<(), LlmError>) {
        if let State::Reading(reading) = std::mem::replace(&mut self.state, State::Ended) {
            self.state = State::Draining(Draining::new(reading.into_body(), end));
        }
    }
}

impl<O: Operation> Stream for Exchange<O> {
    type Item = Step<O::Item>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        loop {
            if let Some(item) = self.items.pop() {
                return Poll::Ready(Some(Step::Item(item)));
            }
            if matches!(self.state, State::Ending(_) | State::Ended) {
                let last = std::mem::replace(&mut self.state, State::Ended);
                return Poll::Ready(match last {
                    State::Ending(end) => Some(Step::End(end)),
                    _ => None,
                });
            }
            ready!(self.poll_state(cx));
        }
    }
}

// Nothing is pinned in place: what needs it is boxed.
impl<O: Operation> Unpin for Exchange<O> {}
