//! [`Exchange`]: one request and its reply, as a stream of decoded items.

use std::{
    future::Future,
    pin::Pin,
    task::{Context, Poll, ready},
};

use agcore_chat::ResponseMetadata;
use futures_core::Stream;

use crate::transport::Transport;
use agcore_wire::{Decoder, LlmError, Operation, ReplyHead, WireRequest, response_metadata};

use super::{
    draining::Draining,
    interrupt::Interrupt,
    reading::{Outcome, Reading},
};

/// An item of an [`Exchange`].
#[derive(Debug)]
pub(super) enum Step<T> {
    /// The useful headers of a success; the first step, if there are any.
    Head(ResponseMetadata),
    /// A decoded item of the reply.
    Item(T),
    /// The end; the last step.
    End(Result<(), LlmError>),
}

/// One request and its reply. Nothing is sent before the first poll; dropping it closes the connection.
pub(super) struct Exchange<O: Operation> {
    state: State<O>,
    /// Decoded items that were not returned yet, the next one last.
    items: Vec<O::Item>,
    /// The useful headers of a success, until they were returned.
    metadata: Option<ResponseMetadata>,
    interrupt: Interrupt,
}

/// The start of a reply: its body with a decoder, and the useful headers of a success.
pub(super) type Opened<O> = (Reading<O>, Option<ResponseMetadata>);
type Opening<O> = Pin<Box<dyn Future<Output = Result<Opened<O>, LlmError>> + Send>>;

enum State<O: Operation> {
    /// Sends the request and waits for the head of the reply.
    Opening(Opening<O>),
    /// Decodes the body.
    Reading(Reading<O>),
    /// The reply is complete; discards the rest of the body.
    Draining(Draining),
    /// The end is known, but items may be left to return.
    Ending(Result<(), LlmError>),
    Ended,
}

/// Sends a request, and waits for the head of the reply, for which `decoder` creates a decoder.
pub(super) async fn open<O: Operation>(
    transport: &dyn Transport,
    request: WireRequest,
    stream: bool,
    decoder: impl FnOnce(&ReplyHead) -> Box<dyn Decoder<O>>,
) -> Result<Opened<O>, LlmError> {
    let reply = transport.send(request, stream).await?;
    let decoder = decoder(&reply.head);
    let is_success = reply.head.status.is_success();
    let metadata = is_success.then(|| response_metadata(&reply.head)).flatten();
    Ok((Reading::new(reply, decoder), metadata))
}

impl<O: Operation> Exchange<O> {
    /// Creates an exchange that begins with `opening`, which [`open`] completes.
    pub(super) fn new(
        opening: impl Future<Output = Result<Opened<O>, LlmError>> + Send + 'static,
        interrupt: Interrupt,
    ) -> Self {
        Self {
            state: State::Opening(Box::pin(opening)),
            items: Vec::new(),
            metadata: None,
            interrupt,
        }
    }

    /// Advances by one step, unless the exchange is interrupted.
    fn poll_state(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let is_open = matches!(self.state, State::Opening(_) | State::Reading(_));
        if is_open && let Poll::Ready(error) = self.interrupt.poll_now(cx) {
            self.interrupted(error);
            return Poll::Ready(());
        }
        let progress = self.poll_work(cx);
        // A complete reply is not interrupted any more.
        if progress.is_pending()
            && is_open
            && let Poll::Ready(error) = self.interrupt.poll_wait(cx)
        {
            self.interrupted(error);
            return Poll::Ready(());
        }
        progress
    }

    fn poll_work(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        match &mut self.state {
            State::Opening(opening) => {
                self.state = match ready!(opening.as_mut().poll(cx)) {
                    Ok((reading, metadata)) => {
                        self.metadata = metadata;
                        State::Reading(reading)
                    }
                    Err(error) => State::Ending(Err(error)),
                };
            }
            State::Reading(reading) => {
                let outcome = ready!(reading.poll(cx, &mut self.items));
                self.items.reverse();
                match outcome {
                    Outcome::More => {}
                    Outcome::Complete(end) => self.drain(end),
                    Outcome::Ended(end) => self.state = State::Ending(end),
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

    /// Ends the exchange because of a cancellation or a deadline.
    fn interrupted(&mut self, error: LlmError) {
        let error = match &self.state {
            State::Reading(reading) => reading.annotate(error),
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
            if let Some(metadata) = self.metadata.take() {
                return Poll::Ready(Some(Step::Head(metadata)));
            }
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

// Everything that must be pinned is boxed.
impl<O: Operation> Unpin for Exchange<O> {}
