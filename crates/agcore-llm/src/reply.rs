//! [`ReplyStream`]: a reply as it arrives, with notices about the call; and [`ReplyTextStream`], only its text.

use std::{
    fmt,
    future::poll_fn,
    pin::Pin,
    task::{Context, Poll, ready},
    time::Duration,
};

use agcore_chat::{AnsweredBy, ChatResponse, Fault, Text, Usage};
use futures_core::Stream;
use futures_util::stream;
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};

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

/// The items of a reply. The last one is [`ReplyItem::End`].
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

    /// Ends the reply with `Cancelled` when the token is cancelled, for providers that do not watch the token of a call
    /// themselves. The inner stream is dropped then.
    ///
    /// ```
    /// use agcore_llm::{LlmErrorKind, ReplyItem, ReplyStream};
    /// use futures_util::stream;
    ///
    /// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
    /// # let token = agcore_llm::Call::new(agcore_chat::ChatRequest::default()).token;
    /// let mut reply = ReplyStream::new(stream::pending()).with_token(token.clone());
    /// token.cancel();
    /// let Some(ReplyItem::End(Err(error))) = reply.next().await else { unreachable!() };
    /// assert_eq!(error.kind(), LlmErrorKind::Cancelled);
    /// assert!(reply.next().await.is_none());
    /// # });
    /// ```
    pub fn with_token(self, token: CancellationToken) -> Self {
        Self::new(CancellableStream {
            inner: Some(self),
            cancelled: Box::pin(token.cancelled_owned()),
        })
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

/// A reply that a token ends.
struct CancellableStream {
    /// `None` after the end.
    inner: Option<ReplyStream>,
    cancelled: Pin<Box<WaitForCancellationFutureOwned>>,
}

impl Stream for CancellableStream {
    type Item = ReplyItem;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<ReplyItem>> {
        let Some(inner) = &mut self.inner else {
            return Poll::Ready(None);
        };
        let item = match Pin::new(inner).poll_next(cx) {
            Poll::Ready(item) => item,
            Poll::Pending => {
                ready!(self.cancelled.as_mut().poll(cx));
                Some(ReplyItem::End(Err(LlmError::cancelled())))
            }
        };
        if matches!(item, Some(ReplyItem::End(_)) | None) {
            self.inner = None;
        }
        Poll::Ready(item)
    }
}

/// The text of a reply, piece by piece.
///
/// Only the text of the first choice is returned; [`response`](Self::response) has everything else. A call that fails ends
/// with an `Err` item. With [`MidStream::Restart`](crate::layer::retry::MidStream::Restart) a stream that breaks starts
/// over, so text may come twice; read the items of a [`ReplyStream`] to notice that.
///
/// ```
/// use agcore_chat::{ChatRequest, ChatResponse, Message};
/// use agcore_llm::{LlmProviderExt, provider_fn};
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let provider = provider_fn(|_| async { Ok(ChatResponse::from_text("Good day.")) });
/// let mut text = provider.chat_stream(ChatRequest::new([Message::user("Hello")])).text_stream();
///
/// let mut answer = String::new();
/// while let Some(piece) = text.next().await {
///     answer.push_str(&piece?);
/// }
/// assert_eq!(answer, "Good day.");
/// assert_eq!(text.response().unwrap().text(), answer);
/// # Ok::<(), agcore_llm::LlmError>(())
/// # }).unwrap();
/// ```
#[must_use = "nothing is sent before the stream is polled"]
pub struct ReplyTextStream {
    items: ReplyStream,
    fold: Fold,
    is_done: bool,
    response: Option<ChatResponse>,
}

impl ReplyTextStream {
    fn new(items: ReplyStream) -> Self {
        Self {
            items,
            fold: Fold::new(),
            is_done: false,
            response: None,
        }
    }

    /// Returns the next piece of text, or `None` at the end of the reply.
    ///
    /// Cancel safe: no text is lost when the future is dropped.
    ///
    /// # Errors
    /// The last item is the error of a call that failed, together with the part of the reply that had arrived.
    pub async fn next(&mut self) -> Option<Result<Text, LlmError>> {
        poll_fn(|cx| self.poll_text(cx)).await
    }

    /// Returns the whole response once the stream has ended without an error.
    pub fn response(&self) -> Option<&ChatResponse> {
        self.response.as_ref()
    }

    fn poll_text(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Text, LlmError>>> {
        while !self.is_done {
            let item = ready!(Pin::new(&mut self.items).poll_next(cx));
            let item = item.unwrap_or_else(|| ReplyItem::End(Err(LlmError::truncated())));
            let text = match &item {
                ReplyItem::Delta(ReplyDelta::Text { choice: 0, text }) if !text.is_empty() => Some(text.clone()),
                _ => None,
            };
            match item.fold_into(&mut self.fold) {
                Some(Ok(response)) => {
                    self.is_done = true;
                    self.response = Some(response);
                }
                Some(Err(error)) => {
                    self.is_done = true;
                    return Poll::Ready(Some(Err(error)));
                }
                None => {}
            }
            if let Some(text) = text {
                return Poll::Ready(Some(Ok(text)));
            }
        }
        Poll::Ready(None)
    }
}

impl Stream for ReplyTextStream {
    type Item = Result<Text, LlmError>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.get_mut().poll_text(cx)
    }
}

impl fmt::Debug for ReplyTextStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReplyTextStream")
            .field("done", &self.is_done)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use futures_util::{FutureExt, StreamExt};

    use super::*;

    fn text(choice: u32, text: &str) -> ReplyItem {
        let text = text.into();
        ReplyItem::Delta(ReplyDelta::Text { choice, text })
    }

    fn read(stream: &mut ReplyTextStream) -> Vec<Result<Text, LlmError>> {
        stream.by_ref().collect().now_or_never().unwrap()
    }

    #[test]
    fn returns_the_text_of_the_first_choice_and_then_the_response() {
        let reply = ReplyStream::from_items([
            ReplyItem::Notice(Notice::AnsweredBy(AnsweredBy::new("openai", "gpt"))),
            text(0, "Hel"),
            text(1, "Other"),
            text(0, ""),
            text(0, "lo"),
            ReplyItem::Delta(ReplyDelta::Usage(Box::new(Usage::new(10, 5)))),
            ReplyItem::End(Ok(())),
        ]);
        let mut stream = reply.text_stream();
        assert_eq!(stream.response(), None);
        let pieces: Result<Vec<Text>, LlmError> = read(&mut stream).into_iter().collect();
        assert_eq!(pieces.unwrap(), ["Hel", "lo"]);
        let response = stream.response().unwrap();
        assert_eq!((response.text().as_ref(), response.choices.len()), ("Hello", 2));
        assert_eq!(response.usage.as_ref().and_then(Usage::total), Some(15));
        assert_eq!(response.answered_by.as_ref().unwrap().provider, "openai");
        assert!(read(&mut stream).is_empty(), "the stream stays at its end");
    }

    #[test]
    fn ends_with_the_error_and_the_partial_reply() {
        for end in [Some(ReplyItem::End(Err(LlmError::truncated()))), None] {
            let mut stream = ReplyStream::from_items([text(0, "half")].into_iter().chain(end)).text_stream();
            let [Ok(piece), Err(error)] = &read(&mut stream)[..] else {
                panic!("expected a piece and an error");
            };
            assert_eq!((&**piece, error.partial().unwrap().text().as_ref()), ("half", "half"));
            assert_eq!(stream.response(), None);
        }
    }
}
