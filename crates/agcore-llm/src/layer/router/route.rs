//! [`Route`]: one way to a model, with all that stands on it.

use std::{sync::Arc, time::Duration};

use agcore_chat::{Clock, Text};

use crate::{
    error::LlmError,
    layer::{
        breaker::{Breaker, BreakerPolicy},
        fallback::Candidate,
        key_pool::{KeyPool, KeyPoolPolicy, PoolKey},
        rate_limit::{RateLimit, RateLimits},
    },
    provider::LlmProvider,
};

/// The label of the only key of a route that was made of a provider.
const ONLY: &str = "default";

/// One way to a model: the keys of one vendor, and the layers around them.
#[derive(Debug, Clone)]
pub struct Route {
    name: String,
    keys: Vec<PoolKey>,
    model: Option<Arc<str>>,
    weight: Option<f64>,
    limits: Option<RateLimits>,
    pool: KeyPoolPolicy,
    breaker: Option<BreakerPolicy>,
}

impl Route {
    /// A route to a provider with one key of its own.
    pub fn new(name: impl Into<String>, provider: impl LlmProvider + 'static) -> Self {
        Self::of_keys(name, [PoolKey::new(ONLY, provider)])
    }

    /// A route with several keys, used in turn.
    pub fn of_keys(name: impl Into<String>, keys: impl IntoIterator<Item = PoolKey>) -> Self {
        Self {
            name: name.into(),
            keys: keys.into_iter().collect(),
            model: None,
            weight: None,
            limits: None,
            pool: KeyPoolPolicy::new(),
            breaker: Some(BreakerPolicy::new()),
        }
    }

    /// Sets the model that is asked on this route, whatever the request says.
    pub fn with_model(mut self, model: impl Into<Arc<str>>) -> Self {
        self.model = Some(model.into());
        self
    }

    /// Sets the route's share of the calls; see [`Candidate::with_weight`].
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

    /// Sets when the route is left in peace; `None` is never.
    pub fn with_breaker(mut self, policy: Option<BreakerPolicy>) -> Self {
        self.breaker = policy;
        self
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Puts the layers together: limits around each key, a pool of the keys, a breaker around the pool. Where there is
    /// somebody else to ask, nobody waits for a limit.
    pub(super) fn build(self, is_only: bool, clock: &Arc<dyn Clock>) -> Result<(Candidate, KeyPool), LlmError> {
        let (mut limits, mut pool) = (self.limits, self.pool);
        if let Some(limits) = limits.as_mut().filter(|_| !is_only || self.keys.len() > 1) {
            if is_only {
                // It is the pool that waits, when each key has reached its limit.
                pool.max_wait = pool.max_wait.max(limits.max_wait);
            }
            limits.max_wait = Duration::ZERO;
        }
        let limited = |key: PoolKey| match &limits {
            Some(limits) => key.wrap(|provider| RateLimit::new(provider, limits.clone(), Arc::clone(clock))),
            None => Ok(key),
        };
        let keys: Vec<PoolKey> = self.keys.into_iter().map(limited).collect::<Result<_, _>>()?;
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
