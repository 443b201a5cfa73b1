//! [`Router`]: rate limits, key pools, circuit breakers and fallback in one provider.

mod route;
#[cfg(all(feature = "_http", feature = "_api"))]
mod config;

#[cfg(all(feature = "_http", feature = "_api"))]
pub use config::{KeyConfig, RouteConfig, RouterConfig};
pub use route::Route;

use std::{collections::BTreeMap, fmt, sync::Arc};

use agcore_chat::Clock;
use serde::{Deserialize, Serialize};

use crate::{
    layer::{
        fallback::{Fallback, FallbackPolicy, Rule},
        key_pool::{KeyPool, KeyPoolState, KeyStatus},
    },
    provider::{Call, LlmProvider, ProviderInfo, ProviderRoute},
    random::Random,
    reply::ReplyStream,
};
use agcore_wire::{LlmError, LlmErrorKind};

/// Several providers with several keys each as one provider: rate limits for each key, a pool of keys and a circuit breaker
/// for each route, and an ordered or weighted fallback over the routes.
///
/// When a call fails, a router tries the next key or route; it does not repeat the call with the same key. Put
/// [`Retry`](crate::layer::retry::Retry) around it for that, which also waits until the first key is available. Clones are
/// handles to the same router.
///
/// ```
/// use std::sync::Arc;
/// use agcore_chat::{ChatRequest, ChatResponse, Message};
/// use agcore_llm::{
///     LlmError, LlmErrorKind, LlmProviderExt, SystemClock,
///     layer::{key_pool::PoolKey, rate_limit::RateLimits, router::{Route, Router}},
///     provider_fn, system_random,
/// };
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let busy = || provider_fn(|_| async { Err(LlmError::new(LlmErrorKind::RateLimit, "slow down")) });
/// let fine = provider_fn(|_| async { Ok(ChatResponse::from_text("Hi.")) });
///
/// let router = Router::builder(Arc::new(SystemClock::new()), system_random())
///     .with_route(
///         Route::from_keys("main", [PoolKey::new("team", busy()), PoolKey::new("spare", busy())])
///             .with_limits(RateLimits::new().with_requests_per_minute(500)),
///     )
///     .with_route(Route::new("backup", fine).with_model("small-1"))
///     .build()?;
///
/// let response = router.chat(ChatRequest::new([Message::user("Hello")])).await?;
/// assert_eq!(response.text(), "Hi.");
/// assert_eq!(response.answered_by.unwrap().model, "small-1");
/// assert!(router.status()["main"].iter().all(|key| key.cooldown.is_some()));
/// # Ok::<(), LlmError>(())
/// # }).unwrap();
/// ```
#[derive(Debug, Clone)]
pub struct Router {
    fallback: Fallback,
    pools: Arc<BTreeMap<String, KeyPool>>,
}

impl Router {
    /// Creates a builder. The clock measures time and waits; `random` returns numbers from 0 to 1 for the weights.
    pub fn builder(clock: Arc<dyn Clock>, random: Random) -> RouterBuilder {
        RouterBuilder {
            routes: Vec::new(),
            policy: FallbackPolicy::new(),
            rule: None,
            adapted: false,
            clock,
            random,
        }
    }

    /// Returns the key pool of a route, for example to restore a disabled key.
    ///
    /// # Errors
    /// Returns `NotFound`, with the names of all routes, if there is no such route.
    pub fn pool(&self, route: &str) -> Result<&KeyPool, LlmError> {
        self.pools.get(route).ok_or_else(|| {
            let names: Vec<&str> = self.pools.keys().map(String::as_str).collect();
            let message = format!("there is no route `{route}`; the routes are: {}", names.join(", "));
            LlmError::new(LlmErrorKind::NotFound, message)
        })
    }

    /// Returns the status of the keys of each route.
    pub fn status(&self) -> BTreeMap<&str, Vec<KeyStatus>> {
        let pools = self.pools.iter();
        pools.map(|(name, pool)| (name.as_str(), pool.status())).collect()
    }

    /// Returns the cooldowns of all keys, to be saved across a restart.
    pub fn export(&self) -> RouterState {
        let pools = self.pools.iter();
        let routes = pools.map(|(name, pool)| (name.clone(), pool.export())).collect();
        RouterState { routes }
    }

    /// Restores saved cooldowns, which end when they would have ended. Returns the routes and keys that no longer exist, as
    /// `route` or `route/key`.
    ///
    /// # Errors
    /// Returns `InvalidRequest` if the state was saved by a newer version; nothing is restored then.
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

    fn visit_routes<'a>(&'a self, model: &'a str, visit: &mut dyn FnMut(ProviderRoute<'a>)) {
        self.fallback.visit_routes(model, visit);
    }
}

/// A builder of a [`Router`].
#[must_use = "a builder does nothing until it is built"]
pub struct RouterBuilder {
    routes: Vec<Route>,
    policy: FallbackPolicy,
    rule: Option<Rule>,
    adapted: bool,
    clock: Arc<dyn Clock>,
    random: Random,
}

impl RouterBuilder {
    /// Adds a route. Routes are tried in the order in which they were added; consecutive routes with a weight form a group
    /// from which one is drawn.
    pub fn with_route(mut self, route: Route) -> Self {
        self.routes.push(route);
        self
    }

    /// Sets when a call goes to the next route.
    pub fn with_fallback(mut self, policy: FallbackPolicy) -> Self {
        self.policy = policy;
        self
    }

    /// Sets a custom rule for which failures are followed by the next route; see
    /// [`Fallback::with_rule`](crate::layer::fallback::Fallback::with_rule).
    pub fn with_rule(mut self, rule: impl Fn(&LlmError) -> bool + Send + Sync + 'static) -> Self {
        self.rule = Some(Arc::new(rule));
        self
    }

    /// Sets whether parameters that only tune a reply are left out on routes whose API lacks them, for the routes that do
    /// not [decide it](Route::with_adapted_requests) themselves. The default is `false`.
    pub fn with_adapted_requests(mut self, adapted: bool) -> Self {
        self.adapted = adapted;
        self
    }

    /// Builds the router.
    ///
    /// # Errors
    /// Returns `InvalidRequest` if there are no routes, a route has no keys, two routes have the same name, or a limit,
    /// weight or policy would never allow a call.
    pub fn build(self) -> Result<Router, LlmError> {
        let is_only = self.routes.len() == 1;
        let (mut candidates, mut pools) = (Vec::new(), BTreeMap::new());
        for route in self.routes {
            let name = route.name().to_owned();
            let in_route = |error: LlmError| {
                let message = format!("route `{name}`: {}", error.message());
                error.with_message(message)
            };
            let (candidate, pool) = route.build(is_only, self.adapted, &self.clock).map_err(in_route)?;
            candidates.push(candidate);
            if pools.insert(name.clone(), pool).is_some() {
                let message = format!("two routes have the name `{name}`; names must be unique");
                return Err(LlmError::new(LlmErrorKind::InvalidRequest, message));
            }
        }
        Ok(Router {
            fallback: Fallback::new(candidates, self.policy, self.clock, self.random)?.with_shared_rule(self.rule),
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

/// The state of a router that is saved across restarts: the cooldowns of all keys.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RouterState {
    /// The cooldowns of the keys of each route.
    #[serde(default)]
    pub routes: BTreeMap<String, KeyPoolState>,
}
