//! [`Route`]: one way to a model, with the layers around its keys.

use std::{fmt, sync::Arc, time::Duration};

use agcore_chat::{ChatRequest, Clock, Text};

use crate::{
    layer::{
        adapt::{Adapt, RequestMap},
        breaker::{Breaker, BreakerPolicy},
        fallback::Candidate,
        key_pool::{KeyPool, KeyPoolPolicy, PoolKey},
        rate_limit::{RateLimit, RateLimits},
    },
    provider::LlmProvider,
};
use agcore_wire::LlmError;

/// The label of the only key of a route that was created from a provider.
const DEFAULT_LABEL: &str = "default";

/// One way to a model: the keys of one vendor, with the layers around them.
///
/// ```
/// use std::sync::Arc;
/// use agcore_chat::ChatResponse;
/// use agcore_llm::{
///     LlmProviderExt, SystemClock,
///     layer::{key_pool::PoolKey, rate_limit::RateLimits, router::{Route, Router}},
///     provider_fn, system_random,
/// };
///
/// let provider = || provider_fn(|_| async { Ok(ChatResponse::from_text("Hi.")) });
/// let main = Route::from_keys("main", [PoolKey::new("team", provider()), PoolKey::new("spare", provider())])
///     .with_model("large-2")
///     .with_weight(3.0)
///     .with_limits(RateLimits::new().with_requests_per_minute(500).with_tokens_per_minute(200_000));
/// let other = Route::new("other", provider()).with_weight(1.0);
///
/// let router = Router::builder(Arc::new(SystemClock::new()), system_random())
///     .with_route(main)
///     .with_route(other)
///     .build()?;
/// assert_eq!(router.model(), "large-2");
/// assert_eq!(router.status()["main"].len(), 2);
/// # Ok::<(), agcore_llm::LlmError>(())
/// ```
#[derive(Clone)]
#[must_use]
pub struct Route {
    name: String,
    keys: Vec<PoolKey>,
    model: Option<Arc<str>>,
    weight: Option<f64>,
    limits: Option<RateLimits>,
    pool: KeyPoolPolicy,
    breaker: Option<BreakerPolicy>,
    map: Option<RequestMap>,
    adapted: Option<bool>,
}

impl Route {
    /// Creates a route to a provider that has its own key.
    pub fn new(name: impl Into<String>, provider: impl LlmProvider + 'static) -> Self {
        Self::from_keys(name, [PoolKey::new(DEFAULT_LABEL, provider)])
    }

    /// Creates a route with several keys.
    pub fn from_keys(name: impl Into<String>, keys: impl IntoIterator<Item = PoolKey>) -> Self {
        Self {
            name: name.into(),
            keys: keys.into_iter().collect(),
            model: None,
            weight: None,
            limits: None,
            pool: KeyPoolPolicy::new(),
            breaker: Some(BreakerPolicy::new()),
            map: None,
            adapted: None,
        }
    }

    /// Sets the model of this route, which overrides that of the request.
    pub fn with_model(mut self, model: impl Into<Arc<str>>) -> Self {
        self.model = Some(model.into());
        self
    }

    /// Sets the share of the calls; see [`Candidate::with_weight`].
    pub fn with_weight(mut self, weight: f64) -> Self {
        self.weight = Some(weight);
        self
    }

    /// Sets how much may be sent with each key.
    pub fn with_limits(mut self, limits: RateLimits) -> Self {
        self.limits = Some(limits);
        self
    }

    /// Sets how the keys are used.
    pub fn with_pool(mut self, policy: KeyPoolPolicy) -> Self {
        self.pool = policy;
        self
    }

    /// Sets the policy of the circuit breaker; `None` removes the breaker.
    pub fn with_breaker(mut self, policy: Option<BreakerPolicy>) -> Self {
        self.breaker = policy;
        self
    }

    /// Sets a function that changes the requests on this route, for example to offer other tools to another vendor. It
    /// cannot change the model.
    pub fn with_request_map(mut self, map: impl Fn(&mut ChatRequest) + Send + Sync + 'static) -> Self {
        self.map = Some(Arc::new(map));
        self
    }

    /// Sets whether parameters that only tune a reply are left out where the API of this route lacks them; see
    /// [`Adapt::with_relaxed`](crate::layer::adapt::Adapt::with_relaxed). Without it, a request with such a parameter goes
    /// to the next route.
    pub fn with_adapted_requests(mut self, adapted: bool) -> Self {
        self.adapted = Some(adapted);
        self
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Assembles the layers: adapted requests and limits around each key, a pool of the keys, and a breaker around the pool.
    /// If another key or route can be tried, no call waits for a limit. `adapted` is the default of the router.
    pub(super) fn build(
        self,
        is_only: bool,
        adapted: bool,
        clock: &Arc<dyn Clock>,
    ) -> Result<(Candidate, KeyPool), LlmError> {
        let relaxed = self.adapted.unwrap_or(adapted);
        let map = self.map;
        let adapt = |key: PoolKey| match map.is_some() || relaxed {
            true => key.wrap(|provider| Ok(Adapt::new(provider).with_shared_map(map.clone()).with_relaxed(relaxed))),
            false => Ok(key),
        };
        let (mut limits, mut pool) = (self.limits, self.pool);
        if let Some(limits) = limits.as_mut().filter(|_| !is_only || self.keys.len() > 1) {
            if is_only {
                // The pool waits instead, once all keys have reached their limits.
                pool.max_wait = pool.max_wait.max(limits.max_wait);
            }
            limits.max_wait = Duration::ZERO;
        }
        let limited = |key: PoolKey| match &limits {
            Some(limits) => key.wrap(|provider| RateLimit::new(provider, limits.clone(), Arc::clone(clock))),
            None => Ok(key),
        };
        let keys = self.keys.into_iter().map(|key| adapt(key).and_then(limited));
        let keys: Vec<PoolKey> = keys.collect::<Result<_, _>>()?;
        let pool = KeyPool::new(keys, pool, Arc::clone(clock))?;
        let candidate = match self.breaker {
            Some(policy) => Candidate::new(Breaker::new(pool.clone(), policy, Arc::clone(clock))?),
            None => Candidate::new(pool.clone()),
        };
        let mut candidate = candidate.with_name(Text::from(self.name));
        if let Some(model) = self.model {
            candidate = candidate.with_model(model);
        }
        if let Some(weight) = self.weight {
            candidate = candidate.with_weight(weight);
        }
        Ok((candidate, pool))
    }
}

impl fmt::Debug for Route {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Route")
            .field("name", &self.name)
            .field("keys", &self.keys)
            .field("model", &self.model)
            .field("weight", &self.weight)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}
