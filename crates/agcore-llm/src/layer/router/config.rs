//! [`RouterConfig`]: a router as settings tell it.

use std::sync::Arc;

use agcore_chat::Clock;
use serde::Deserialize;

use super::{handle::Router, route::Route};
use crate::{
    config::ProviderConfig,
    credential::Secret,
    error::LlmError,
    layer::{
        breaker::BreakerPolicy,
        fallback::FallbackPolicy,
        key_pool::{KeyPoolPolicy, PoolKey},
        rate_limit::RateLimits,
        retry::Random,
    },
};

/// A router as settings tell it. Times are seconds; an unknown member is an error.
///
/// ```
/// use std::sync::Arc;
/// use agcore_llm::{LlmProviderExt, SystemClock, layer::router::RouterConfig, system_random};
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
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct RouterConfig {
    /// The ways to a model, in the order in which they are asked.
    pub routes: Vec<RouteConfig>,
    /// When a call goes to the next one.
    #[serde(default)]
    pub fallback: FallbackPolicy,
}

/// A route as settings tell it.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct RouteConfig {
    /// What it is called; the provider's name when absent.
    #[serde(default)]
    pub name: Option<String>,
    /// Whom it goes to.
    pub provider: ProviderConfig,
    /// Keys, used in turn; when there is none, the provider's own.
    #[serde(default)]
    pub keys: Vec<KeyConfig>,
    /// Asked instead of the request's model. The provider's own model is asked where a request names none.
    #[serde(default)]
    pub model: Option<String>,
    /// The route's share of the calls.
    #[serde(default)]
    pub weight: Option<f64>,
    /// How much may be sent with each key.
    #[serde(default)]
    pub limits: Option<RateLimits>,
    /// How the keys are used.
    #[serde(default)]
    pub pool: KeyPoolPolicy,
    /// When the route is left in peace; `null` is never.
    #[serde(default = "breaker")]
    pub breaker: Option<BreakerPolicy>,
}

/// A key as settings tell it.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct KeyConfig {
    /// What it is called wherever it is shown.
    pub label: String,
    /// The key.
    pub api_key: Secret,
}

fn breaker() -> Option<BreakerPolicy> {
    Some(BreakerPolicy::new())
}

impl RouterConfig {
    /// A router as the settings tell it. Nothing is sent.
    ///
    /// # Errors
    /// What [`ProviderConfig::build`] and [`RouterBuilder::build`](super::RouterBuilder::build) say.
    pub fn build(self, clock: Arc<dyn Clock>, random: Random) -> Result<Router, LlmError> {
        let mut builder = Router::builder(clock, random).fallback(self.fallback);
        for route in self.routes {
            builder = builder.route(route.build()?);
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
            Route::of_keys(name, keys.collect::<Result<Vec<_>, LlmError>>()?)
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
        Ok(route)
    }
}
