//! [`RecordingProvider`]: writes down what goes through a provider.

mod tape;

use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use agcore_chat::Clock;
use futures_core::Stream;

pub use self::tape::RecordingProblem;
use self::tape::{Recorder, Tape};
use super::{ending::Ending, item::RecordedItem, scrub::Scrub, sink::CassetteSink};
use crate::{
    provider::{Call, LlmProvider, ProviderInfo},
    reply::{ReplyItem, ReplyStream},
};

/// A provider whose exchanges are recorded.
///
/// The reply passes through untouched, as the wrapped provider gives it. An exchange is written when its reply ends, or is
/// dropped before: then that is its recorded end. A call that nobody polls is none. Where an exchange cannot be written (a
/// full disk, a request that has no JSON form) the call goes on all the same, and the exchange is missing from the cassette:
/// it is told once by `tracing`, and each time by [`problems`](Self::problems), which a test should look at.
///
/// Around retries it records what the application saw, under them each attempt. In an `Arc` it can be handed on and asked
/// for problems later.
#[derive(Debug)]
pub struct RecordingProvider<P> {
    inner: P,
    recorder: Recorder,
}

impl<P> RecordingProvider<P> {
    /// Records what goes through a provider, without what [`Scrub::new`] takes out. The clock measures when things came.
    pub fn new(inner: P, sink: impl CassetteSink + 'static, clock: Arc<dyn Clock>) -> Self {
        let recorder = Recorder::new(Arc::new(sink), clock);
        Self { inner, recorder }
    }

    /// Sets what is taken out before anything is written.
    pub fn with_scrub(mut self, scrub: Scrub) -> Self {
        self.recorder.set_scrub(scrub);
        self
    }

    /// The first exchanges that were not recorded, and why; at most 16.
    pub fn problems(&self) -> Vec<RecordingProblem> {
        self.recorder.problems()
    }
}

impl<P: LlmProvider> LlmProvider for RecordingProvider<P> {
    fn open(&self, call: Call) -> ReplyStream {
        let tape = Tape::new(self.recorder.clone(), &call, self.inner.info());
        ReplyStream::new(Recording {
            reply: self.inner.open(call),
            tape: Some(tape),
        })
    }

    fn info(&self) -> &ProviderInfo {
        self.inner.info()
    }
}

/// A reply on its way through the recorder.
struct Recording {
    reply: ReplyStream,
    /// Taken when the exchange is written.
    tape: Option<Tape>,
}

impl Recording {
    fn finish(&mut self, end: Ending) {
        if let Some(tape) = self.tape.take() {
            tape.finish(end);
        }
    }
}

impl Stream for Recording {
    type Item = ReplyItem;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<ReplyItem>> {
        let this = &mut *self;
        if let Some(tape) = &mut this.tape {
            tape.begin();
        }
        let item = Pin::new(&mut this.reply).poll_next(cx);
        match &item {
            Poll::Pending => {
                if let Some(tape) = &mut this.tape {
                    tape.pause();
                }
            }
            Poll::Ready(Some(ReplyItem::End(Ok(())))) => this.finish(Ending::Ok),
            Poll::Ready(Some(ReplyItem::End(Err(error)))) => this.finish(Ending::Error(Box::new(error.into()))),
            Poll::Ready(Some(ReplyItem::Delta(delta))) => {
                if let Some(tape) = &mut this.tape {
                    tape.take(RecordedItem::Delta(delta.clone()));
                }
            }
            Poll::Ready(Some(ReplyItem::Notice(notice))) => {
                if let Some(tape) = &mut this.tape {
                    tape.take(RecordedItem::Notice(notice.clone()));
                }
            }
            Poll::Ready(None) => this.finish(Ending::Cut),
        }
        item
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.reply.size_hint()
    }
}

impl Drop for Recording {
    fn drop(&mut self) {
        self.finish(Ending::Dropped);
    }
}
