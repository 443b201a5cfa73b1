//! [`Snapshot`]: everything that is built from one catalog.

use std::{
    collections::{HashMap, HashSet},
    fmt,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use agcore_chat::{Actor, Clock};
use agcore_llm::{
    CallOperation, LlmError, LlmErrorKind, ProviderInfo, Random,
    credential::Secret,
    layer::{
        key_pool::{KeyPoolPolicy, PoolKey},
        router::{Route, Router},
    },
};

use super::{
    endpoints,
    key_handle::{KeyHandle, callable_models, operation},
    meter::{KeyUsage, Meter},
    model_key::{ModelKey, describe},
};
use crate::catalog::{
    Catalog,
    spec::{Key, Model, Vendor},
};

/// The longest time for which a call waits until a key is below its limits again.
const MAX_WAIT: Duration = Duration::from_secs(60);

/// Finds a key by the name that the catalog references, for example in the environment.
pub type KeyResolver = Arc<dyn Fn(&str) -> Option<Secret> + Send + Sync>;

/// Everything that a [`CatalogRouter`](super::CatalogRouter) takes from the program.
#[derive(Clone)]
#[non_exhaustive]
pub struct RoutingOptions {
    clock: Arc<dyn Clock>,
    random: Random,
    resolver: KeyResolver,
}

impl RoutingOptions {
    /// Creates options: a clock that measures time and waits, random numbers from 0 to 1, and a resolver of keys.
    pub fn new(
        clock: Arc<dyn Clock>,
        random: Random,
        resolver: impl Fn(&str) -> Option<Secret> + Send + Sync + 'static,
    ) -> Self {
        Self {
            clock,
            random,
            resolver: Arc::new(resolver),
        }
    }
}

impl fmt::Debug for RoutingOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RoutingOptions")
    }
}

/// A vendor and one of its models.
#[derive(Clone, Copy)]
pub(super) struct Row<'s>(&'s Vendor, &'s Model);

impl Row<'_> {
    pub(super) fn info(&self) -> ProviderInfo {
        describe(&self.0.name, self.1)
    }
}

/// The model that generates or has generated a video, by its vendor's name for it, and the name of the key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Maker {
    pub(super) model: String,
    pub(super) key: String,
}

/// A model, and the keys of all its routes that may be used, each with the name of the route.
type RouterKey = (String, Vec<(String, String)>);

/// A catalog with the keys and routers that were built from it.
pub(super) struct Snapshot {
    pub(super) catalog: Arc<Catalog>,
    /// By vendor and key.
    keys: HashMap<(String, String), Arc<KeyHandle>>,
    /// The meters of all keys that any catalog had, so that a key that comes back continues to count.
    meters: HashMap<(String, String), Arc<Meter>>,
    routers: Mutex<HashMap<RouterKey, Router>>,
    options: RoutingOptions,
}

impl Snapshot {
    /// Builds the keys of a catalog. Those that are the same as before are kept, with their limits.
    pub(super) fn new(catalog: Catalog, options: &RoutingOptions, before: Option<&Self>) -> Result<Self, LlmError> {
        let mut keys = HashMap::new();
        let mut meters = before.map(|before| before.meters.clone()).unwrap_or_default();
        for vendor in catalog.vendors() {
            for key in &vendor.keys {
                let name = (vendor.name.clone(), key.name.clone());
                let old = before.and_then(|before| before.keys.get(&name));
                let handle = match old.filter(|old| old.is_same(vendor, key)) {
                    Some(same) => Arc::clone(same),
                    None => Arc::new(handle(vendor, key, options, meters.entry(name.clone()).or_default())?),
                };
                keys.insert(name, handle);
            }
        }
        Ok(Self {
            catalog: Arc::new(catalog),
            keys,
            meters,
            routers: Mutex::default(),
            options: options.clone(),
        })
    }

    /// Returns a model that takes calls of this kind and all its fallbacks, each once, in the order in which they are tried.
    pub(super) fn chain(&self, name: &str, calls: CallOperation) -> Result<Vec<(String, Row<'_>)>, LlmError> {
        let mut chain = Vec::new();
        let mut seen = HashSet::new();
        let mut next = vec![name];
        while let Some(name) = next.pop() {
            let Some((vendor, model)) = self.catalog.model(name) else {
                let message = format!("the catalog {} has no model `{name}`", self.catalog.file());
                return Err(LlmError::new(LlmErrorKind::NotFound, message));
            };
            if operation(model.kind) != Some(calls) {
                let message = format!(
                    "the model `{name}` is of the kind {}, which {}",
                    model.kind,
                    refusal(calls)
                );
                return Err(LlmError::new(LlmErrorKind::InvalidRequest, message));
            }
            if seen.insert(name) {
                chain.push((name.to_owned(), Row(vendor, model)));
                next.extend(model.fallbacks.iter().rev().map(String::as_str));
            }
        }
        Ok(chain)
    }

    /// Returns the keys that are granted to an actor for a model and its fallbacks, and that were found.
    pub(super) fn makers(&self, name: &str, calls: CallOperation, actor: &Actor) -> Result<Vec<Maker>, LlmError> {
        let mut makers = Vec::new();
        for (_, Row(vendor, model)) in self.chain(name, calls)? {
            for key in vendor.keys.iter().filter(|key| key.is_granted_to(actor)) {
                let handle = self.keys.get(&(vendor.name.clone(), key.name.clone()));
                if handle.is_some_and(|handle| handle.provider.is_some()) {
                    let (model, key) = (model.vendor_name.clone(), key.name.clone());
                    makers.push(Maker { model, key });
                }
            }
        }
        Ok(makers)
    }

    /// Returns the router of a model with the keys that are granted to an actor, or only with the one of `maker`.
    pub(super) fn router(
        &self,
        name: &str,
        calls: CallOperation,
        actor: &Actor,
        maker: Option<&Maker>,
    ) -> Result<Router, LlmError> {
        let chain = self.chain(name, calls)?;
        let usable = |Row(vendor, model): Row<'_>| -> Vec<(String, Arc<KeyHandle>)> {
            let is_wanted =
                |key: &Key| maker.is_none_or(|maker| maker.model == model.vendor_name && maker.key == key.name);
            let granted = vendor
                .keys
                .iter()
                .filter(|key| key.is_granted_to(actor) && is_wanted(key));
            let handles = granted.filter_map(|key| {
                let handle = self.keys.get(&(vendor.name.clone(), key.name.clone()))?;
                handle
                    .provider
                    .is_some()
                    .then(|| (key.name.clone(), Arc::clone(handle)))
            });
            handles.collect()
        };
        let routes: Vec<_> = chain.iter().map(|(name, row)| (name, *row, usable(*row))).collect();
        let names = routes
            .iter()
            .flat_map(|(name, _, keys)| keys.iter().map(|(key, _)| ((*name).clone(), key.clone())));
        let id = (name.to_owned(), names.collect::<Vec<_>>());
        let mut routers = self.routers.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(router) = routers.get(&id) {
            return Ok(router.clone());
        }
        if id.1.is_empty() {
            return Err(no_key(name, &chain, actor));
        }
        let mut builder = Router::builder(Arc::clone(&self.options.clock), Arc::clone(&self.options.random));
        for (name, row, keys) in routes.into_iter().filter(|(_, _, keys)| !keys.is_empty()) {
            let pool = keys.into_iter().filter_map(|(label, handle)| {
                let key = Arc::clone(handle.provider.as_ref()?);
                Some(PoolKey::new(label, ModelKey { info: row.info(), key }))
            });
            let route = Route::from_keys(name.as_str(), pool)
                .with_model(row.1.vendor_name.as_str())
                .with_pool(KeyPoolPolicy::new().with_max_wait(MAX_WAIT));
            builder = builder.with_route(route);
        }
        let router = builder.build()?;
        routers.insert(id, router.clone());
        Ok(router)
    }

    pub(super) fn key_usage(&self) -> Vec<KeyUsage> {
        let rows = self
            .catalog
            .vendors()
            .iter()
            .flat_map(|vendor| vendor.keys.iter().map(move |key| (vendor, key)));
        let usage = rows.filter_map(|(vendor, key)| {
            let handle = self.keys.get(&(vendor.name.clone(), key.name.clone()))?;
            Some(handle.meter.read(&vendor.name, &key.name, handle.provider.is_some()))
        });
        usage.collect()
    }
}

/// Returns the error of an actor without a key.
fn no_key(name: &str, chain: &[(String, Row<'_>)], actor: &Actor) -> LlmError {
    let keys = || chain.iter().flat_map(|(_, row)| &row.0.keys);
    let missing: Vec<&str> = keys()
        .filter(|key| key.is_granted_to(actor))
        .filter_map(|key| key.reference.as_deref())
        .collect();
    match missing.is_empty() {
        true => LlmError::new(
            LlmErrorKind::Permission,
            format!("no key for the model `{name}` is granted to {actor}; grant one in the catalog"),
        ),
        false => LlmError::new(
            LlmErrorKind::Authentication,
            format!(
                "no key for the model `{name}` is available: set {}",
                missing.join(" or ")
            ),
        ),
    }
}

/// Returns what models cannot do that do not take calls of this kind.
fn refusal(calls: CallOperation) -> &'static str {
    match calls {
        CallOperation::Chat => "does not continue conversations",
        CallOperation::Embeddings => "does not embed texts",
        CallOperation::Rerank => "does not rank documents",
        CallOperation::ImageGeneration => "does not make images",
        CallOperation::Speech => "does not make speech",
        CallOperation::Transcription => "does not transcribe",
        CallOperation::VideoGeneration => "does not make videos",
        _ => "takes no such calls",
    }
}

/// Creates a key that counts with this meter.
fn handle(vendor: &Vendor, key: &Key, options: &RoutingOptions, meter: &Arc<Meter>) -> Result<KeyHandle, LlmError> {
    let secret = key.reference.as_deref().map(|name| (options.resolver)(name));
    let provider = match secret {
        Some(None) => None,
        secret => {
            let by_model = endpoints::by_model(vendor, secret.flatten().as_ref())?;
            Some(KeyHandle::limited(key, &vendor.name, by_model, meter, &options.clock)?)
        }
    };
    Ok(KeyHandle {
        row: (key.clone(), vendor.endpoints.clone(), callable_models(vendor)),
        meter: Arc::clone(meter),
        provider,
    })
}
