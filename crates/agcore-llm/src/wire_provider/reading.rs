//! [`Reading`]: a reply's body on its way through the decoder.

use std::task::{Context, Poll};

use bytes::Bytes;

use crate::{
    error::{LlmError, LlmErrorKind},
    transport::TransportReply,
    wire::{Close, Decoder, Operation, ReplyHead, failure::FailureReader},
};

use super::draining::Body;

/// A reply's body on its way through the decoder.
pub(super) struct Reading<O: Operation> {
    head: Head,
    body: Body,
    decoder: Box<dyn Decoder<O>>,
}

/// What errors are told of the head. A stream keeps only what is useful: the rest holds memory as long as it is there.
enum Head {
    Whole(ReplyHead),
    Kept {
        useful: FailureReader,
        /// A status that says no success.
        status: Option<u16>,
    },
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
        Self {
            head: Head::Whole(reply.head),
            body: reply.body,
            decoder,
        }
    }

    pub(super) fn into_body(self) -> Body {
        self.body
    }

    /// Reads the next piece.
    pub(super) fn poll(&mut self, cx: &mut Context<'_>, items: &mut Vec<O::Item>) -> Poll<Outcome> {
        match self.body.as_mut().poll_next(cx) {
            Poll::Ready(Some(Ok(bytes))) => Poll::Ready(self.feed(&bytes, items)),
            Poll::Ready(Some(Err(error))) => Poll::Ready(Outcome::Over(self.broken(error, items))),
            Poll::Ready(None) => Poll::Ready(Outcome::Over(self.finish(Close::Clean, items))),
            Poll::Pending => {
                self.head.shrink();
                Poll::Pending
            }
        }
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
        self.head.note(error)
    }
}

impl Head {
    fn shrink(&mut self) {
        if let Self::Whole(head) = self {
            *self = Self::kept(head);
        }
    }

    fn kept(head: &ReplyHead) -> Self {
        Self::Kept {
            useful: FailureReader::new(head),
            status: (!head.status.is_success()).then_some(head.status.as_u16()),
        }
    }

    fn note(&self, error: LlmError) -> LlmError {
        match self {
            Self::Whole(head) => Self::kept(head).note(error),
            Self::Kept { useful, status } => {
                let error = useful.note(error);
                match status {
                    Some(status) if error.status().is_none() => error.with_status(*status),
                    _ => error,
                }
            }
        }
    }
}
