//! [`ReplyStream`]: the items of a reply on its way, and the notices among them.

use std::{
    fmt,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use agcore_chat::{AnsweredBy, Fault, Text, Usage};
use futures_core::Stream;

use crate::{
    delta::ReplyDelta,
    error::{LlmError, LlmErrorKind},
};

/// What comes out of a provider, item by item.
#[derive(Debug)]
#[non_exhaustive]
pub enum ReplyItem {
    /// A piece of the reply.
    Delta(ReplyDelta),
    /// Something to know that is no part of the reply.
    Notice(Notice),
    /// The end, for better or worse; nothing follows. A stream that ends without it was cut.
    End(Result<(), LlmError>),
}

/// Something to know that is no part of the reply.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Notice {
    /// An attempt failed before anything of the answer was handed out; it will be made again.
    RetryScheduled {
        /// Which attempt comes next, from 1.
        attempt: u32,
        /// After how long.
        delay: Duration,
        /// Why the last one failed.
        fault: Fault,
    },
    /// The stream died after parts were handed out and begins again: what came so far is void.
    Restarted {
        /// Why.
        fault: Fault,
        /// Tokens of the lost attempt, where the server told them.
        usage: Option<Box<Usage>>,
    },
    /// Which of several providers answers.
    AnsweredBy(AnsweredBy),
    /// The call waits for a limit of our own.
    Waiting {
        /// Which.
        limit: Text,
        /// For how long.
        delay: Duration,
    },
}

/// The items of a reply, ended by one [`ReplyItem::End`]. Dropping it closes the connection.
#[must_use = "nothing is sent before the stream is polled"]
pub struct ReplyStream(Pin<Box<dyn Stream<Item = ReplyItem> + Send>>);

impl ReplyStream {
    /// A stream of these items.
    pub fn new(items: impl Stream<Item = ReplyItem> + Send + 'static) -> Self {
        Self(Box::pin(items))
    }

    /// A stream that fails at once.
    pub fn failed(error: LlmError) -> Self {
        Self::new(futures_util::stream::iter([ReplyItem::End(Err(error))]))
    }
}

/// The error of a stream that stopped without its end.
pub(crate) fn cut() -> LlmError {
    LlmError::new(
        LlmErrorKind::Truncated,
        "the reply ended in the middle: the stream stopped without its end",
    )
}

impl Stream for ReplyStream {
    type Item = ReplyItem;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<ReplyItem>> {
        self.0.as_mut().poll_next(cx)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

impl fmt::Debug for ReplyStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ReplyStream")
    }
}
