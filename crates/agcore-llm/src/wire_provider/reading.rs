//! [`Reading`]: decodes the body of a reply as it arrives.

use std::task::{Context, Poll};

use bytes::Bytes;

use crate::transport::TransportReply;
use agcore_wire::{Close, Decoder, LlmError, LlmErrorKind, Operation, ReplyHead, failure::FailureReader};

use super::draining::Body;

/// The body of a reply together with its decoder.
pub(super) struct Reading<O: Operation> {
    head: Head,
    body: Body,
    decoder: Box<dyn Decoder<O>>,
}

/// The parts of the head that errors need. A stream keeps only these, because the whole head would occupy memory until its
/// end.
enum Head {
    Whole(ReplyHead),
    Reduced {
        failures: FailureReader,
        /// The status, unless it is a success.
        status: Option<u16>,
    },
}

/// The result of decoding a piece of the body.
pub(super) enum Outcome {
    /// More may follow.
    More,
    /// The reply is complete, although the body has not ended.
    Complete(Result<(), LlmError>),
    /// The body has ended.
    Ended(Result<(), LlmError>),
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

    /// Decodes the next piece of the body.
    pub(super) fn poll(&mut self, cx: &mut Context<'_>, items: &mut Vec<O::Item>) -> Poll<Outcome> {
        match self.body.as_mut().poll_next(cx) {
            Poll::Ready(Some(Ok(bytes))) => Poll::Ready(self.feed(&bytes, items)),
            Poll::Ready(Some(Err(error))) => Poll::Ready(Outcome::Ended(self.transport_failed(error, items))),
            Poll::Ready(None) => Poll::Ready(Outcome::Ended(self.finish(Close::Clean, items))),
            Poll::Pending => {
                self.head.reduce();
                Poll::Pending
            }
        }
    }

    fn feed(&mut self, bytes: &Bytes, items: &mut Vec<O::Item>) -> Outcome {
        match self.decoder.feed(bytes, items) {
            Err(error) => Outcome::Ended(Err(self.annotate(error))),
            Ok(()) if self.decoder.is_done() => Outcome::Complete(self.finish(Close::Clean, items)),
            Ok(()) => Outcome::More,
        }
    }

    fn finish(&mut self, close: Close, items: &mut Vec<O::Item>) -> Result<(), LlmError> {
        self.decoder.finish(close, items).map_err(|error| self.annotate(error))
    }

    /// Handles a failure of the transport, which does not matter if the reply was complete. Otherwise the better error is
    /// the decoder's if the server reported one, and the transport's if the reply was merely truncated.
    fn transport_failed(&mut self, error: LlmError, items: &mut Vec<O::Item>) -> Result<(), LlmError> {
        match self.decoder.finish(Close::Reset, items) {
            Ok(()) => Ok(()),
            Err(truncated) if matches!(truncated.kind(), LlmErrorKind::Connect | LlmErrorKind::Truncated) => {
                Err(self.annotate(error))
            }
            Err(reported) => Err(self.annotate(reported.with_source(error))),
        }
    }

    /// Adds the useful parts of the head to an error.
    pub(super) fn annotate(&self, error: LlmError) -> LlmError {
        self.head.annotate(error)
    }
}

impl Head {
    fn reduce(&mut self) {
        if let Self::Whole(head) = self {
            *self = Self::reduced(head);
        }
    }

    fn reduced(head: &ReplyHead) -> Self {
        Self::Reduced {
            failures: FailureReader::new(head),
            status: (!head.status.is_success()).then_some(head.status.as_u16()),
        }
    }

    fn annotate(&self, error: LlmError) -> LlmError {
        match self {
            Self::Whole(head) => Self::reduced(head).annotate(error),
            Self::Reduced { failures, status } => {
                let error = failures.annotate(error);
                match status {
                    Some(status) if error.status().is_none() => error.with_status(*status),
                    _ => error,
                }
            }
        }
    }
}
