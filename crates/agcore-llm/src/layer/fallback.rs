//! [`Fallback`]: several providers in order; when one fails, the next one is asked.

mod weights;
mod fit;
mod policy;
mod candidate;

pub use candidate::Candidate;
pub use fit::Lack;
pub use policy::{FallbackOn, FallbackPolicy};
pub use weights::draw;

use std::{fmt, sync::Arc, time::Duration};

use agcore_chat::{Clock, HeuristicEstimator, Text, TokenEstimator};

use self::{
    candidate::{Ladder, Step},
    fit::least_tokens,
    weights::number_of,
};
use super::{
    failures::Failures,
    retry::Random,
    switch::{Course, Next, Switching},
};
use crate::{
    error::{LlmError, LlmErrorKind},
    provider::{Call, LlmProvider, ProviderInfo},
    reply::ReplyStream,
};

/// Says which failures go to the next provider.
type Rule = Arc<dyn Fn(&LlmError) -> bool + Send + Sync>;

/// Several providers as one: the first is asked, and when it fails the next one, in order or by weight.
///
/// A provider that cannot take the request is passed over: it takes no pictures, knows no tools or no JSON Schema; when one
/// has failed, also one whose window is too small. Nothing is asked anew after parts of the answer were handed out, unless
/// the policy says so. When all have failed, the error holds each of their errors, in its [`Failures`].
///
/// A request that names a model is sent as it is: leave the name out, so that each provider's own model is asked, or give
/// the candidates [models](Candidate::with_model).
///
/// It says of itself what its first candidate says.
///
/// Cancel safe: dropping a call drops the one that is under way.
///
/// ```
/// use std::sync::Arc;
/// use agcore_chat::{ChatRequest, ChatResponse, Message};
/// use agcore_llm::{
///     LlmError, LlmErrorKind, LlmProviderExt, SystemClock, provider_fn, system_random,
///     layer::fallback::{Candidate, Fallback, FallbackPolicy},
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
pub struct Fallback(Arc<Shared>);

#[derive(Clone)]
struct Shared {
    info: ProviderInfo,
    ladder: Arc<Ladder>,
    policy: FallbackPolicy,
    rule: Option<Rule>,
    clock: Arc<dyn Clock>,
    random: Random,
    estimator: Arc<dyn TokenEstimator>,
}

impl Fallback {
    /// Providers in order. `random` gives numbers from 0 to 1, and is asked only where there are weights.
    ///
    /// # Errors
    /// `InvalidRequest` when there is none, all of a rung have weight 0, or a weight is negative or no number.
    pub fn new(
        candidates: impl IntoIterator<Item = Candidate>,
        policy: FallbackPolicy,
        clock: Arc<dyn Clock>,
        random: Random,
    ) -> Result<Self, LlmError> {
        let ladder = Ladder::new(candidates)?;
        Ok(Self(Arc::new(Shared {
            info: ladder.info(),
            ladder: Arc::new(ladder),
            policy,
            rule: None,
            clock,
            random,
            estimator: Arc::new(HeuristicEstimator::default()),
        })))
    }

    /// Sets a rule of one's own for which failures go to the next one; `policy.on` is not asked then.
    pub fn with_rule(mut self, rule: impl Fn(&LlmError) -> bool + Send + Sync + 'static) -> Self {
        Arc::make_mut(&mut self.0).rule = Some(Arc::new(rule));
        self
    }

    /// Sets who estimates the tokens of a request.
    pub fn with_estimator(mut self, estimator: Arc<dyn TokenEstimator>) -> Self {
        Arc::make_mut(&mut self.0).estimator = estimator;
        self
    }
}

impl fmt::Debug for Fallback {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fallback")
            .field("ladder", &self.0.ladder)
            .field("policy", &self.0.policy)
            .finish()
    }
}

impl LlmProvider for Fallback {
    fn open(&self, call: Call) -> ReplyStream {
        let course = FallbackCourse {
            shared: Arc::clone(&self.0),
            passed: Vec::new(),
            asked: 0,
            failures: Failures::default(),
            lacks: Vec::new(),
            least: None,
            overflown: 0,
        };
        Switching::stream(course, call, Arc::clone(&self.0.clock), self.0.policy.mid_stream)
    }

    fn info(&self) -> &ProviderInfo {
        &self.0.info
    }
}

impl Shared {
    fn goes_on(&self, error: &LlmError) -> bool {
        match &self.rule {
            Some(rule) => rule(error),
            None => self.policy.on.includes(error),
        }
    }

    fn number(&self, call: &Call) -> f64 {
        match call.trace.as_deref().filter(|_| self.policy.sticky) {
            Some(trace) => number_of(trace),
            None => (self.random)(),
        }
    }
}

/// A call's way from candidate to candidate.
struct FallbackCourse {
    shared: Arc<Shared>,
    /// Places of those that come into question no more.
    passed: Vec<usize>,
    /// The place of the one that is asked.
    asked: usize,
    failures: Failures,
    /// Those that could not take the request.
    lacks: Vec<(Text, Lack)>,
    /// The fewest tokens that the request needs, once that was asked for.
    least: Option<u64>,
    /// The largest window that was too small.
    overflown: u64,
}

impl FallbackCourse {
    /// The next candidate, as order and weights have it.
    fn next(&self, call: &Call) -> Option<usize> {
        let steps = &self.shared.ladder.steps;
        let open = |at: &usize| !self.passed.contains(at);
        self.shared.ladder.rungs.iter().find_map(|rung| {
            if rung.len() == 1 {
                return Some(rung.start).filter(open);
            }
            let left = rung.clone().filter(open);
            let mut weighted = left.map(|at| (at, steps[at].weight)).peekable();
            weighted.peek()?;
            draw(weighted, self.shared.number(call))
        })
    }

    /// Why a candidate cannot take the request.
    fn lack(&mut self, at: usize, call: &Call) -> Option<Lack> {
        let shared = Arc::clone(&self.shared);
        let capabilities = &shared.ladder.steps[at].target.provider.info().capabilities;
        let lack = Lack::of(&call.request, capabilities);
        // Nobody estimates for the first: its server knows better.
        if lack.is_some() || self.failures.is_empty() || capabilities.context_window.is_none() {
            return lack;
        }
        let least = self
            .least
            .get_or_insert_with(|| least_tokens(&call.request, &*shared.estimator));
        Lack::of_window((*least).max(self.overflown), capabilities)
    }

    fn failed_for_good(&mut self) -> LlmError {
        let mut failures = std::mem::take(&mut self.failures);
        let lacks = Lacks(std::mem::take(&mut self.lacks));
        let all = self.shared.ladder.steps.len();
        if lacks.0.is_empty()
            && let Some(only) = failures.only()
        {
            return only;
        }
        let tried = failures.len();
        let error = match lacks.0.is_empty() {
            true => failures.into_error(format_args!("{tried} of {all} providers were asked and failed")),
            false => failures.into_error(format_args!(
                "{tried} of {all} providers were asked and failed, and {lacks}"
            )),
        };
        error.unwrap_or_else(|| {
            let message = format!("no provider can take this request: {lacks}");
            LlmError::new(LlmErrorKind::InvalidRequest, message)
        })
    }

    /// What an overflow says about windows: one that is no larger would not do either.
    fn note_overflow(&mut self, error: &LlmError) {
        let LlmErrorKind::ContextLength { limit, requested } = error.kind() else {
            return;
        };
        let step = &self.shared.ladder.steps[self.asked];
        let window = limit.or(step.target.provider.info().capabilities.context_window);
        let needed = requested
            .unwrap_or(0)
            .max(window.map_or(0, |window| window.saturating_add(1)));
        self.overflown = self.overflown.max(needed);
    }
}

impl Course for FallbackCourse {
    fn choose(&mut self, call: &Call, _: Option<Duration>) -> Next {
        while let Some(at) = self.next(call) {
            // The first one that is asked is noted only when it fails: most calls end well.
            self.asked = at;
            match self.lack(at, call) {
                None => return Next::Ask(Arc::clone(&self.shared.ladder.steps[at].target)),
                Some(lack) => {
                    self.passed.push(at);
                    let Step { name, .. } = &self.shared.ladder.steps[at];
                    self.lacks.push((name.clone(), lack));
                }
            }
        }
        Next::Fail(self.failed_for_good())
    }

    fn succeeded(&mut self) {}

    fn failed(&mut self, error: LlmError, may_switch: bool) -> Option<LlmError> {
        let goes_on = may_switch && self.shared.goes_on(&error);
        self.note_overflow(&error);
        self.passed.push(self.asked);
        let name = self.shared.ladder.steps[self.asked].name.clone();
        self.failures.push(name, error);
        if goes_on {
            return None;
        }
        std::mem::take(&mut self.failures).into_last()
    }
}

/// Those that could not take a request, in one line.
struct Lacks(Vec<(Text, Lack)>);

impl fmt::Display for Lacks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, (name, lack)) in self.0.iter().enumerate() {
            let gap = if at == 0 { "" } else { ", " };
            write!(f, "{gap}{name} {lack}")?;
        }
        Ok(())
    }
}
