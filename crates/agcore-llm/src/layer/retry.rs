//! [`Retry`]: repeats failed calls, after the server's hint or with exponential backoff and full jitter.

mod policy;

pub use super::attempt::MidStream;
pub use policy::RetryPolicy;

use std::{fmt, sync::Arc, time::Duration};

use agcore_chat::{AnsweredBy, Clock, Fault, Text};

use super::switch::{FailedAttempt, NextStep, SwitchStrategy, SwitchingStream};
use crate::{
    provider::{Call, LlmProvider, ProviderInfo, ProviderRoute},
    random::Random,
    reply::ReplyStream,
    transport::refused::LocallyRefused,
};
use agcore_wire::LlmError;

/// A provider that repeats failed calls.
///
/// Only calls with a [retryable](LlmError::is_retryable) error are repeated. A hint of the server takes precedence over the
/// backoff of the policy; if the hint exceeds the time that is left, the call fails at once and the error says so.
///
/// Cancel safe: cancelling the token of a call also ends the wait between two attempts.
///
/// ```
/// use std::{sync::{Arc, atomic::{AtomicU32, Ordering}}, time::Duration};
/// use agcore_chat::{ChatRequest, ChatResponse, Message};
/// use agcore_llm::{
///     LlmError, LlmErrorKind, LlmProviderExt, SystemClock,
///     layer::retry::{Retry, RetryPolicy},
///     provider_fn, system_random,
/// };
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
/// // Fails twice before it answers.
/// let calls = AtomicU32::new(0);
/// let unreliable = provider_fn(move |_| {
///     let is_down = calls.fetch_add(1, Ordering::Relaxed) < 2;
///     async move {
///         match is_down {
///             true => Err(LlmError::new(LlmErrorKind::Overloaded, "try again later")),
///             false => Ok(ChatResponse::from_text("Hi.")),
///         }
///     }
/// });
/// let policy = RetryPolicy::new().with_backoff(Duration::from_millis(1), Duration::from_millis(5));
/// let provider = Retry::new(unreliable, policy, Arc::new(SystemClock::new()), system_random());
///
/// let response = provider.chat(ChatRequest::new([Message::user("Hello")])).await?;
/// assert_eq!(response.text(), "Hi.");
/// # Ok::<(), LlmError>(())
/// # }).unwrap();
/// ```
#[must_use]
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
    /// Wraps a provider. The clock measures time and waits; `random` returns numbers from 0 to 1 for the jitter.
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
        let strategy = RetryStrategy {
            inner: Arc::clone(&self.inner),
            shared: Arc::clone(&self.shared),
            retries: 0,
            delay: None,
        };
        SwitchingStream::open(strategy, call)
    }

    fn info(&self) -> &ProviderInfo {
        self.inner.info()
    }

    fn visit_routes<'a>(&'a self, model: &'a str, visit: &mut dyn FnMut(ProviderRoute<'a>)) {
        self.inner.visit_routes(model, visit);
    }
}

/// Repeats a call to the same provider as long as the policy allows.
struct RetryStrategy<P> {
    inner: Arc<P>,
    shared: Arc<Shared>,
    /// Retries of this layer; the number in the call includes those of other layers.
    retries: u32,
    /// The wait before the next attempt.
    delay: Option<Duration>,
}

impl<P: LlmProvider + 'static> SwitchStrategy for RetryStrategy<P> {
    fn clock(&self) -> &Arc<dyn Clock> {
        &self.shared.clock
    }

    fn mid_stream(&self) -> MidStream {
        self.shared.policy.mid_stream
    }

    fn needs_time(&self) -> bool {
        // The policy limits the time of all attempts.
        true
    }

    fn next_step(&mut self, _: &Call, _: Option<Duration>) -> NextStep {
        let limit = Text::EMPTY;
        self.delay
            .take()
            .map_or(NextStep::Open, |delay| NextStep::Wait { limit, delay })
    }

    fn open(&self, call: Call) -> ReplyStream {
        self.inner.open(call)
    }

    /// There is only one target, so there is nothing to report.
    fn answered_by(&self, _: &Call) -> Option<AnsweredBy> {
        None
    }

    fn failed(&mut self, attempt: FailedAttempt) -> Result<Fault, LlmError> {
        let Shared { policy, random, .. } = &*self.shared;
        let FailedAttempt {
            error,
            is_repeatable,
            elapsed,
            left,
        } = attempt;
        let max_retries = match LocallyRefused::caused(&error) {
            true => policy.max_retries.min(policy.local_retries),
            false => policy.max_retries,
        };
        if !is_repeatable || !error.is_retryable() || self.retries >= max_retries {
            return Err(error);
        }
        let budget = policy.budget.saturating_sub(elapsed);
        let left = left.map_or(budget, |left| left.min(budget));
        let delay = policy.delay(self.retries, error.retry_after(), random());
        if delay >= left {
            return Err(out_of_time(error, delay, left));
        }
        self.retries += 1;
        self.delay = Some(delay);
        Ok(error.fault())
    }
}

/// Adds to the message that the call is not repeated because the wait would exceed the time left.
fn out_of_time(error: LlmError, delay: Duration, left: Duration) -> LlmError {
    let message = format!(
        "{}; not retried: the next attempt would have to wait {:.1} s, but only {:.1} s are left for retries",
        error.message().trim_end_matches('.'),
        delay.as_secs_f64(),
        left.as_secs_f64(),
    );
    error.with_message(message)
}
