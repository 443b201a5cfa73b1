//! [`Breaker`]: a circuit breaker that stops calling a failing server, and probes with single calls whether it has recovered.

mod circuit;
mod policy;

pub use circuit::{Circuit, CircuitState, Health, Permit};
pub use policy::BreakerPolicy;

use std::{
    fmt,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, ready},
    time::Duration,
};

use agcore_chat::{Clock, Fault};
use futures_core::Stream;

use super::attempt::Attempt;
use crate::{
    provider::{Call, LlmProvider, ProviderInfo, ProviderRoute},
    reply::{ReplyItem, ReplyStream},
};
use agcore_wire::{LlmError, LlmErrorKind};

/// A provider that is not called while its server is failing.
///
/// While the circuit is open, calls fail at once with `Overloaded`, and the error states when the next call may probe the
/// server. Overload, server errors, lost connections and timeouts open the circuit; refused requests and rate limits do not.
///
/// Cancel safe: a call that is dropped does not count. If it was the probe, the next call becomes the probe.
///
/// ```
/// use std::sync::Arc;
/// use agcore_chat::{ChatRequest, Message};
/// use agcore_llm::{
///     LlmError, LlmErrorKind, LlmProviderExt, SystemClock,
///     layer::breaker::{Breaker, BreakerPolicy},
///     provider_fn,
/// };
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let down = provider_fn(|_| async { Err(LlmError::new(LlmErrorKind::Server, "out of order")) });
/// let policy = BreakerPolicy::new().with_failures_in_row(1);
/// let guarded = Breaker::new(down, policy, Arc::new(SystemClock::new()))?;
///
/// let request = ChatRequest::new([Message::user("Hello")]);
/// assert_eq!(guarded.chat(request.clone()).await.unwrap_err().kind(), LlmErrorKind::Server);
/// let error = guarded.chat(request).await.unwrap_err();
/// assert!(error.message().starts_with("not sent: the circuit breaker is open"));
/// # Ok::<(), LlmError>(())
/// # }).unwrap();
/// ```
pub struct Breaker<P> {
    inner: Arc<P>,
    shared: Arc<Shared>,
}

struct Shared {
    /// The name of the provider.
    name: Arc<str>,
    clock: Arc<dyn Clock>,
    monitor: Mutex<Monitor>,
}

struct Monitor {
    circuit: Circuit,
    /// The last failure that counted against the server.
    last_fault: Option<Fault>,
}

impl<P: LlmProvider> Breaker<P> {
    /// Wraps a provider. The clock measures time.
    ///
    /// # Errors
    /// Returns `InvalidRequest` for a policy that would never allow a call.
    pub fn new(inner: P, policy: BreakerPolicy, clock: Arc<dyn Clock>) -> Result<Self, LlmError> {
        policy.check()?;
        let monitor = Monitor {
            circuit: Circuit::new(policy),
            last_fault: None,
        };
        let shared = Shared {
            name: Arc::clone(&inner.info().name),
            clock,
            monitor: Mutex::new(monitor),
        };
        Ok(Self {
            inner: Arc::new(inner),
            shared: Arc::new(shared),
        })
    }
}

impl<P> Breaker<P> {
    /// Returns the state of the circuit. Its times are those of the clock that was passed in.
    pub fn state(&self) -> CircuitState {
        self.shared.monitor().circuit.state()
    }
}

impl<P: fmt::Debug> fmt::Debug for Breaker<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Breaker")
            .field("inner", &self.inner)
            .field("state", &self.state())
            .finish()
    }
}

impl<P: LlmProvider + 'static> LlmProvider for Breaker<P> {
    fn open(&self, call: Call) -> ReplyStream {
        ReplyStream::new(BreakerStream {
            inner: Arc::clone(&self.inner),
            permit: PermitGuard {
                shared: Arc::clone(&self.shared),
                permit: None,
            },
            attempt: Attempt::default(),
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

impl Shared {
    // Nothing panics while the lock is held, and a circuit would stay consistent anyway, so poisoning is ignored.
    fn monitor(&self) -> MutexGuard<'_, Monitor> {
        self.monitor.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn admit(&self) -> Result<Permit, LlmError> {
        let mut monitor = self.monitor();
        let permit = monitor.circuit.admit(|| self.clock.monotonic());
        permit.map_err(|wait| self.refusal(wait, monitor.last_fault.clone()))
    }

    fn refusal(&self, wait: Option<Duration>, last_fault: Option<Fault>) -> LlmError {
        let when = match wait {
            Some(wait) => format!("the next call may probe the server in {:.1} s", wait.as_secs_f64()),
            None => "another call is probing the server now".to_owned(),
        };
        let message = format!("not sent: the circuit breaker is open after failures; {when}");
        let error = LlmError::new(LlmErrorKind::Overloaded, message)
            .with_provider(&*self.name)
            .with_retry_after(wait);
        match last_fault {
            Some(fault) => error.with_source(LlmError::from(fault)),
            None => error,
        }
    }
}

/// A permit whose result is unknown if the call is dropped.
struct PermitGuard {
    shared: Arc<Shared>,
    permit: Option<Permit>,
}

impl PermitGuard {
    fn record(&mut self, health: Health, error: Option<&LlmError>) {
        let Some(permit) = self.permit.take() else {
            return;
        };
        let fault = error.filter(|_| health == Health::Unhealthy).map(LlmError::fault);
        let mut monitor = self.shared.monitor();
        monitor.circuit.record(permit, health, || self.shared.clock.monotonic());
        monitor.last_fault = fault.or(monitor.last_fault.take());
    }
}

impl Drop for PermitGuard {
    fn drop(&mut self) {
        self.record(Health::Unknown, None);
    }
}

struct BreakerStream<P> {
    inner: Arc<P>,
    permit: PermitGuard,
    attempt: Attempt,
    state: State,
}

enum State {
    New(Call),
    Reading(ReplyStream),
    Done,
}

impl<P: LlmProvider + 'static> BreakerStream<P> {
    fn start(&mut self, call: Call) -> Option<ReplyItem> {
        match self.permit.shared.admit() {
            Ok(permit) => {
                self.permit.permit = Some(permit);
                self.state = State::Reading(self.inner.open(call));
                None
            }
            Err(error) => Some(ReplyItem::End(Err(error))),
        }
    }

    fn record(&mut self, item: &ReplyItem) {
        match item {
            ReplyItem::Delta(delta) => {
                // A probe has succeeded as soon as there is content; its reply may be long.
                if self.permit.permit.is_some_and(|permit| permit.is_probe()) {
                    self.attempt.record(delta);
                    if self.attempt.has_content() {
                        self.permit.record(Health::Healthy, None);
                    }
                }
            }
            ReplyItem::End(end) => {
                self.state = State::Done;
                match end {
                    Ok(()) => self.permit.record(Health::Healthy, None),
                    // Nothing was sent.
                    Err(error) if error.is_unsupported() => self.permit.record(Health::Unknown, None),
                    Err(error) => self.permit.record(Health::from_kind(error.kind()), Some(error)),
                }
            }
            ReplyItem::Notice(_) => {}
        }
    }
}

impl<P: LlmProvider + 'static> Stream for BreakerStream<P> {
    type Item = ReplyItem;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<ReplyItem>> {
        let this = self.get_mut();
        loop {
            match &mut this.state {
                State::Done => return Poll::Ready(None),
                State::New(_) => {
                    if let State::New(call) = std::mem::replace(&mut this.state, State::Done)
                        && let Some(item) = this.start(call)
                    {
                        return Poll::Ready(Some(item));
                    }
                }
                State::Reading(reply) => {
                    let item = ready!(Pin::new(reply).poll_next(cx));
                    let item = item.unwrap_or_else(|| ReplyItem::End(Err(LlmError::truncated())));
                    this.record(&item);
                    return Poll::Ready(Some(item));
                }
            }
        }
    }
}
