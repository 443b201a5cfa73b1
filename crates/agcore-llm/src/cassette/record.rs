//! [`RecordingProvider`]: records the exchanges of a provider.

mod recorder;

use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use agcore_chat::Clock;
use futures_core::Stream;

pub use self::recorder::RecordingProblem;
use self::recorder::{ExchangeRecorder, Recorder};
use super::{ending::Ending, item::RecordedItem, scrub::Scrub, sink::CassetteSink};
use crate::{
    provider::{Call, LlmProvider, ProviderInfo, ProviderRoute},
    reply::{ReplyItem, ReplyStream},
};

/// A provider that records the exchanges of the provider it wraps.
///
/// Replies are passed through unchanged. An exchange is written when its reply ends, or when the reply is dropped
/// before its end, which is recorded as well. A call that is never polled is not recorded.
///
/// If an exchange cannot be written, for example because the disk is full, the call continues and the exchange is
/// missing from the cassette. The first such problem is logged with `tracing`; [`problems`](Self::problems) returns
/// them, and a test should check that there are none. Put the provider into an `Arc` to use it and to check it
/// afterwards.
///
/// Around a retry layer, it records the replies that the application received; inside, it records each attempt.
///
/// ```
/// use std::sync::Arc;
/// use agcore_chat::{ChatRequest, ChatResponse, Message};
/// use agcore_llm::{LlmProviderExt, SystemClock, cassette::{CassetteBuffer, Ending, RecordingProvider}, provider_fn};
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let buffer = CassetteBuffer::new();
/// let model = provider_fn(|_| async { Ok(ChatResponse::from_text("Good day.")) });
/// let recorder = RecordingProvider::new(model, buffer.clone(), Arc::new(SystemClock::new()));
/// recorder.chat(ChatRequest::new([Message::user("Hello")])).await?;
///
/// assert!(recorder.problems().is_empty());
/// let cassette = buffer.cassette();
/// assert_eq!(cassette.exchanges()[0].request["messages"][0]["content"], "Hello");
/// assert_eq!(cassette.exchanges()[0].end, Ending::Ok);
/// # Ok::<(), agcore_llm::LlmError>(())
/// # }).unwrap();
/// ```
#[derive(Debug)]
pub struct RecordingProvider<P> {
    inner: P,
    recorder: Recorder,
}

impl<P> RecordingProvider<P> {
    /// Records the exchanges of a provider, without the secrets that [`Scrub::new`] removes. The clock provides the
    /// times.
    pub fn new(inner: P, sink: impl CassetteSink + 'static, clock: Arc<dyn Clock>) -> Self {
        let recorder = Recorder::new(Arc::new(sink), clock);
        Self { inner, recorder }
    }

    /// Sets the rules for removing secrets before an exchange is written.
    #[must_use]
    pub fn with_scrub(mut self, scrub: Scrub) -> Self {
        self.recorder.set_scrub(scrub);
        self
    }

    /// Returns the exchanges that could not be recorded, up to the first 16.
    pub fn problems(&self) -> Vec<RecordingProblem> {
        self.recorder.problems()
    }
}

impl<P: LlmProvider> LlmProvider for RecordingProvider<P> {
    fn open(&self, call: Call) -> ReplyStream {
        let exchange = ExchangeRecorder::new(self.recorder.clone(), &call, self.inner.info());
        ReplyStream::new(RecordedReply {
            reply: self.inner.open(call),
            exchange: Some(exchange),
        })
    }

    fn info(&self) -> &ProviderInfo {
        self.inner.info()
    }

    fn visit_routes<'a>(&'a self, model: &'a str, visit: &mut dyn FnMut(ProviderRoute<'a>)) {
        self.inner.visit_routes(model, visit);
    }
}

/// A reply that is recorded while it is read.
struct RecordedReply {
    reply: ReplyStream,
    /// `None` once the exchange is written.
    exchange: Option<ExchangeRecorder>,
}

impl RecordedReply {
    fn finish(&mut self, end: Ending) {
        if let Some(exchange) = self.exchange.take() {
            exchange.finish(end);
        }
    }
}

impl Stream for RecordedReply {
    type Item = ReplyItem;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<ReplyItem>> {
        let this = &mut *self;
        if let Some(exchange) = &mut this.exchange {
            exchange.start();
        }
        let item = Pin::new(&mut this.reply).poll_next(cx);
        match &item {
            Poll::Pending => {
                if let Some(exchange) = &mut this.exchange {
                    exchange.end_chunk();
                }
            }
            Poll::Ready(Some(ReplyItem::End(Ok(())))) => this.finish(Ending::Ok),
            Poll::Ready(Some(ReplyItem::End(Err(error)))) => this.finish(Ending::Error(Box::new(error.into()))),
            Poll::Ready(Some(ReplyItem::Delta(delta))) => {
                if let Some(exchange) = &mut this.exchange {
                    exchange.push(RecordedItem::Delta(delta.clone()));
                }
            }
            Poll::Ready(Some(ReplyItem::Notice(notice))) => {
                if let Some(exchange) = &mut this.exchange {
                    exchange.push(RecordedItem::Notice(notice.clone()));
                }
            }
            Poll::Ready(None) => this.finish(Ending::Truncated),
        }
        item
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.reply.size_hint()
    }
}

impl Drop for RecordedReply {
    fn drop(&mut self) {
        self.finish(Ending::Dropped);
    }
}
