//! [`ReplyStream`]: a reply as it arrives, with notices about the call.

mod text;

pub use text::ReplyTextStream;

use std::{
    fmt,
    future::poll_fn,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use agcore_chat::{AnsweredBy, ChatResponse, Fault, Text, Usage};
use futures_core::Stream;
use futures_util::stream;

use agcore_wire::{Fold, LlmError, ReplyDelta};

/// An item of a [`ReplyStream`].
#[derive(Debug)]
#[non_exhaustive]
pub enum ReplyItem {
    /// A piece of the reply.
    Delta(ReplyDelta),
    /// Information about the call that is not part of the reply.
    Notice(Notice),
    /// The end of the reply, successful or not. Nothing follows. A stream that ends without this item was truncated.
    End(Result<(), LlmError>),
}

/// Information about a call that is not part of its reply.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Notice {
    /// An attempt failed before it returned any part of an answer. Another one follows.
    RetryScheduled {
        /// The number of the next attempt, from 1.
        attempt: u32,
        /// The wait before it.
        delay: Duration,
        /// Why the previous attempt failed.
        fault: Fault,
    },
    /// An attempt failed after it had returned parts of an answer. Another one follows; discard everything received so
    /// far.
    Restarted {
        /// Why the attempt failed.
        fault: Fault,
        /// The token usage of the failed attempt, if the server reported it.
        usage: Option<Box<Usage>>,
    },
    /// The provider that sends the answer, for calls that may go to several.
    AnsweredBy(AnsweredBy),
    /// The call waits because a local limit was reached.
    Waiting {
        /// The limit.
        limit: Text,
        /// How long the call is expected to wait.
        delay: Duration,
    },
}

impl ReplyItem {
    /// Adds this item to `fold`. At the end of the reply, returns the whole response, or the error together with the part
    /// of the response that had arrived.
    pub fn fold_into(self, fold: &mut Fold) -> Option<Result<ChatResponse, LlmError>> {
        match self {
            Self::Delta(delta) => {
                fold.push_owned(delta);
                None
            }
            Self::Notice(notice) => {
                notice.fold_into(fold);
                None
            }
            Self::End(Ok(())) => Some(Ok(fold.take())),
            Self::End(Err(error)) => Some(Err(fold.fail(error))),
        }
    }
}

impl Notice {
    /// Applies this notice to `fold`: another attempt discards what has arrived, and the provider that answers is recorded.
    pub fn fold_into(&self, fold: &mut Fold) {
        match self {
            Self::RetryScheduled { .. } | Self::Restarted { .. } => fold.restart(),
            Self::AnsweredBy(who) => fold.set_answered_by(who.clone()),
            Self::Waiting { .. } => {}
        }
    }
}

/// The items of a reply, the last of which is [`ReplyItem::End`].
///
/// Dropping the stream closes the connection. [`text_stream`](Self::text_stream) reads nothing but the text.
///
/// ```
/// use agcore_chat::ChatResponse;
/// use agcore_llm::{Fold, LlmError, ReplyDelta, ReplyItem, ReplyStream};
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let text = ReplyDelta::Text { choice: 0, text: "Hello".into() };
/// let mut reply = ReplyStream::from_items([ReplyItem::Delta(text), ReplyItem::End(Ok(()))]);
///
/// // Show each item, and assemble the response on the way.
/// let mut fold = Fold::new();
/// let mut response: Option<Result<ChatResponse, LlmError>> = None;
/// while let Some(item) = reply.next().await {
///     response = item.fold_into(&mut fold);
/// }
/// assert_eq!(response.unwrap()?.text(), "Hello");
/// # Ok::<(), LlmError>(())
/// # }).unwrap();
/// ```
#[must_use = "nothing is sent before the stream is polled"]
pub struct ReplyStream(Pin<Box<dyn Stream<Item = ReplyItem> + Send>>);

impl ReplyStream {
    /// Creates a reply from a stream of items.
    pub fn new(items: impl Stream<Item = ReplyItem> + Send + 'static) -> Self {
        Self(Box::pin(items))
    }

    /// Creates a reply from items that are already there.
    pub fn from_items(items: impl IntoIterator<Item = ReplyItem, IntoIter: Send + 'static>) -> Self {
        Self::new(stream::iter(items))
    }

    /// Creates a reply that fails at once.
    pub fn failed(error: LlmError) -> Self {
        Self::from_items([ReplyItem::End(Err(error))])
    }

    /// Returns the next item, or `None` after the last one.
    ///
    /// Cancel safe: no item is lost when the future is dropped.
    #[expect(
        clippy::should_implement_trait,
        reason = "an `async fn`, which the lint accepts, costs a few more instructions for each item"
    )]
    pub fn next(&mut self) -> impl Future<Output = Option<ReplyItem>> + Send + Unpin {
        poll_fn(|cx| self.0.as_mut().poll_next(cx))
    }

    /// Converts the reply into a stream of its text.
    pub fn text_stream(self) -> ReplyTextStream {
        ReplyTextStream::new(self)
    }
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
