//! [`SwitchingStream`]: a call that is attempted until one attempt succeeds or a [`SwitchStrategy`] gives up.
//!
//! Shared by all layers that make several attempts: the strategy chooses the target of each attempt and judges failures,
//! the stream does the rest.

use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
    time::Duration,
};

use agcore_chat::{AnsweredBy, Clock, Fault, Text};
use futures_core::Stream;
use tokio_util::sync::CancellationToken;

use super::attempt::{Attempt, MidStream};
use crate::{
    provider::{Call, LlmProvider, ProviderRoute},
    reply::{Notice, ReplyItem, ReplyStream},
};
use agcore_wire::{LlmError, LlmErrorKind};

/// One of several targets that a call may go to.
#[derive(Debug)]
pub(super) struct Target {
    pub(super) provider: Arc<dyn LlmProvider>,
    /// Overrides the model of the request.
    pub(super) model: Option<Arc<str>>,
    /// The label of the key.
    pub(super) key: Option<Text>,
}

impl Target {
    pub(super) fn answered_by(&self, call: &Call) -> AnsweredBy {
        let info = self.provider.info();
        let model = match (&self.model, call.request.model.as_str()) {
            (Some(model), _) => Text::from(Arc::clone(model)),
            (None, "") => Text::from(Arc::clone(&info.model)),
            (None, model) => Text::from(model),
        };
        let mut answered_by = AnsweredBy::new(Arc::clone(&info.name), model);
        answered_by.key.clone_from(&self.key);
        answered_by
    }

    /// Visits the routes of calls to this target; `model` is that of the request.
    pub(super) fn visit_routes<'a>(&'a self, model: &'a str, visit: &mut dyn FnMut(ProviderRoute<'a>)) {
        let model = self.model.as_deref().unwrap_or(model);
        match &self.key {
            Some(key) => self
                .provider
                .visit_routes(model, &mut |route| visit(route.with_key(key))),
            None => self.provider.visit_routes(model, visit),
        }
    }

    pub(super) fn open(&self, mut call: Call) -> ReplyStream {
        if let Some(model) = self.model.as_deref().filter(|model| *model != call.request.model) {
            let request = Arc::make_mut(&mut call.request);
            model.clone_into(&mut request.model);
        }
        self.provider.open(call)
    }
}

/// The decision of a strategy.
pub(super) enum NextStep {
    /// Opens the target that the strategy has chosen.
    Open,
    /// Waits, and then asks the strategy again. The limit is the reason that is reported, unless the wait follows a failure.
    Wait { limit: Text, delay: Duration },
    /// Ends the call.
    Fail(LlmError),
}

/// An attempt that failed.
pub(super) struct FailedAttempt {
    pub(super) error: LlmError,
    /// Whether another attempt is possible at all: the call was not cancelled, and what was returned may be discarded.
    pub(super) is_repeatable: bool,
    /// The time since the first poll. Zero unless the strategy needs the time or the call has a deadline.
    pub(super) elapsed: Duration,
    /// The time left until the deadline of the call.
    pub(super) left: Option<Duration>,
}

/// Decides for one call which target is tried, and what follows a failure.
pub(super) trait SwitchStrategy: Send + Unpin + 'static {
    fn clock(&self) -> &Arc<dyn Clock>;

    fn mid_stream(&self) -> MidStream;

    /// Returns whether [`FailedAttempt::elapsed`] is needed even if the call has no deadline.
    fn needs_time(&self) -> bool {
        false
    }

    /// Decides what happens next. `left` is the time left until the deadline of the call.
    fn next_step(&mut self, call: &Call, left: Option<Duration>) -> NextStep;

    /// Opens the target chosen by the last [`NextStep::Open`].
    fn open(&self, call: Call) -> ReplyStream;

    /// Returns the name of that target, if the stream should report it.
    fn answered_by(&self, call: &Call) -> Option<AnsweredBy>;

    /// Records that the attempt succeeded.
    fn succeeded(&mut self) {}

    /// Records that the attempt failed. Returns the fault if another attempt should follow.
    ///
    /// # Errors
    /// Returns the error that ends the call.
    fn failed(&mut self, attempt: FailedAttempt) -> Result<Fault, LlmError>;
}

/// A wait that can be cancelled. Returns whether it was.
type Wait = Pin<Box<dyn Future<Output = bool> + Send>>;

fn wait(clock: Arc<dyn Clock>, delay: Duration, token: CancellationToken) -> Wait {
    Box::pin(async move {
        tokio::select! {
            biased;
            () = token.cancelled() => true,
            () = clock.sleep(delay) => false,
        }
    })
}

/// A call that is attempted until one attempt succeeds or the strategy gives up.
pub(super) struct SwitchingStream<S> {
    strategy: S,
    call: Call,
    /// The time of the first poll, if it is needed.
    started: Duration,
    attempt: Attempt,
    /// Whether the target that answers was reported.
    is_announced: bool,
    /// The item to return after a notice that was inserted before it.
    pending: Option<ReplyItem>,
    state: State,
}

enum State {
    New,
    Reading(ReplyStream),
    Waiting(Wait),
    Done,
}

impl<S: SwitchStrategy> SwitchingStream<S> {
    pub(super) fn open(strategy: S, call: Call) -> ReplyStream {
        ReplyStream::new(Self {
            strategy,
            call,
            started: Duration::ZERO,
            attempt: Attempt::default(),
            is_announced: false,
            pending: None,
            state: State::New,
        })
    }

    /// Returns whether anything depends on the time. Otherwise the clock is never read.
    fn needs_time(&self) -> bool {
        self.call.deadline.is_some() || self.strategy.needs_time()
    }

    fn elapsed(&self) -> Duration {
        if self.needs_time() {
            self.strategy.clock().monotonic().saturating_sub(self.started)
        } else {
            Duration::ZERO
        }
    }

    fn left(&self, elapsed: Duration) -> Option<Duration> {
        self.call.deadline.map(|deadline| deadline.saturating_sub(elapsed))
    }

    fn start(&mut self) -> Option<ReplyItem> {
        if self.needs_time() {
            self.started = self.strategy.clock().monotonic();
        }
        self.advance(self.call.deadline, None)
    }

    /// Takes the next step; `failed` is the previous attempt, if it failed just now.
    fn advance(&mut self, left: Option<Duration>, failed: Option<(Attempt, Fault)>) -> Option<ReplyItem> {
        if self.call.must_stop() {
            return Some(self.end(Err(LlmError::cancelled())));
        }
        match self.strategy.next_step(&self.call, left) {
            NextStep::Open => {
                let mut call = self.call.clone();
                call.deadline = left;
                self.state = State::Reading(self.strategy.open(call));
                self.is_announced = false;
                failed.map(|(attempt, fault)| self.repeated(attempt, fault, Duration::ZERO))
            }
            NextStep::Wait { limit, delay } => {
                let clock = Arc::clone(self.strategy.clock());
                self.state = State::Waiting(wait(clock, delay, self.call.token.clone()));
                Some(match failed {
                    Some((attempt, fault)) => self.repeated(attempt, fault, delay),
                    None => ReplyItem::Notice(Notice::Waiting { limit, delay }),
                })
            }
            NextStep::Fail(error) => Some(self.end(Err(error))),
        }
    }

    fn repeated(&self, attempt: Attempt, fault: Fault, delay: Duration) -> ReplyItem {
        ReplyItem::Notice(attempt.into_notice(self.call.attempt, delay, fault))
    }

    fn end(&mut self, end: Result<(), LlmError>) -> ReplyItem {
        self.state = State::Done;
        ReplyItem::End(end)
    }

    /// Inspects an item that is about to be returned.
    fn forward(&mut self, item: ReplyItem) -> ReplyItem {
        match item {
            ReplyItem::Delta(_) => self.announced(item),
            ReplyItem::End(Ok(())) => {
                let end = self.end(Ok(()));
                let item = self.announced(end);
                self.strategy.succeeded();
                item
            }
            ReplyItem::End(Err(error)) => self.failed(error),
            ReplyItem::Notice(notice) => {
                self.record(&notice);
                ReplyItem::Notice(notice)
            }
        }
    }

    /// Inserts a notice about the target that answers before the first item, unless an inner layer has reported it.
    fn announced(&mut self, item: ReplyItem) -> ReplyItem {
        if std::mem::replace(&mut self.is_announced, true) {
            return item;
        }
        let Some(answered_by) = self.strategy.answered_by(&self.call) else {
            return item;
        };
        record_in_span(&answered_by);
        self.pending = Some(item);
        ReplyItem::Notice(Notice::AnsweredBy(answered_by))
    }

    fn record(&mut self, notice: &Notice) {
        match notice {
            // An inner layer makes another attempt, and has reported what was lost.
            Notice::RetryScheduled { .. } | Notice::Restarted { .. } => {
                self.call.attempt = self.call.attempt.saturating_add(1);
                self.attempt = Attempt::default();
            }
            Notice::AnsweredBy(_) => self.is_announced = true,
            Notice::Waiting { .. } => {}
        }
    }

    fn failed(&mut self, error: LlmError) -> ReplyItem {
        let elapsed = self.elapsed();
        let left = self.left(elapsed);
        let is_repeatable = error.kind() != LlmErrorKind::Cancelled
            && !self.call.must_stop()
            && (!self.attempt.has_content() || self.strategy.mid_stream() == MidStream::Restart);
        let failed = FailedAttempt {
            error,
            is_repeatable,
            elapsed,
            left,
        };
        let fault = match self.strategy.failed(failed) {
            Ok(fault) => fault,
            Err(error) => return self.end(Err(error)),
        };
        self.call.attempt = self.call.attempt.saturating_add(1);
        let attempt = std::mem::take(&mut self.attempt);
        match self.advance(left, Some((attempt, fault))) {
            Some(item) => item,
            // Cannot happen: `advance` always returns an item after a failure.
            None => self.end(Err(LlmError::truncated())),
        }
    }
}

/// Records the target that answers in the caller's span, if it has these fields.
fn record_in_span(answered_by: &AnsweredBy) {
    let (provider, model) = (answered_by.provider.as_str(), answered_by.model.as_str());
    let span = tracing::Span::current();
    span.record("gen_ai.provider.name", provider)
        .record("gen_ai.request.model", model);
    if let Some(key) = &answered_by.key {
        span.record("agcore.key", key.as_str());
    }
    tracing::debug!(provider, model, key = answered_by.key.as_deref(), "answered by");
}

impl<S: SwitchStrategy> Stream for SwitchingStream<S> {
    type Item = ReplyItem;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<ReplyItem>> {
        let this = self.get_mut();
        if this.pending.is_some() {
            return Poll::Ready(this.pending.take());
        }
        loop {
            let item = match &mut this.state {
                State::Reading(reply) => {
                    let item = ready!(Pin::new(reply).poll_next(cx));
                    if let Some(ReplyItem::Delta(delta)) = &item {
                        this.attempt.record(delta);
                        // Nearly all items take this path, so they are not moved.
                        if this.is_announced {
                            return Poll::Ready(item);
                        }
                    }
                    let item = item.unwrap_or_else(|| ReplyItem::End(Err(LlmError::truncated())));
                    Some(this.forward(item))
                }
                State::New => this.start(),
                State::Done => return Poll::Ready(None),
                State::Waiting(wait) => match ready!(wait.as_mut().poll(cx)) {
                    true => Some(this.end(Err(LlmError::cancelled()))),
                    false => {
                        let left = this.left(this.elapsed());
                        this.advance(left, None)
                    }
                },
            };
            if item.is_some() {
                return Poll::Ready(item);
            }
        }
    }
}
