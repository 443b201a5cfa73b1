//! [`Router`] and how it is built.

use std::{collections::BTreeMap, fmt, sync::Arc};

use agcore_chat::Clock;

use super::{route::Route, state::RouterState};
use crate::{
    error::{LlmError, LlmErrorKind},
    layer::{
        fallback::{Fallback, FallbackPolicy},
        key_pool::{KeyPool, KeyPoolState, KeyStatus},
        retry::Random,
    },
    provider::{Call, LlmProvider, ProviderInfo},
    reply::ReplyStream,
};

/// Several providers with several keys each as one provider: limits for each key, a pool of the keys, a circuit breaker for
/// each route, and an ordered or weighted fallback over the routes.
///
/// It makes no call twice to the same key: put [`Retry`](crate::Retry) around it, as `agcore-agent` does, which
/// also waits until the first key is free. Clones are handles to the same router.
///
/// ```
/// use std::sync::Arc;
/// use agcore_chat::{ChatRequest, ChatResponse, Message};
/// use agcore_llm::{
///     LlmError, LlmErrorKind, LlmProviderExt, SystemClock, provider_fn, system_random,
///     layer::{key_pool::PoolKey, rate_limit::RateLimits, router::{Route, Router}},
/// };
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let busy = || provider_fn(|_| async { Err(LlmError::new(LlmErrorKind::RateLimit, "slow down")) });
/// let fine = provider_fn(|_| async { Ok(ChatResponse::from_text("Hi.")) });
///
/// let router = Router::builder(Arc::new(SystemClock::new()), system_random())
///     .route(
///         Route::of_keys("main", [PoolKey::new("team", busy()), PoolKey::new("spare", busy())])
///             .with_limits(RateLimits::new().with_requests_per_minute(500)),
///     )
///     .route(Route::new("backup", fine).with_model("small-1"))
///     .build()?;
///
/// let response = router.chat(ChatRequest::new([Message::user("Hello")])).await?;
/// assert_eq!(response.text(), "Hi.");
/// assert_eq!(response.answered_by.unwrap().model, "small-1");
/// assert!(router.status()["main"].iter().all(|key| key.rests_for.is_some()));
/// # Ok::<(), LlmError>(())
/// # }).unwrap();
/// ```
#[derive(Debug, Clone)]
pub struct Router {
    fallback: Fallback,
    pools: Arc<BTreeMap<String, KeyPool>>,
}

impl Router {
    /// Begins to put routes together. The clock measures and waits; `random` gives numbers from 0 to 1 for the weights.
    pub fn builder(clock: Arc<dyn Clock>, random: Random) -> RouterBuilder {
        RouterBuilder {
            routes: Vec::new(),
            policy: FallbackPolicy::new(),
            clock,
            random,
        }
    }

    /// The pool of a route's keys: to restore one that is out, for example.
    ///
    /// # Errors
    /// `NotFound`, which tells the known names.
    pub fn pool(&self, route: &str) -> Result<&KeyPool, LlmError> {
        self.pools.get(route).ok_or_else(|| {
            let known: Vec<&str> = self.pools.keys().map(String::as_str).collect();
            let message = format!("there is no route `{route}`; known are: {}", known.join(", "));
            LlmError::new(LlmErrorKind::NotFound, message)
        })
    }

    /// How the keys of each route are.
    pub fn status(&self) -> BTreeMap<&str, Vec<KeyStatus>> {
        let pools = self.pools.iter();
        pools.map(|(name, pool)| (name.as_str(), pool.status())).collect()
    }

    /// Which keys rest until when, to be kept over a restart.
    pub fn export(&self) -> RouterState {
        let pools = self.pools.iter();
        RouterState::new(pools.map(|(name, pool)| (name.clone(), pool.export())).collect())
    }

    /// Takes over what was kept: rests end when they would have ended. Gives what there is no more, as `route` or
    /// `route/key`.
    ///
    /// # Errors
    /// `InvalidRequest` for the state of a newer version; nothing is taken over then.
    pub fn import(&self, state: &RouterState) -> Result<Vec<String>, LlmError> {
        state.routes.values().try_for_each(KeyPoolState::check)?;
        let mut unknown = Vec::new();
        for (name, state) in &state.routes {
            match self.pools.get(name) {
                None => unknown.push(name.clone()),
                Some(pool) => {
                    let labels = pool.import(state)?;
                    unknown.extend(labels.iter().map(|label| format!("{name}/{label}")));
                }
            }
        }
        Ok(unknown)
    }
}

impl LlmProvider for Router {
    fn open(&self, call: Call) -> ReplyStream {
        self.fallback.open(call)
    }

    fn info(&self) -> &ProviderInfo {
        self.fallback.info()
    }
}

/// Puts routes together to a [`Router`].
pub struct RouterBuilder {
    routes: Vec<Route>,
    policy: FallbackPolicy,
    clock: Arc<dyn Clock>,
    random: Random,
}

impl RouterBuilder {
    /// Adds a route: the next one to be asked, or, next to another one with a weight, one to be drawn.
    pub fn route(mut self, route: Route) -> Self {
        self.routes.push(route);
        self
    }

    /// Sets when a call goes to the next route.
    pub fn fallback(mut self, policy: FallbackPolicy) -> Self {
        self.policy = policy;
        self
    }

    /// The router.
    ///
    /// # Errors
    /// `InvalidRequest` when there is no route, one without keys, two of one name, and for limits, weights and policies
    /// that could never let a call through.
    pub fn build(self) -> Result<Router, LlmError> {
        let is_only = self.routes.len() == 1;
        let (mut candidates, mut pools) = (Vec::new(), BTreeMap::new());
        for route in self.routes {
            let name = route.name().to_owned();
            let at_route = |error: LlmError| {
                let message = format!("route `{name}`: {}", error.message());
                error.with_message(message)
            };
            let (candidate, pool) = route.build(is_only, &self.clock).map_err(at_route)?;
            candidates.push(candidate);
            if pools.insert(name.clone(), pool).is_some() {
                let message = format!("two routes have the name `{name}`; give each its own");
                return Err(LlmError::new(LlmErrorKind::InvalidRequest, message));
            }
        }
        Ok(Router {
            fallback: Fallback::new(candidates, self.policy, self.clock, self.random)?,
            pools: Arc::new(pools),
        })
    }
}

impl fmt::Debug for RouterBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RouterBuilder")
            .field("routes", &self.routes)
            .field("policy", &self.policy)
            .finish_non_exhaustive()
    }
}
