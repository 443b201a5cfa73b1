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

use agcore_chat::Clock;
use futures_core::Stream;

use super::{
    attempt::Attempt,
    wait::{Wait, wait},
};
use crate::{
    error::LlmError,
    provider::{Call, LlmProvider, ProviderInfo},
    reply::{Notice, ReplyItem, ReplyStream, cut},
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
        let reply = self.inner.open(call.clone());
        ReplyStream::new(Retrying {
            inner: Arc::clone(&self.inner),
            shared: Arc::clone(&self.shared),
            call,
            begun: None,
            retries: 0,
            attempt: Attempt::default(),
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
    /// When it was first polled: nothing is sent before.
    begun: Option<Duration>,
    /// Ours; the call's own number also counts those of other layers.
    retries: u32,
    attempt: Attempt,
    state: State,
}

enum State {
    Reading(ReplyStream),
    /// Waits, then goes on; true when the token was cancelled.
    Waiting(Wait),
    Done,
}

impl<P: LlmProvider + 'static> Retrying<P> {
    /// Looks at an item on its way out; a failure that is worth another attempt becomes a notice.
    fn pass(&mut self, item: ReplyItem) -> ReplyItem {
        match item {
            ReplyItem::Delta(delta) => {
                self.attempt.take(&delta);
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
            ReplyItem::Notice(notice) => {
                if matches!(notice, Notice::Restarted { .. } | Notice::RetryScheduled { .. }) {
                    // A layer below has begun anew, and told of what was lost.
                    self.call.attempt = self.call.attempt.saturating_add(1);
                    self.attempt = Attempt::default();
                }
                ReplyItem::Notice(notice)
            }
        }
    }

    fn spent(&self) -> Duration {
        self.begun.map_or(Duration::ZERO, |begun| {
            self.shared.clock.monotonic().saturating_sub(begun)
        })
    }

    /// Makes the call again, in the time that is left.
    fn reopen(&self) -> ReplyStream {
        let mut call = self.call.clone();
        call.deadline = call.deadline.map(|deadline| deadline.saturating_sub(self.spent()));
        self.inner.open(call)
    }

    /// Begins to wait for another attempt, or gives the error back.
    fn verdict(&mut self, error: LlmError) -> Result<Notice, LlmError> {
        let Shared { policy, clock, random } = &*self.shared;
        let attempt = std::mem::take(&mut self.attempt);
        if !error.is_retryable()
            || self.call.token.is_cancelled()
            || (attempt.handed_out() && policy.mid_stream == MidStream::Fail)
            || self.retries >= policy.max_retries
        {
            return Err(error);
        }
        let most = self
            .call
            .deadline
            .map_or(policy.budget, |deadline| deadline.min(policy.budget));
        let left = most.saturating_sub(self.spent());
        let delay = policy.delay(self.retries, error.retry_after(), random());
        if delay >= left {
            return Err(too_long(error, delay, left));
        }
        self.retries += 1;
        self.call.attempt = self.call.attempt.saturating_add(1);
        self.state = State::Waiting(wait(Arc::clone(clock), delay, self.call.token.clone()));
        Ok(attempt.followed_by(self.call.attempt, delay, error.fault()))
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
        this.begun.get_or_insert_with(|| this.shared.clock.monotonic());
        loop {
            match &mut this.state {
                State::Done => return Poll::Ready(None),
                State::Reading(reply) => {
                    let item = std::task::ready!(Pin::new(reply).poll_next(cx));
                    let item = item.unwrap_or_else(|| ReplyItem::End(Err(cut())));
                    return Poll::Ready(Some(this.pass(item)));
                }
                State::Waiting(wait) => {
                    let cancelled = std::task::ready!(wait.as_mut().poll(cx));
                    if cancelled {
                        this.state = State::Done;
                        return Poll::Ready(Some(ReplyItem::End(Err(LlmError::cancelled()))));
                    }
                    this.state = State::Reading(this.reopen());
                }
            }
        }
    }
}
