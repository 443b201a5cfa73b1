//! [`Breaker`]: stops asking a server that is not well, and tries with one call whether it is well again.

mod circuit;
mod policy;

pub use circuit::{Circuit, CircuitState, Health, Pass};
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
    error::{LlmError, LlmErrorKind},
    provider::{Call, LlmProvider, ProviderInfo},
    reply::{ReplyItem, ReplyStream, cut},
};

/// A provider that is left in peace while its server is not well: calls fail at once with `Overloaded`, and say when the
/// next one may try. Overload, server errors, broken connections and timeouts open the circuit; refusals of a request and
/// rate limits do not.
///
/// Cancel safe: a call that is dropped says nothing of the server, and when it was the one that tried, the next one may.
///
/// ```
/// use std::sync::Arc;
/// use agcore_chat::{ChatRequest, Message};
/// use agcore_llm::{
///     LlmError, LlmErrorKind, LlmProviderExt, SystemClock, provider_fn, layer::breaker::{Breaker, BreakerPolicy},
/// };
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let down = provider_fn(|_| async { Err(LlmError::new(LlmErrorKind::Server, "out of order")) });
/// let policy = BreakerPolicy::new().with_failures_in_row(1);
/// let guarded = Breaker::new(down, policy, Arc::new(SystemClock::new()))?;
///
/// let request = ChatRequest::new([Message::user("Hello")]);
/// assert_eq!(*guarded.chat(request.clone()).await.unwrap_err().kind(), LlmErrorKind::Server);
/// let error = guarded.chat(request).await.unwrap_err();
/// assert!(error.message().starts_with("not asked: the circuit is open"));
/// # Ok::<(), LlmError>(())
/// # }).unwrap();
/// ```
pub struct Breaker<P> {
    inner: Arc<P>,
    shared: Arc<Shared>,
}

struct Shared {
    name: Arc<str>,
    clock: Arc<dyn Clock>,
    watched: Mutex<Watched>,
}

struct Watched {
    circuit: Circuit,
    /// The last failure that spoke against the server.
    last: Option<Fault>,
}

impl<P: LlmProvider> Breaker<P> {
    /// Wraps a provider.
    ///
    /// # Errors
    /// `InvalidRequest` for a policy that could never let a call through.
    pub fn new(inner: P, policy: BreakerPolicy, clock: Arc<dyn Clock>) -> Result<Self, LlmError> {
        policy.check()?;
        let watched = Watched {
            circuit: Circuit::new(policy),
            last: None,
        };
        let shared = Shared {
            name: Arc::clone(&inner.info().name),
            clock,
            watched: Mutex::new(watched),
        };
        Ok(Self {
            inner: Arc::new(inner),
            shared: Arc::new(shared),
        })
    }
}

impl<P> Breaker<P> {
    /// Whether calls go through; times are of the clock that was handed in.
    pub fn state(&self) -> CircuitState {
        self.shared.watched().circuit.state()
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
        ReplyStream::new(Guarded {
            inner: Arc::clone(&self.inner),
            ticket: Ticket {
                shared: Arc::clone(&self.shared),
                pass: None,
            },
            attempt: Attempt::default(),
            state: State::New(call),
        })
    }

    fn info(&self) -> &ProviderInfo {
        self.inner.info()
    }
}

impl Shared {
    // Nothing can panic while the lock is held, and a circuit stays whole anyway: poison says nothing.
    fn watched(&self) -> MutexGuard<'_, Watched> {
        self.watched.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn admit(&self) -> Result<Pass, LlmError> {
        let mut watched = self.watched();
        let refused = watched.circuit.admit(|| self.clock.monotonic());
        refused.map_err(|wait| self.refusal(wait, watched.last.clone()))
    }

    fn refusal(&self, wait: Option<Duration>, last: Option<Fault>) -> LlmError {
        let when = match wait {
            Some(wait) => format!("the next call may try in {:.1} s", wait.as_secs_f64()),
            None => "another call tries right now".to_owned(),
        };
        let message = format!("not asked: the circuit is open after failures, {when}");
        let error = LlmError::new(LlmErrorKind::Overloaded, message)
            .with_provider(&*self.name)
            .with_retry_after(wait);
        match last {
            Some(last) => error.with_source(LlmError::from(last)),
            None => error,
        }
    }
}

/// A pass that is given back when the call is dropped.
struct Ticket {
    shared: Arc<Shared>,
    pass: Option<Pass>,
}

impl Ticket {
    fn record(&mut self, health: Health, error: Option<&LlmError>) {
        let Some(pass) = self.pass.take() else {
            return;
        };
        let fault = error.filter(|_| health == Health::Ill).map(LlmError::fault);
        let mut watched = self.shared.watched();
        watched.circuit.record(pass, health, || self.shared.clock.monotonic());
        watched.last = fault.or(watched.last.take());
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        self.record(Health::Unknown, None);
    }
}

struct Guarded<P> {
    inner: Arc<P>,
    ticket: Ticket,
    attempt: Attempt,
    state: State,
}

enum State {
    New(Call),
    Reading(ReplyStream),
    Done,
}

impl<P: LlmProvider + 'static> Guarded<P> {
    fn begin(&mut self, call: Call) -> Option<ReplyItem> {
        match self.ticket.shared.admit() {
            Ok(pass) => {
                self.ticket.pass = Some(pass);
                self.state = State::Reading(self.inner.open(call));
                None
            }
            Err(error) => Some(ReplyItem::End(Err(error))),
        }
    }

    fn note(&mut self, item: &ReplyItem) {
        match item {
            ReplyItem::Delta(delta) => {
                // A try has shown what it was for as soon as there is an answer; it may be a long one.
                if self.ticket.pass.is_some_and(|pass| pass.is_try()) {
                    self.attempt.take(delta);
                    if self.attempt.handed_out() {
                        self.ticket.record(Health::Well, None);
                    }
                }
            }
            ReplyItem::End(end) => {
                self.state = State::Done;
                match end {
                    Ok(()) => self.ticket.record(Health::Well, None),
                    Err(error) => self.ticket.record(Health::of(error.kind()), Some(error)),
                }
            }
            ReplyItem::Notice(_) => {}
        }
    }
}

impl<P: LlmProvider + 'static> Stream for Guarded<P> {
    type Item = ReplyItem;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<ReplyItem>> {
        let this = self.get_mut();
        loop {
            match &mut this.state {
                State::Done => return Poll::Ready(None),
                State::New(_) => {
                    if let State::New(call) = std::mem::replace(&mut this.state, State::Done)
                        && let Some(item) = this.begin(call)
                    {
                        return Poll::Ready(Some(item));
                    }
                }
                State::Reading(reply) => {
                    let item = ready!(Pin::new(reply).poll_next(cx));
                    let item = item.unwrap_or_else(|| ReplyItem::End(Err(cut())));
                    this.note(&item);
                    return Poll::Ready(Some(item));
                }
            }
        }
    }
}
