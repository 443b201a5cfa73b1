//! [`RateLimit`]: keeps to so many requests and tokens per minute, before a server has to say no.
//!
//! Put [`Retry`](super::retry::Retry) around it and not inside, so that each attempt is counted.

mod limits;
mod schedule;

pub use limits::RateLimits;
pub use schedule::{Schedule, Turn, WINDOW};

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
    delta::ReplyDelta,
    error::{LlmError, LlmErrorKind},
    provider::{Call, LlmProvider, ProviderInfo},
    reply::{Notice, ReplyItem, ReplyStream, cut},
};

/// A provider that is asked no more often than allowed.
///
/// Calls go in the order in which they came. One that has to wait tells so with a notice; one that would wait longer than
/// allowed, or than its deadline, fails at once with `RateLimit` and says when it could go. Tokens are reserved as estimated
/// (the prompt, and the request's own limit of generated ones where it sets one) and settled by what the server tells.
///
/// Cancel safe: a call that is dropped while it waits leaves its place to the others; the call's token ends the wait.
///
/// ```
/// use std::{sync::Arc, time::Duration};
/// use agcore_chat::{ChatRequest, ChatResponse, Message};
/// use agcore_llm::{LlmProviderExt, SystemClock, provider_fn, layer::rate_limit::{RateLimit, RateLimits}};
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
pub struct RateLimit<P> {
    inner: Arc<P>,
    gate: Arc<Gate>,
}

struct Gate {
    /// The provider's.
    name: Arc<str>,
    limits: RateLimits,
    schedule: Mutex<Schedule>,
    /// Those who wait may go at another time.
    moved: Notify,
    clock: Arc<dyn Clock>,
    estimator: Arc<dyn TokenEstimator>,
}

impl<P: LlmProvider> RateLimit<P> {
    /// Wraps a provider. The clock measures and waits.
    ///
    /// # Errors
    /// `InvalidRequest` for a limit of 0.
    pub fn new(inner: P, limits: RateLimits, clock: Arc<dyn Clock>) -> Result<Self, LlmError> {
        limits.check()?;
        let gate = Gate {
            name: Arc::clone(&inner.info().name),
            schedule: Mutex::new(Schedule::new(&limits)),
            limits,
            moved: Notify::new(),
            clock,
            estimator: Arc::new(HeuristicEstimator::default()),
        };
        Ok(Self {
            inner: Arc::new(inner),
            gate: Arc::new(gate),
        })
    }

    /// Sets who estimates the tokens of a request, before the first call.
    pub fn with_estimator(mut self, estimator: Arc<dyn TokenEstimator>) -> Self {
        if let Some(gate) = Arc::get_mut(&mut self.gate) {
            gate.estimator = estimator;
        }
        self
    }
}

impl<P: fmt::Debug> fmt::Debug for RateLimit<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RateLimit")
            .field("inner", &self.inner)
            .field("limits", &self.gate.limits)
            .finish()
    }
}

impl<P: LlmProvider + 'static> LlmProvider for RateLimit<P> {
    fn open(&self, call: Call) -> ReplyStream {
        ReplyStream::new(Limited {
            inner: Arc::clone(&self.inner),
            place: Place {
                gate: Arc::clone(&self.gate),
                number: None,
                used: None,
            },
            state: State::New(call),
        })
    }

    fn info(&self) -> &ProviderInfo {
        self.inner.info()
    }
}

impl Gate {
    // Nothing can panic while the lock is held, and a schedule stays whole anyway: poison says nothing.
    fn schedule(&self) -> MutexGuard<'_, Schedule> {
        self.schedule.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tokens that a request is likely to use.
    fn tokens(&self, request: &ChatRequest) -> u64 {
        if self.limits.tokens_per_minute.is_none() {
            return 0;
        }
        let prompt = self.estimator.request(request);
        prompt.saturating_add(request.token_limit().unwrap_or(0))
    }

    fn reached(&self, delay: Duration, most: Duration) -> LlmError {
        let message = format!(
            "our own limit of {} is reached: this call could go in {:.1} s, but may wait for {:.1} s",
            self.limit(),
            delay.as_secs_f64(),
            most.as_secs_f64(),
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

/// A call's place among the others; left when it is dropped.
struct Place {
    gate: Arc<Gate>,
    number: Option<u64>,
    /// Tokens that were told, once the request has gone.
    used: Option<Used>,
}

#[derive(Default)]
struct Used {
    /// By attempts below that came to nothing.
    lost: u64,
    /// By the one under way; each report replaces the one before.
    current: Option<u64>,
}

impl Place {
    fn sent(&mut self) {
        self.used = Some(Used::default());
    }

    fn note(&mut self, item: &ReplyItem) {
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

impl Drop for Place {
    /// Settles what was used; what the server does not tell stays as reserved. One that never went gives all back.
    fn drop(&mut self) {
        let Some(number) = self.number else {
            return;
        };
        let moved = match &self.used {
            None => self.gate.schedule().release(number, self.gate.clock.monotonic()),
            Some(Used { lost, current }) => match current {
                Some(current) if self.gate.limits.tokens_per_minute.is_some() => {
                    let (tokens, now) = (current.saturating_add(*lost), self.gate.clock.monotonic());
                    self.gate.schedule().settle(number, tokens, now)
                }
                _ => false,
            },
        };
        if moved {
            self.gate.moved.notify_waiters();
        }
    }
}

/// A call that waits for its turn.
struct Limited<P> {
    inner: Arc<P>,
    place: Place,
    state: State,
}

enum State {
    New(Call),
    Waiting(Pin<Box<dyn Future<Output = Result<Call, LlmError>> + Send>>),
    Reading(ReplyStream),
    Done,
}

impl<P: LlmProvider + 'static> Limited<P> {
    /// Takes a place; gives what is told of it when the call has to wait, or fails at once.
    fn queue(&mut self, call: Call) -> Option<ReplyItem> {
        let gate = &self.place.gate;
        let (tokens, now) = (gate.tokens(&call.request), gate.clock.monotonic());
        let (number, delay) = {
            let mut schedule = gate.schedule();
            let number = schedule.reserve(now, tokens).number;
            (number, schedule.wait(number, now))
        };
        self.place.number = Some(number);
        if delay.is_zero() {
            self.send(call);
            return None;
        }
        let most = longest(&gate.limits, &call);
        if delay > most {
            let error = gate.reached(delay, most);
            return Some(self.end(Err(error)));
        }
        let limit = gate.limit();
        self.state = State::Waiting(Box::pin(turn(Arc::clone(gate), number, call, now)));
        Some(ReplyItem::Notice(Notice::Waiting { limit, delay }))
    }

    fn send(&mut self, call: Call) {
        self.place.sent();
        self.state = State::Reading(self.inner.open(call));
    }

    fn end(&mut self, end: Result<(), LlmError>) -> ReplyItem {
        self.state = State::Done;
        // Others may move up now, not only when the stream is dropped.
        let gate = Arc::clone(&self.place.gate);
        self.place = Place {
            gate,
            number: None,
            used: None,
        };
        ReplyItem::End(end)
    }
}

/// The longest that a call may wait.
fn longest(limits: &RateLimits, call: &Call) -> Duration {
    call.deadline
        .map_or(limits.max_wait, |deadline| deadline.min(limits.max_wait))
}

/// Waits for the turn of a call, wherever the others move it.
///
/// # Errors
/// `Cancelled`, or `RateLimit` when others have used more than they had reserved, and the wait has become too long.
async fn turn(gate: Arc<Gate>, number: u64, mut call: Call, begun: Duration) -> Result<Call, LlmError> {
    let most = longest(&gate.limits, &call);
    loop {
        // Listens before it looks, so that no news is missed.
        let moved = gate.moved.notified();
        let now = gate.clock.monotonic();
        let delay = gate.schedule().wait(number, now);
        let waited = now.saturating_sub(begun);
        if delay.is_zero() {
            call.deadline = call.deadline.map(|deadline| deadline.saturating_sub(waited));
            return Ok(call);
        }
        if waited.saturating_add(delay) > most {
            return Err(gate.reached(delay, most.saturating_sub(waited)));
        }
        tokio::select! {
            biased;
            () = call.token.cancelled() => return Err(LlmError::cancelled()),
            () = moved => {}
            () = gate.clock.sleep(delay) => {}
        }
    }
}

impl<P: LlmProvider + 'static> Stream for Limited<P> {
    type Item = ReplyItem;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<ReplyItem>> {
        let this = self.get_mut();
        loop {
            match &mut this.state {
                State::Done => return Poll::Ready(None),
                State::New(_) => {
                    if let State::New(call) = std::mem::replace(&mut this.state, State::Done)
                        && let Some(item) = this.queue(call)
                    {
                        return Poll::Ready(Some(item));
                    }
                }
                State::Waiting(turn) => match ready!(turn.as_mut().poll(cx)) {
                    Ok(call) => this.send(call),
                    Err(error) => return Poll::Ready(Some(this.end(Err(error)))),
                },
                State::Reading(reply) => {
                    let item = ready!(Pin::new(reply).poll_next(cx));
                    let item = item.unwrap_or_else(|| ReplyItem::End(Err(cut())));
                    this.place.note(&item);
                    return Poll::Ready(Some(match item {
                        ReplyItem::End(end) => this.end(end),
                        item => item,
                    }));
                }
            }
        }
    }
}
