//! [`CatalogProvider`]: a model of a catalog.

use std::{fmt, sync::Arc};

use agcore_chat::Actor;
use agcore_llm::{Call, LlmError, LlmProvider, ProviderInfo, ProviderRoute, ReplyStream, layer::router::Router};

/// Returns the router of the current catalog for an actor.
pub(super) type Open = Arc<dyn Fn(&Actor) -> Result<Router, LlmError> + Send + Sync>;

/// A model of a catalog as a provider. Each call uses the current catalog, and only keys that are granted to the
/// [actor](Call::with_actor) of the call.
///
/// A call fails with `Permission` if no key is granted to the actor, and with `Authentication` if none was found by the
/// resolver. If all keys have reached their limits, it waits, for at most a minute.
#[derive(Clone)]
pub struct CatalogProvider {
    open: Open,
    info: ProviderInfo,
    /// The model and its fallbacks.
    routes: Arc<[ProviderInfo]>,
}

impl CatalogProvider {
    /// Creates a provider, or returns `None` if there are no routes.
    pub(super) fn new(open: Open, routes: Vec<ProviderInfo>) -> Option<Self> {
        Some(Self {
            open,
            info: routes.first()?.clone(),
            routes: routes.into(),
        })
    }
}

impl LlmProvider for CatalogProvider {
    fn open(&self, call: Call) -> ReplyStream {
        match (self.open)(call.actor()) {
            Ok(router) => router.open(call),
            Err(error) => ReplyStream::failed(error.with_provider(&*self.info.name)),
        }
    }

    fn info(&self) -> &ProviderInfo {
        &self.info
    }

    fn visit_routes<'a>(&'a self, _: &'a str, visit: &mut dyn FnMut(ProviderRoute<'a>)) {
        for route in self.routes.iter() {
            visit(ProviderRoute::new(route, ""));
        }
    }
}

impl fmt::Debug for CatalogProvider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CatalogProvider")
            .field("routes", &self.routes)
            .finish_non_exhaustive()
    }
}
