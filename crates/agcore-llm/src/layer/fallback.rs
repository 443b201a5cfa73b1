//! [`Fallback`]: several providers in order; if one fails, the next one is tried.

mod candidates;
mod incompatibility;
mod policy;

pub use crate::random::draw;
pub use candidates::Candidate;
pub use incompatibility::Incompatibility;
pub use policy::{FallbackOn, FallbackPolicy};

use std::{fmt, sync::Arc, time::Duration};

use agcore_chat::{AnsweredBy, Clock, Fault, HeuristicEstimator, Text, TokenEstimator};

use self::{
    candidates::{Candidates, Entry},
    incompatibility::min_tokens,
};
use super::{
    attempt::MidStream,
    failures::Failures,
    switch::{FailedAttempt, NextStep, SwitchStrategy, SwitchingStream},
};
use crate::{
    provider::{Call, LlmProvider, ProviderInfo, ProviderRoute},
    random::{Random, hash_to_unit},
    reply::ReplyStream,
};
use agcore_wire::{LlmError, LlmErrorKind};

/// Decides whether a failure is followed by the next provider.
pub(super) type Rule = Arc<dyn Fn(&LlmError) -> bool + Send + Sync>;

/// Several providers as one: the first is tried, and if it fails the next one, in order or by weight.
///
/// Providers that cannot serve a request are skipped: those without support for its images, audio, files, tools or
/// response format, and after a first failure also those whose context window is too small. A provider whose API lacks
/// a parameter of the request [refuses it](LlmError::is_unsupported) before anything is sent, and the next one is
/// tried; [`Candidate::with_adapted_requests`] leaves out parameters that only tune a reply instead. The error of a
/// call is retryable if the error of any provider is, so that a spare provider never makes a passing failure permanent.
/// Once parts of an answer were returned, no other provider is tried unless the policy allows it. If all fail, the
/// error contains each of their errors as [`Failures`].
///
/// A request that names a model is sent unchanged. Omit the name, so that each provider uses its own model, or set the
/// [models of the candidates](Candidate::with_model). The [info](LlmProvider::info) is that of the first candidate.
///
/// Cancel safe: dropping a call drops the attempt in progress.
///
/// ```
/// use std::sync::Arc;
/// use agcore_chat::{ChatRequest, ChatResponse, Message};
/// use agcore_llm::{
///     LlmError, LlmErrorKind, LlmProviderExt, SystemClock,
///     layer::fallback::{Candidate, Fallback, FallbackPolicy},
///     provider_fn, system_random,
/// };
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let down = provider_fn(|_| async { Err(LlmError::new(LlmErrorKind::Overloaded, "try later")) });
/// let fine = provider_fn(|_| async { Ok(ChatResponse::from_text("Hi.")) });
/// let candidates = [Candidate::new(down), Candidate::new(fine).with_model("spare-1")];
/// let provider = Fallback::new(candidates, FallbackPolicy::new(), Arc::new(SystemClock::new()), system_random())?;
///
/// let response = provider.chat(ChatRequest::new([Message::user("Hello")])).await?;
/// assert_eq!(response.text(), "Hi.");
/// assert_eq!(response.answered_by.unwrap().model, "spare-1");
/// # Ok::<(), LlmError>(())
/// # }).unwrap();
/// ```
#[derive(Clone)]
#[must_use]
pub struct Fallback(Arc<Shared>);

#[derive(Clone)]
struct Shared {
    info: ProviderInfo,
    candidates: Arc<Candidates>,
    policy: FallbackPolicy,
    rule: Option<Rule>,
    clock: Arc<dyn Clock>,
    random: Random,
    estimator: Arc<dyn TokenEstimator>,
}

impl Fallback {
    /// Creates a provider that tries these candidates in order.
    ///
    /// The clock measures the time left until a deadline. `random` returns numbers from 0 to 1 and is only used for
    /// weights.
    ///
    /// # Errors
    /// Returns `InvalidRequest` if there are no candidates, all weights of a group are 0, or a weight is negative or
    /// not finite.
    pub fn new(
        candidates: impl IntoIterator<Item = Candidate>,
        policy: FallbackPolicy,
        clock: Arc<dyn Clock>,
        random: Random,
    ) -> Result<Self, LlmError> {
        let candidates = Candidates::new(candidates)?;
        Ok(Self(Arc::new(Shared {
            info: candidates.info(),
            candidates: Arc::new(candidates),
            policy,
            rule: None,
            clock,
            random,
            estimator: Arc::new(HeuristicEstimator::default()),
        })))
    }

    /// Sets a custom rule for which failures are followed by the next provider. It replaces [`FallbackPolicy::on`], but
    /// the next provider is always tried if a provider's API cannot express the request.
    pub fn with_rule(self, rule: impl Fn(&LlmError) -> bool + Send + Sync + 'static) -> Self {
        self.with_shared_rule(Some(Arc::new(rule)))
    }

    pub(super) fn with_shared_rule(mut self, rule: Option<Rule>) -> Self {
        Arc::make_mut(&mut self.0).rule = rule;
        self
    }

    /// Sets the estimator of the tokens of a request.
    pub fn with_estimator(mut self, estimator: Arc<dyn TokenEstimator>) -> Self {
        Arc::make_mut(&mut self.0).estimator = estimator;
        self
    }
}

impl fmt::Debug for Fallback {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fallback")
            .field("candidates", &self.0.candidates)
            .field("policy", &self.0.policy)
            .finish()
    }
}

impl LlmProvider for Fallback {
    fn open(&self, call: Call) -> ReplyStream {
        let strategy = FallbackStrategy {
            shared: Arc::clone(&self.0),
            excluded: Vec::new(),
            current: 0,
            failures: Failures::default(),
            skipped: Vec::new(),
            needed: None,
            exceeded: 0,
        };
        SwitchingStream::open(strategy, call)
    }

    fn info(&self) -> &ProviderInfo {
        &self.0.info
    }

    fn visit_routes<'a>(&'a self, model: &'a str, visit: &mut dyn FnMut(ProviderRoute<'a>)) {
        let entries = self.0.candidates.entries.iter();
        for entry in entries.filter(|entry| entry.weight > 0.0) {
            entry.target.visit_routes(model, visit);
        }
    }
}

impl Shared {
    fn applies_to(&self, error: &LlmError) -> bool {
        match &self.rule {
            Some(rule) => rule(error),
            None => self.policy.on.includes(error),
        }
    }

    fn random_number(&self, call: &Call) -> f64 {
        match call.trace.as_deref().filter(|_| self.policy.sticky) {
            Some(trace) => hash_to_unit(trace),
            None => (self.random)(),
        }
    }
}

/// Tries one candidate after the other.
struct FallbackStrategy {
    shared: Arc<Shared>,
    /// The indices of candidates that were tried or skipped. The current one is added only if it fails, because most
    /// calls succeed.
    excluded: Vec<usize>,
    /// The index of the current candidate.
    current: usize,
    failures: Failures,
    /// Candidates that could not serve the request.
    skipped: Vec<(Text, Incompatibility)>,
    /// A lower bound for the tokens of the request, once it was computed.
    needed: Option<u64>,
    /// Tokens that a window must have, because a smaller one was exceeded.
    exceeded: u64,
}

impl FallbackStrategy {
    fn current(&self) -> &Entry {
        &self.shared.candidates.entries[self.current]
    }

    /// Returns the index of the next candidate, by order and weight.
    fn next_candidate(&self, call: &Call) -> Option<usize> {
        let Candidates { entries, groups } = &*self.shared.candidates;
        let is_left = |at: &usize| !self.excluded.contains(at);
        groups.iter().find_map(|group| {
            if group.len() == 1 {
                return Some(group.start).filter(is_left);
            }
            let left = group.clone().filter(is_left);
            let mut weighted = left.map(|at| (at, entries[at].weight)).peekable();
            weighted.peek()?;
            draw(weighted, self.shared.random_number(call))
        })
    }

    /// Returns why the candidate cannot serve the request, if it cannot.
    fn check(&mut self, at: usize, call: &Call) -> Option<Incompatibility> {
        let shared = Arc::clone(&self.shared);
        let capabilities = &shared.candidates.entries[at].target.provider.info().capabilities;
        let incompatibility = Incompatibility::check(&call.request, capabilities);
        // The first candidate is not skipped because of an estimate: its server knows better.
        if incompatibility.is_some() || self.failures.is_empty() || capabilities.context_window.is_none() {
            return incompatibility;
        }
        let needed = self
            .needed
            .get_or_insert_with(|| min_tokens(&call.request, &*shared.estimator));
        Incompatibility::check_window((*needed).max(self.exceeded), capabilities)
    }

    /// Returns the error after all candidates were tried or skipped.
    fn exhausted(&mut self) -> LlmError {
        let mut failures = std::mem::take(&mut self.failures);
        if self.skipped.is_empty()
            && let Some(only) = failures.take_only()
        {
            return only;
        }
        self.summary(failures)
    }

    /// Returns the error that summarizes these failures, and the candidates that were skipped.
    fn summary(&mut self, failures: Failures) -> LlmError {
        let skipped = Skipped(std::mem::take(&mut self.skipped));
        let (tried, all) = (failures.len(), self.shared.candidates.entries.len());
        let error = match skipped.0.is_empty() {
            true => failures.into_summary(format_args!("{tried} of {all} providers were tried and failed")),
            false => failures.into_summary(format_args!(
                "{tried} of {all} providers were tried and failed, and {skipped}"
            )),
        };
        error.unwrap_or_else(|| {
            let message = format!("no provider can serve this request: {skipped}");
            LlmError::new(LlmErrorKind::InvalidRequest, message)
        })
    }

    /// Remembers the window that a request exceeded: another one must be larger.
    fn record_overflow(&mut self, error: &LlmError) {
        let LlmErrorKind::ContextLength { limit, requested } = error.kind() else {
            return;
        };
        let window = limit.or(self.current().target.provider.info().capabilities.context_window);
        let needed = requested
            .unwrap_or(0)
            .max(window.map_or(0, |window| window.saturating_add(1)));
        self.exceeded = self.exceeded.max(needed);
    }
}

impl SwitchStrategy for FallbackStrategy {
    fn clock(&self) -> &Arc<dyn Clock> {
        &self.shared.clock
    }

    fn mid_stream(&self) -> MidStream {
        self.shared.policy.mid_stream
    }

    fn next_step(&mut self, call: &Call, _: Option<Duration>) -> NextStep {
        while let Some(at) = self.next_candidate(call) {
            self.current = at;
            let Some(incompatibility) = self.check(at, call) else {
                return NextStep::Open;
            };
            self.excluded.push(at);
            let name = self.current().name.clone();
            self.skipped.push((name, incompatibility));
        }
        NextStep::Fail(self.exhausted())
    }

    fn open(&self, call: Call) -> ReplyStream {
        self.current().target.open(call)
    }

    fn answered_by(&self, call: &Call) -> Option<AnsweredBy> {
        Some(self.current().target.answered_by(call))
    }

    fn failed(&mut self, attempt: FailedAttempt) -> Result<Fault, LlmError> {
        let has_time = attempt.left != Some(Duration::ZERO);
        let FailedAttempt {
            error, is_repeatable, ..
        } = attempt;
        let name = self.current().name.clone();
        // A refusal by the encoder concerns only this provider, like a missing capability.
        let goes_on = error.is_unsupported() || self.shared.applies_to(&error);
        if is_repeatable && has_time && goes_on {
            self.record_overflow(&error);
            self.excluded.push(self.current);
            let fault = error.fault();
            self.failures.push(name, error);
            return Ok(fault);
        }
        let mut failures = std::mem::take(&mut self.failures);
        if !is_repeatable || error.is_retryable() || !failures.has_retryable() {
            return Err(failures.end_with(name, error));
        }
        // A provider before this one may answer the next time, so the call did not fail for good.
        failures.push(name, error);
        Err(self.summary(failures))
    }
}

/// Candidates that could not serve a request, on one line.
struct Skipped(Vec<(Text, Incompatibility)>);

impl fmt::Display for Skipped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, (name, incompatibility)) in self.0.iter().enumerate() {
            let separator = if at == 0 { "" } else { ", " };
            write!(f, "{separator}{name} {incompatibility}")?;
        }
        Ok(())
    }
}
