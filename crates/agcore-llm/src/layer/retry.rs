//! [`Retry`]: makes a failed call again, after the server's hint or with full jitter.
//!
//! What is worth a retry is told by the error. A hint of the server wins over our own back-off; one that is longer than the
//! time left fails at once and says so. The wait ends when the call's token is cancelled.

mod policy;

pub use policy::{MidStream, RetryPolicy};

use std::{
    fmt,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use agcore_chat::{Clock, Usage};
use futures_core::Stream;

use crate::{
    delta::ReplyDelta,
    error::LlmError,
    provider::{Call, LlmProvider, ProviderInfo},
    reply::{Notice, ReplyItem, ReplyStream},
};

/// Gives numbers from 0 to 1, at random.
pub type Random = Arc<dyn Fn() -> f64 + Send + Sync>;

/// A provider that makes failed calls again.
pub struct Retry<P> {
    inner: Arc<P>,
    shared: Arc<Shared>,
}

struct Shared {
    policy: RetryPolicy,
    clock: Arc<dyn Clock>,
    random: Random,
}

impl<P> Retry<P> {
    /// Wraps a provider. The clock measures and waits, `random` gives numbers from 0 to 1 for the jitter.
    pub fn new(inner: P, policy: RetryPolicy, clock: Arc<dyn Clock>, random: Random) -> Self {
        Self {
            inner: Arc::new(inner),
            shared: Arc::new(Shared { policy, clock, random }),
        }
    }
}

impl<P: fmt::Debug> fmt::Debug for Retry<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Retry")
            .field("inner", &self.inner)
            .field("policy", &self.shared.policy)
            .finish()
    }
}

impl<P: LlmProvider + 'static> LlmProvider for Retry<P> {
    fn open(&self, call: Call) -> ReplyStream {
        let begun = self.shared.clock.monotonic();
        let attempt = Attempt {
            handed_out: false,
            usage: None,
        };
        let reply = self.inner.open(call.clone());
        ReplyStream::new(Retrying {
            inner: Arc::clone(&self.inner),
            shared: Arc::clone(&self.shared),
            call,
            begun,
            attempt,
            state: State::Reading(reply),
        })
    }

    fn info(&self) -> &ProviderInfo {
        self.inner.info()
    }
}

/// A call that is made again as long as the policy allows.
struct Retrying<P> {
    inner: Arc<P>,
    shared: Arc<Shared>,
    call: Call,
    begun: Duration,
    attempt: Attempt,
    state: State,
}

/// What the attempt under way has given so far.
struct Attempt {
    /// Whether any part of an answer was handed out.
    handed_out: bool,
    usage: Option<Box<Usage>>,
}

enum State {
    Reading(ReplyStream),
    /// Waits, then goes on; true when the token was cancelled.
    Waiting(Pin<Box<dyn Future<Output = bool> + Send>>),
    Done,
}

impl<P: LlmProvider + 'static> Retrying<P> {
    /// Looks at an item on its way out; a failure that is worth another attempt becomes a notice.
    fn pass(&mut self, item: ReplyItem) -> ReplyItem {
        match item {
            ReplyItem::Delta(delta) => {
                match &delta {
                    ReplyDelta::Start(_) => {}
                    ReplyDelta::Usage(usage) => {
                        self.attempt.usage = Some(usage.clone());
                        self.attempt.handed_out = true;
                    }
                    _ => self.attempt.handed_out = true,
                }
                ReplyItem::Delta(delta)
            }
            ReplyItem::End(Err(error)) => match self.verdict(error) {
                Ok(notice) => ReplyItem::Notice(notice),
                Err(error) => {
                    self.state = State::Done;
                    ReplyItem::End(Err(error))
                }
            },
            ReplyItem::End(Ok(())) => {
                self.state = State::Done;
                ReplyItem::End(Ok(()))
            }
            notice @ ReplyItem::Notice(_) => notice,
        }
    }

    /// Begins to wait for another attempt, or gives the error back.
    fn verdict(&mut self, error: LlmError) -> Result<Notice, LlmError> {
        let Shared { policy, clock, random } = &*self.shared;
        let restart = self.attempt.handed_out;
        if !error.is_retryable()
            || self.call.token.is_cancelled()
            || (restart && policy.mid_stream == MidStream::Fail)
            || self.call.attempt >= policy.max_retries
        {
            return Err(error);
        }
        let spent = clock.monotonic().saturating_sub(self.begun);
        let left = self
            .call
            .deadline
            .map_or(policy.budget, |deadline| deadline.min(policy.budget))
            .saturating_sub(spent);
        let delay = policy.delay(self.call.attempt, error.retry_after(), random());
        if delay > left {
            return Err(too_long(error, delay, left));
        }
        self.call.attempt += 1;
        let fault = error.fault();
        let (clock, token) = (Arc::clone(clock), self.call.token.clone());
        self.state = State::Waiting(Box::pin(async move {
            tokio::select! {
                biased;
                () = token.cancelled() => true,
                () = clock.sleep(delay) => false,
            }
        }));
        let usage = self.attempt.usage.take();
        self.attempt.handed_out = false;
        Ok(if restart {
            Notice::Restarted { fault, usage }
        } else {
            Notice::RetryScheduled {
                attempt: self.call.attempt,
                delay,
                fault,
            }
        })
    }
}

/// The error of a call that could only be made again after longer than there is time.
fn too_long(error: LlmError, delay: Duration, left: Duration) -> LlmError {
    let message = format!(
        "{}; not retried: the next attempt would have to wait {:.1} s, but only {:.1} s are left for retries",
        error.message(),
        delay.as_secs_f64(),
        left.as_secs_f64(),
    );
    error.with_message(message)
}

impl<P: LlmProvider + 'static> Stream for Retrying<P> {
    type Item = ReplyItem;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<ReplyItem>> {
        let this = self.get_mut();
        loop {
            match &mut this.state {
                State::Done => return Poll::Ready(None),
                State::Reading(reply) => {
                    let item = std::task::ready!(Pin::new(reply).poll_next(cx));
                    let Some(item) = item else {
                        this.state = State::Done;
                        return Poll::Ready(None);
                    };
                    return Poll::Ready(Some(this.pass(item)));
                }
                State::Waiting(wait) => {
                    let cancelled = std::task::ready!(wait.as_mut().poll(cx));
                    if cancelled {
                        this.state = State::Done;
                        return Poll::Ready(Some(ReplyItem::End(Err(LlmError::cancelled()))));
                    }
                    this.state = State::Reading(this.inner.open(this.call.clone()));
                }
            }
        }
    }
}
