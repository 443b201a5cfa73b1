//! [`Trace`]: a span for each call, following OpenTelemetry's conventions for generative AI.

mod content;
mod recorder;
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

use self::recorder::Recorder;
use crate::{
    provider::{Call, LlmProvider, ProviderInfo, ProviderRoute},
    reply::{ReplyItem, ReplyStream},
};

/// A provider that creates a span for each call. Put it around retries and routers: one span is one call as the caller
/// sees it.
///
/// The span is named `chat {model}`, or `embeddings {model}`. It covers the call with all its retries and waits, and
/// has the attributes of the [conventions] for inference spans (`gen_ai.request.*`, `gen_ai.response.*`,
/// `gen_ai.usage.*`, `error.type`). Usage is that of all attempts together. The attribute `agcore.answered_by` states which of
/// several providers answered.
/// Messages, replies and users are recorded only with [`with_content`](Self::with_content).
///
/// Spans are those of the crate `tracing`; without a subscriber they cost one check per call. The fields `otel.name`,
/// `otel.kind` and `otel.status_code` are read by the crate `tracing-opentelemetry`. Counts are recorded as `i64`, the
/// only integers that this crate exports as integers. `tracing` has no lists: lists of strings (finish reasons, stop
/// sequences) are recorded as text such as `["stop"]`, and with the feature `otel` exported as lists.
///
/// ```
/// use std::sync::Arc;
/// use agcore_chat::{ChatRequest, ChatResponse, Message};
/// use agcore_llm::{LlmProviderExt, SystemClock, layer::trace::Trace, provider_fn};
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let provider = provider_fn(|_| async { Ok(ChatResponse::from_text("Hello")) });
/// let traced = Trace::new(provider, Arc::new(SystemClock::new()));
/// assert_eq!(traced.chat(ChatRequest::new([Message::user("Hi")])).await?.text(), "Hello");
/// # Ok::<(), agcore_llm::LlmError>(())
/// # }).unwrap();
/// ```
///
/// [conventions]: https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-spans/
#[derive(Debug, Clone)]
#[must_use]
pub struct Trace<P> {
    inner: P,
    clock: Arc<dyn Clock>,
    content: bool,
    propagates: bool,
}

impl<P> Trace<P> {
    /// Wraps a provider. The clock measures the time to the first piece of a reply.
    pub fn new(inner: P, clock: Arc<dyn Clock>) -> Self {
        Self {
            inner,
            clock,
            content: false,
            propagates: false,
        }
    }

    /// Sets whether system prompts, messages, replies and the definitions of tools are recorded, and the id of the user on whose
    /// behalf a call is made (`enduser.id`). They are user data: leave this off if people who can see spans must not see
    /// conversations. Keys that [`KeyRedactor`](agcore_chat::redact::KeyRedactor) recognizes are removed from them.
    pub fn with_content(mut self, content: bool) -> Self {
        self.content = content;
        self
    }

    /// Sets whether requests have the header `traceparent`, so that the trace continues at the server. Off by default: it gives
    /// a vendor an id that connects the calls of a conversation, and only a gateway or a model server of one's own adds spans to
    /// the trace. Recorded exchanges then contain the header, which is different for each call.
    ///
    /// Without effect unless the feature `otel` is on and the program collects spans.
    pub fn with_propagation(mut self, propagates: bool) -> Self {
        self.propagates = propagates;
        self
    }
}

impl<P: LlmProvider> LlmProvider for Trace<P> {
    fn open(&self, mut call: Call) -> ReplyStream {
        let span = span::for_call(&call, self.inner.info());
        if span.is_disabled() {
            return self.inner.open(call);
        }
        if self.content {
            content::record_request(&span, &call.request);
            span::record_user(&span, &call);
        }
        if self.propagates
            && let Some(context) = agcore_trace::context_of(&span)
        {
            span::add_headers(&mut call, &context);
        }
        let is_streamed = call.stream;
        let reply = span.in_scope(|| self.inner.open(call));
        ReplyStream::new(TracedStream {
            reply,
            recorder: Recorder::new(self.content, is_streamed),
            started: None,
            clock: Arc::clone(&self.clock),
            span,
        })
    }

    fn info(&self) -> &ProviderInfo {
        self.inner.info()
    }

    fn visit_routes<'a>(&'a self, model: &'a str, visit: &mut dyn FnMut(ProviderRoute<'a>)) {
        self.inner.visit_routes(model, visit);
    }
}

/// A reply that is polled inside its span.
struct TracedStream {
    reply: ReplyStream,
    recorder: Recorder,
    /// The time of the first poll; nothing is sent before.
    started: Option<Duration>,
    clock: Arc<dyn Clock>,
    span: Span,
}

impl Stream for TracedStream {
    type Item = ReplyItem;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<ReplyItem>> {
        let this = &mut *self;
        let started = *this.started.get_or_insert_with(|| this.clock.monotonic());
        let _entered = this.span.enter();
        let item = Pin::new(&mut this.reply).poll_next(cx);
        if let Poll::Ready(Some(item)) = &item {
            let clock = &this.clock;
            this.recorder
                .record(&this.span, item, || clock.monotonic().saturating_sub(started));
        }
        item
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.reply.size_hint()
    }
}

impl Drop for TracedStream {
    fn drop(&mut self) {
        self.recorder.dropped(&self.span);
    }
}
