//! [`Trace`]: a span for every call of a model, after OpenTelemetry's conventions for generative AI.
//!
//! The span is named `chat {model}`, covers a call with all its retries and waits, and has the attributes of the
//! conventions' page on inference spans (`gen_ai.request.*`, `gen_ai.response.*`, `gen_ai.usage.*`, `error.type`). Which
//! of several providers answered is in `agcore.answered_by`. What was said is recorded only when it is asked for.
//!
//! Spans are those of the crate `tracing`: with no subscriber they cost one check for each call. The fields `otel.name`,
//! `otel.kind` and `otel.status_code` are what the layer of the crate `tracing-opentelemetry` reads.
//!
//! ```
//! use std::sync::Arc;
//! use agcore_chat::{ChatRequest, ChatResponse, Message};
//! use agcore_llm::{LlmProviderExt, SystemClock, Trace, provider_fn};
//!
//! # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
//! let provider = provider_fn(|_| async { Ok(ChatResponse::from_text("Hello")) });
//! let traced = Trace::new(provider, Arc::new(SystemClock::new()));
//! assert_eq!(traced.chat(ChatRequest::new([Message::user("Hi")])).await?.text(), "Hello");
//! # Ok::<(), agcore_llm::LlmError>(())
//! # }).unwrap();
//! ```

mod content;
mod seen;
mod span;

use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use agcore_chat::Clock;
use futures_core::Stream;
use tracing::Span;

use self::seen::Seen;
use crate::{
    provider::{Call, LlmProvider, ProviderInfo},
    reply::{ReplyItem, ReplyStream},
};

/// A provider whose calls are spans. Put it around retries and routers: one span is one call as the caller sees it.
#[derive(Debug, Clone)]
pub struct Trace<P> {
    inner: P,
    clock: Arc<dyn Clock>,
    content: bool,
}

impl<P> Trace<P> {
    /// Wraps a provider. The clock measures the time to the first piece of a reply.
    pub fn new(inner: P, clock: Arc<dyn Clock>) -> Self {
        Self {
            inner,
            clock,
            content: false,
        }
    }

    /// Says whether messages and replies are recorded, too. They hold what users said: keep it off where spans travel
    /// further than the conversation may.
    pub fn with_content(mut self, content: bool) -> Self {
        self.content = content;
        self
    }
}

impl<P: LlmProvider> LlmProvider for Trace<P> {
    fn open(&self, call: Call) -> ReplyStream {
        let span = span::of(&call, self.inner.info());
        if span.is_disabled() {
            return self.inner.open(call);
        }
        if self.content {
            content::record_request(&span, &call.request);
        }
        let reply = span.in_scope(|| self.inner.open(call));
        ReplyStream::new(Traced {
            reply,
            seen: Seen::new(self.content),
            begun: None,
            clock: Arc::clone(&self.clock),
            span,
        })
    }

    fn info(&self) -> &ProviderInfo {
        self.inner.info()
    }
}

/// A reply that is read inside its span.
struct Traced {
    reply: ReplyStream,
    seen: Seen,
    /// When it was first polled: nothing is sent before.
    begun: Option<Duration>,
    clock: Arc<dyn Clock>,
    span: Span,
}

impl Stream for Traced {
    type Item = ReplyItem;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<ReplyItem>> {
        let this = &mut *self;
        let begun = *this.begun.get_or_insert_with(|| this.clock.monotonic());
        let _inside = this.span.enter();
        let item = Pin::new(&mut this.reply).poll_next(cx);
        if let Poll::Ready(Some(item)) = &item {
            let clock = &this.clock;
            this.seen
                .take(&this.span, item, || clock.monotonic().saturating_sub(begun));
        }
        item
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.reply.size_hint()
    }
}

impl Drop for Traced {
    fn drop(&mut self) {
        self.seen.dropped(&self.span);
    }
}
