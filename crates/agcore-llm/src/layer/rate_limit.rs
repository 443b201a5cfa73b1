//! [`RateLimit`]: a local limit of requests and tokens per minute, so that the server need not refuse calls.
//!
//! Put [`Retry`](super::retry::Retry) around it and not inside it, so that each attempt is counted.

mod limits;
mod schedule;

pub use limits::RateLimits;
pub use schedule::{Reservation, Schedule, WINDOW};

use std::{
    fmt,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, ready},
    time::Duration,
};

use agcore_chat::{ChatRequest, Clock, HeuristicEstimator, Text, TokenEstimator, Usage};
use futures_core::Stream;
use tokio::sync::Notify;

use crate::{
    provider::{Call, LlmProvider, ProviderInfo, ProviderRoute},
    reply::{Notice, ReplyItem, ReplyStream},
};
use agcore_wire::{LlmError, LlmErrorKind, ReplyDelta};

/// A provider that is called no more often than allowed.
///
/// Calls are sent in the order of arrival. A call that has to wait reports it with a [`Waiting`](Notice::Waiting) notice. A
/// call that would wait longer than allowed, or longer than its deadline, fails at once with `RateLimit`, and its error
/// states when it could be sent. Tokens are reserved as estimated (the prompt, plus the token limit of the request if it has
/// one) and corrected when the server reports them.
///
/// Cancel safe: a call that is dropped while it waits leaves the queue; cancelling its token ends the wait.
///
/// ```
/// use std::{sync::Arc, time::Duration};
/// use agcore_chat::{ChatRequest, ChatResponse, Message};
/// use agcore_llm::{
///     LlmProviderExt, SystemClock,
///     layer::rate_limit::{RateLimit, RateLimits},
///     provider_fn,
/// };
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let model = provider_fn(|_| async { Ok(ChatResponse::from_text("Hi.")) });
/// let limits = RateLimits::new().with_requests_per_minute(1).with_max_wait(Duration::ZERO);
/// let limited = RateLimit::new(model, limits, Arc::new(SystemClock::new()))?;
///
/// let request = ChatRequest::new([Message::user("Hello")]);
/// assert_eq!(limited.chat(request.clone()).await?.text(), "Hi.");
/// let error = limited.chat(request).await.unwrap_err();
/// assert!(error.is_retryable() && error.retry_after() <= Some(Duration::from_secs(60)));
/// # Ok::<(), agcore_llm::LlmError>(())
/// # }).unwrap();
/// ```
#[must_use]
pub struct RateLimit<P> {
    inner: Arc<P>,
    queue: Arc<Queue>,
}

struct Queue {
    /// The name of the provider.
    name: Arc<str>,
    limits: RateLimits,
    schedule: Mutex<Schedule>,
    /// Notified when the times of waiting calls may have changed.
    rescheduled: Notify,
    clock: Arc<dyn Clock>,
    estimator: Arc<dyn TokenEstimator>,
}

impl<P: LlmProvider> RateLimit<P> {
    /// Wraps a provider. The clock measures time and waits.
    ///
    /// # Errors
    /// Returns `InvalidRequest` for a limit of 0.
    pub fn new(inner: P, limits: RateLimits, clock: Arc<dyn Clock>) -> Result<Self, LlmError> {
        limits.check()?;
        let queue = Queue {
            name: Arc::clone(&inner.info().name),
            schedule: Mutex::new(Schedule::new(&limits)),
            limits,
            rescheduled: Notify::new(),
            clock,
            estimator: Arc::new(HeuristicEstimator::default()),
        };
        Ok(Self {
            inner: Arc::new(inner),
            queue: Arc::new(queue),
        })
    }

    /// Sets the estimator of the tokens of a request. Has no effect after the first call.
    pub fn with_estimator(mut self, estimator: Arc<dyn TokenEstimator>) -> Self {
        if let Some(queue) = Arc::get_mut(&mut self.queue) {
            queue.estimator = estimator;
        }
        self
    }
}

impl<P: fmt::Debug> fmt::Debug for RateLimit<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RateLimit")
            .field("inner", &self.inner)
            .field("limits", &self.queue.limits)
            .finish()
    }
}

impl<P: LlmProvider + 'static> LlmProvider for RateLimit<P> {
    fn open(&self, call: Call) -> ReplyStream {
        ReplyStream::new(LimitedStream {
            inner: Arc::clone(&self.inner),
            permit: Permit::new(Arc::clone(&self.queue)),
            state: State::New(call),
        })
    }

    fn info(&self) -> &ProviderInfo {
        self.inner.info()
    }

    fn visit_routes<'a>(&'a self, model: &'a str, visit: &mut dyn FnMut(ProviderRoute<'a>)) {
        self.inner.visit_routes(model, visit);
    }
}

impl Queue {
    // Nothing panics while the lock is held, and a schedule would stay consistent anyway, so poisoning is ignored.
    fn schedule(&self) -> MutexGuard<'_, Schedule> {
        self.schedule.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Estimates the tokens that a request will use.
    fn tokens(&self, request: &ChatRequest) -> u64 {
        if self.limits.tokens_per_minute.is_none() {
            return 0;
        }
        let prompt = self.estimator.request(request);
        prompt.saturating_add(request.token_limit().unwrap_or(0))
    }

    fn limit_reached(&self, delay: Duration, max_wait: Duration) -> LlmError {
        let message = format!(
            "the local limit of {} is reached: this call could be sent in {:.1} s, but may wait only {:.1} s",
            self.limit(),
            delay.as_secs_f64(),
            max_wait.as_secs_f64(),
        );
        LlmError::new(LlmErrorKind::RateLimit, message)
            .with_provider(&*self.name)
            .with_retry_after(Some(delay))
    }

    fn limit(&self) -> Text {
        let RateLimits {
            requests_per_minute: requests,
            tokens_per_minute: tokens,
            ..
        } = self.limits;
        match (requests, tokens) {
            (Some(requests), Some(tokens)) => format!("{requests} requests and {tokens} tokens per minute"),
            (Some(requests), None) => format!("{requests} requests per minute"),
            (_, Some(tokens)) => format!("{tokens} tokens per minute"),
            (None, None) => "nothing".to_owned(),
        }
        .into()
    }
}

/// A call's place in the queue, which is settled or released when it is dropped.
struct Permit {
    queue: Arc<Queue>,
    /// The number in the schedule, once reserved.
    number: Option<u64>,
    /// The tokens that were reported, once the request was sent.
    used: Option<UsedTokens>,
}

#[derive(Default)]
struct UsedTokens {
    /// The tokens of failed attempts of inner layers.
    lost: u64,
    /// The tokens of the current attempt; each report replaces the previous one.
    current: Option<u64>,
}

impl Permit {
    fn new(queue: Arc<Queue>) -> Self {
        Self {
            queue,
            number: None,
            used: None,
        }
    }

    fn record(&mut self, item: &ReplyItem) {
        let Some(used) = &mut self.used else {
            return;
        };
        match item {
            ReplyItem::Delta(ReplyDelta::Usage(usage)) => used.current = usage.total(),
            ReplyItem::Notice(Notice::Restarted { usage, .. }) => {
                let lost = usage.as_deref().and_then(Usage::total).unwrap_or(0);
                used.lost = used.lost.saturating_add(lost);
                used.current = None;
            }
            _ => {}
        }
    }
}

impl Drop for Permit {
    /// Corrects the reservation to the tokens that were used; if the server did not report them, it stays as estimated. A
    /// request that was never sent is removed.
    fn drop(&mut self) {
        let Some(number) = self.number else {
            return;
        };
        let queue = &self.queue;
        let is_rescheduled = match &self.used {
            None => queue.schedule().release(number, queue.clock.monotonic()),
            Some(UsedTokens { lost, current }) => match current {
                Some(current) if queue.limits.tokens_per_minute.is_some() => {
                    let (tokens, now) = (current.saturating_add(*lost), queue.clock.monotonic());
                    queue.schedule().settle(number, tokens, now)
                }
                _ => false,
            },
        };
        if is_rescheduled {
            queue.rescheduled.notify_waiters();
        }
    }
}

/// A call that waits in the queue before it is sent.
struct LimitedStream<P> {
    inner: Arc<P>,
    permit: Permit,
    state: State,
}

enum State {
    New(Call),
    Waiting(Pin<Box<dyn Future<Output = Result<Call, LlmError>> + Send>>),
    Reading(ReplyStream),
    Done,
}

impl<P: LlmProvider + 'static> LimitedStream<P> {
    /// Enters the queue. Returns an item if the call has to wait, or fails at once.
    fn enter(&mut self, call: Call) -> Option<ReplyItem> {
        let queue = &self.permit.queue;
        let (tokens, now) = (queue.tokens(&call.request), queue.clock.monotonic());
        let (number, delay) = {
            let mut schedule = queue.schedule();
            let number = schedule.reserve(now, tokens).number;
            (number, schedule.wait(number, now))
        };
        self.permit.number = Some(number);
        if delay.is_zero() {
            self.send(call);
            return None;
        }
        let max_wait = max_wait(&queue.limits, &call);
        if delay > max_wait {
            let error = queue.limit_reached(delay, max_wait);
            return Some(self.end(Err(error)));
        }
        let limit = queue.limit();
        self.state = State::Waiting(Box::pin(wait_in_queue(Arc::clone(queue), number, call, now)));
        Some(ReplyItem::Notice(Notice::Waiting { limit, delay }))
    }

    fn send(&mut self, call: Call) {
        self.permit.used = Some(UsedTokens::default());
        self.state = State::Reading(self.inner.open(call));
    }

    fn end(&mut self, end: Result<(), LlmError>) -> ReplyItem {
        self.state = State::Done;
        if end.as_ref().is_err_and(LlmError::is_unsupported) {
            // Nothing was sent.
            self.permit.used = None;
        }
        // Settles the permit now instead of when the stream is dropped, so that waiting calls can move forward.
        self.permit = Permit::new(Arc::clone(&self.permit.queue));
        ReplyItem::End(end)
    }
}

fn max_wait(limits: &RateLimits, call: &Call) -> Duration {
    call.deadline
        .map_or(limits.max_wait, |deadline| deadline.min(limits.max_wait))
}

/// Waits until the call may be sent, while other calls may change when that is. Returns the call with the rest of its
/// deadline.
///
/// # Errors
/// Returns `Cancelled`, or `RateLimit` if the wait became too long because other calls have used more than they reserved.
async fn wait_in_queue(queue: Arc<Queue>, number: u64, mut call: Call, started: Duration) -> Result<Call, LlmError> {
    let max_wait = max_wait(&queue.limits, &call);
    loop {
        // Created before the check, so that no notification is missed.
        let rescheduled = queue.rescheduled.notified();
        let now = queue.clock.monotonic();
        let delay = queue.schedule().wait(number, now);
        let waited = now.saturating_sub(started);
        if delay.is_zero() {
            if call.must_stop() {
                return Err(LlmError::cancelled());
            }
            call.deadline = call.deadline.map(|deadline| deadline.saturating_sub(waited));
            return Ok(call);
        }
        if waited.saturating_add(delay) > max_wait {
            return Err(queue.limit_reached(delay, max_wait.saturating_sub(waited)));
        }
        tokio::select! {
            biased;
            () = call.token.cancelled() => return Err(LlmError::cancelled()),
            () = rescheduled => {}
            () = queue.clock.sleep(delay) => {}
        }
    }
}

impl<P: LlmProvider + 'static> Stream for LimitedStream<P> {
    type Item = ReplyItem;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<ReplyItem>> {
        let this = self.get_mut();
        loop {
            match &mut this.state {
                State::Done => return Poll::Ready(None),
                State::New(_) => {
                    if let State::New(call) = std::mem::replace(&mut this.state, State::Done)
                        && let Some(item) = this.enter(call)
                    {
                        return Poll::Ready(Some(item));
                    }
                }
                State::Waiting(wait) => match ready!(wait.as_mut().poll(cx)) {
                    Ok(call) => this.send(call),
                    Err(error) => return Poll::Ready(Some(this.end(Err(error)))),
                },
                State::Reading(reply) => {
                    let item = ready!(Pin::new(reply).poll_next(cx));
                    let item = item.unwrap_or_else(|| ReplyItem::End(Err(LlmError::truncated())));
                    this.permit.record(&item);
                    return Poll::Ready(Some(match item {
                        ReplyItem::End(end) => this.end(end),
                        item => item,
                    }));
                }
            }
        }
    }
}
