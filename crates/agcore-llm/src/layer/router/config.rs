//! [`RouterConfig`]: the settings of a router.

use std::sync::Arc;

use agcore_chat::Clock;
use serde::Deserialize;

use super::{Router, route::Route};
use crate::{
    config::ProviderConfig,
    credential::Secret,
    layer::{
        breaker::BreakerPolicy,
        fallback::FallbackPolicy,
        key_pool::{KeyPoolPolicy, PoolKey},
        rate_limit::RateLimits,
    },
    random::Random,
};
use agcore_wire::LlmError;

/// The settings of a router. Times are in seconds, and an unknown member is an error.
///
/// ```
/// # #[cfg(feature = "openai-chat")] {
/// use std::sync::Arc;
/// use agcore_llm::{layer::router::RouterConfig, system_random, LlmProviderExt, SystemClock};
///
/// let settings = r#"{"routes": [
///     {
///         "provider": {"type": "openai", "model": "gpt-5-mini"},
///         "keys": [{"label": "team", "api_key": "sk-1"}, {"label": "spare", "api_key": "sk-2"}],
///         "limits": {"requests_per_minute": 500}
///     },
///     {"name": "local", "provider": {"type": "ollama", "model": "llama3.2"}, "breaker": null}
/// ]}"#;
/// let config: RouterConfig = serde_json::from_str(settings)?;
/// let router = config.build(Arc::new(SystemClock::new()), system_random())?;
/// assert_eq!(router.model(), "gpt-5-mini");
/// assert_eq!(router.status()["openai"].len(), 2);
/// # }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct RouterConfig {
    /// The routes, in the order in which they are tried.
    pub routes: Vec<RouteConfig>,
    /// The policy for falling back to the next route.
    #[serde(default)]
    pub fallback: FallbackPolicy,
    /// Whether parameters that only tune a reply are left out on routes whose API lacks them.
    #[serde(default)]
    pub adapt_requests: bool,
}

/// The settings of a route.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct RouteConfig {
    /// The name of the route. The default is the name of the provider.
    #[serde(default)]
    pub name: Option<String>,
    /// The provider.
    pub provider: ProviderConfig,
    /// The API keys, which are used in turn. The default is the key of the provider.
    #[serde(default)]
    pub keys: Vec<KeyConfig>,
    /// The model that replaces the one in a request. The provider's default is used if neither is set.
    #[serde(default)]
    pub model: Option<String>,
    /// The share of calls that use this route.
    #[serde(default)]
    pub weight: Option<f64>,
    /// The rate limits of each key.
    #[serde(default)]
    pub limits: Option<RateLimits>,
    /// The policy for selecting and disabling keys.
    #[serde(default)]
    pub pool: KeyPoolPolicy,
    /// Whether parameters that only tune a reply are left out if the API of this route lacks them. The default is that of
    /// the router.
    #[serde(default)]
    pub adapt_requests: Option<bool>,
    /// The policy for skipping the route after failures; `null` never skips it.
    #[serde(default = "breaker")]
    pub breaker: Option<BreakerPolicy>,
}

/// The settings of an API key.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct KeyConfig {
    /// The label that is shown instead of the key.
    pub label: String,
    /// The key.
    pub api_key: Secret,
}

fn breaker() -> Option<BreakerPolicy> {
    Some(BreakerPolicy::new())
}

impl RouterConfig {
    /// Creates the router. Nothing is sent.
    ///
    /// # Errors
    /// Those of [`ProviderConfig::build`] and [`RouterBuilder::build`](super::RouterBuilder::build).
    pub fn build(self, clock: Arc<dyn Clock>, random: Random) -> Result<Router, LlmError> {
        let mut builder = Router::builder(clock, random)
            .with_fallback(self.fallback)
            .with_adapted_requests(self.adapt_requests);
        for route in self.routes {
            builder = builder.with_route(route.build()?);
        }
        builder.build()
    }
}

impl RouteConfig {
    fn build(self) -> Result<Route, LlmError> {
        let name = self.name.unwrap_or_else(|| self.provider.name().to_owned());
        let mut route = if self.keys.is_empty() {
            Route::new(name, self.provider.build()?)
        } else {
            let key = |key: KeyConfig| {
                let provider = self.provider.clone().with_api_key(key.api_key).build()?;
                Ok(PoolKey::new(key.label, provider))
            };
            let keys = self.keys.into_iter().map(key);
            Route::from_keys(name, keys.collect::<Result<Vec<_>, LlmError>>()?)
        };
        route = route.with_pool(self.pool).with_breaker(self.breaker);
        if let Some(model) = self.model {
            route = route.with_model(model);
        }
        if let Some(weight) = self.weight {
            route = route.with_weight(weight);
        }
        if let Some(limits) = self.limits {
            route = route.with_limits(limits);
        }
        if let Some(adapted) = self.adapt_requests {
            route = route.with_adapted_requests(adapted);
        }
        Ok(route)
    }
}
