//! [`Reading`]: a reply's body on its way through the decoder.

use std::task::{Context, Poll, ready};

use bytes::Bytes;

use crate::{
    error::{LlmError, LlmErrorKind},
    transport::TransportReply,
    wire::{Close, Decoder, Operation, failure::FailureReader},
};

use super::draining::Body;

/// A reply's body on its way through the decoder.
pub(super) struct Reading<O: Operation> {
    reply: TransportReply,
    decoder: Box<dyn Decoder<O>>,
}

/// What became of a piece.
pub(super) enum Outcome {
    /// More may come.
    More,
    /// The reply is whole, although its body goes on.
    Whole(Result<(), LlmError>),
    /// Nothing more will come.
    Over(Result<(), LlmError>),
}

impl<O: Operation> Reading<O> {
    pub(super) fn new(reply: TransportReply, decoder: Box<dyn Decoder<O>>) -> Self {
        Self { reply, decoder }
    }

    pub(super) fn into_body(self) -> Body {
        self.reply.body
    }

    /// Reads the next piece.
    pub(super) fn poll(&mut self, cx: &mut Context<'_>, items: &mut Vec<O::Item>) -> Poll<Outcome> {
        let piece = ready!(self.reply.body.as_mut().poll_next(cx));
        Poll::Ready(match piece {
            Some(Ok(bytes)) => self.feed(&bytes, items),
            Some(Err(error)) => Outcome::Over(self.broken(error, items)),
            None => Outcome::Over(self.finish(Close::Clean, items)),
        })
    }

    fn feed(&mut self, bytes: &Bytes, items: &mut Vec<O::Item>) -> Outcome {
        match self.decoder.feed(bytes, items) {
            Err(error) => Outcome::Over(Err(self.placed(error))),
            Ok(()) if self.decoder.is_done() => Outcome::Whole(self.finish(Close::Clean, items)),
            Ok(()) => Outcome::More,
        }
    }

    fn finish(&mut self, close: Close, items: &mut Vec<O::Item>) -> Result<(), LlmError> {
        self.decoder.finish(close, items).map_err(|error| self.placed(error))
    }

    /// The transport failed. That is no harm when the reply was whole; else the decoder knows best when the server
    /// reported an error, and the transport why a reply was cut.
    fn broken(&mut self, error: LlmError, items: &mut Vec<O::Item>) -> Result<(), LlmError> {
        match self.decoder.finish(Close::Reset, items) {
            Ok(()) => Ok(()),
            Err(cut) if matches!(cut.kind(), LlmErrorKind::Connect | LlmErrorKind::Truncated) => {
                Err(self.placed(error))
            }
            Err(reported) => Err(self.placed(reported.with_source(error))),
        }
    }

    /// The error with what the head tells.
    pub(super) fn placed(&self, error: LlmError) -> LlmError {
        let head = &self.reply.head;
        let error = FailureReader::new(head).note(error);
        if error.status().is_none() && !head.status.is_success() {
            return error.with_status(head.status.as_u16());
        }
        error
    }
}
