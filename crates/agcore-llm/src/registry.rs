//! [`ProviderRegistry`]: providers by name.

use std::{
    collections::BTreeMap,
    sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard},
};

use agcore_chat::text::nearest;
use agcore_wire::{LlmError, LlmErrorKind};

use crate::provider::LlmProvider;

/// Providers by name, with an optional default. Clones are handles to the same registry. The lock is held only for the
/// lookup in a map.
///
/// ```
/// use agcore_llm::{LlmError, LlmProvider, ProviderRegistry, provider_fn};
///
/// let registry = ProviderRegistry::new();
/// registry.register("mine", provider_fn(|_| async { Err(LlmError::cancelled()) }));
/// assert_eq!(registry.names(), ["mine"]);
/// assert!(registry.default_provider().is_ok());
/// assert_eq!(
///     registry.get("mime").unwrap_err().to_string(),
///     "unknown provider `mime`, did you mean `mine`? registered providers: mine",
/// );
/// ```
#[derive(Debug, Clone, Default)]
pub struct ProviderRegistry(Arc<RwLock<Providers>>);

#[derive(Debug, Default)]
struct Providers {
    by_name: BTreeMap<String, Arc<dyn LlmProvider>>,
    default: Option<String>,
}

impl ProviderRegistry {
    /// Creates an empty registry.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a provider, and returns the one that it replaces. In-flight calls are not affected.
    pub fn register(
        &self,
        name: impl Into<String>,
        provider: impl LlmProvider + 'static,
    ) -> Option<Arc<dyn LlmProvider>> {
        self.write().by_name.insert(name.into(), Arc::new(provider))
    }

    /// Creates a provider and adds it with the name in its settings. Returns the one that it replaces.
    ///
    /// # Errors
    /// Those of [`ProviderConfig::build`](crate::ProviderConfig::build). Nothing is added then.
    #[cfg(all(feature = "_http", feature = "_api"))]
    pub fn register_config(&self, config: &crate::ProviderConfig) -> Result<Option<Arc<dyn LlmProvider>>, LlmError> {
        Ok(self.register(config.name(), config.build()?))
    }

    /// Removes a provider. In-flight calls are not affected. If it was the default, there is no default afterwards.
    pub fn remove(&self, name: &str) -> Option<Arc<dyn LlmProvider>> {
        let mut providers = self.write();
        providers.default.take_if(|default| default == name);
        providers.by_name.remove(name)
    }

    /// Returns the provider with this name.
    ///
    /// # Errors
    /// `NotFound` if there is none. The message lists the registered names.
    pub fn get(&self, name: &str) -> Result<Arc<dyn LlmProvider>, LlmError> {
        let providers = self.read();
        let provider = providers.by_name.get(name).cloned();
        provider.ok_or_else(|| providers.unknown_name(name))
    }

    /// Sets the default provider.
    ///
    /// # Errors
    /// `NotFound` if there is no provider with this name. The default is not changed then.
    pub fn set_default(&self, name: &str) -> Result<(), LlmError> {
        let mut providers = self.write();
        if !providers.by_name.contains_key(name) {
            return Err(providers.unknown_name(name));
        }
        providers.default = Some(name.to_owned());
        Ok(())
    }

    /// Returns the default provider: the one that was set, or the only one.
    ///
    /// # Errors
    /// `NotFound` if no default is set and the number of providers is not one.
    pub fn default_provider(&self) -> Result<Arc<dyn LlmProvider>, LlmError> {
        let providers = self.read();
        let provider = match &providers.default {
            Some(name) => providers.by_name.get(name),
            None if providers.by_name.len() == 1 => providers.by_name.values().next(),
            None => None,
        };
        provider.cloned().ok_or_else(|| providers.missing_default())
    }

    /// Returns the name of the provider that was set as the default.
    pub fn default_name(&self) -> Option<String> {
        self.read().default.clone()
    }

    /// Returns all names, sorted.
    pub fn names(&self) -> Vec<String> {
        self.read().by_name.keys().cloned().collect()
    }

    // No code panics while the lock is held, and the map would still be valid, so poisoning is ignored.
    fn read(&self) -> RwLockReadGuard<'_, Providers> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Providers> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Providers {
    fn unknown_name(&self, name: &str) -> LlmError {
        let near = nearest(name, self.by_name.keys().map(String::as_str));
        let hint = near.map_or_else(|| ";".to_owned(), |near| format!(", did you mean `{near}`?"));
        let message = format!("unknown provider `{name}`{hint} {}", self.registered());
        LlmError::new(LlmErrorKind::NotFound, message)
    }

    fn missing_default(&self) -> LlmError {
        let message = format!("no default provider is set; {}", self.registered());
        LlmError::new(LlmErrorKind::NotFound, message)
    }

    /// Describes the registered providers, for errors.
    fn registered(&self) -> String {
        if self.by_name.is_empty() {
            return "no providers are registered".to_owned();
        }
        let names: Vec<_> = self.by_name.keys().map(String::as_str).collect();
        format!("registered providers: {}", names.join(", "))
    }
}
