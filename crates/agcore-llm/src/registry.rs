//! [`ProviderRegistry`]: providers by name.

use std::{
    collections::BTreeMap,
    sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard},
};

use crate::{
    error::{LlmError, LlmErrorKind},
    near::nearest,
    provider::LlmProvider,
};

/// Providers by name, one of them the default. Clones are handles to the same registry; a lookup takes a lock for no
/// longer than a map lookup.
///
/// ```
/// use agcore_llm::{LlmProvider, provider_fn, error::LlmError, registry::ProviderRegistry};
///
/// let registry = ProviderRegistry::new();
/// registry.register("mine", provider_fn(|_| async { Err(LlmError::cancelled()) }));
/// assert_eq!(registry.names(), ["mine"]);
/// assert!(registry.default_provider().is_ok());
/// assert_eq!(
///     registry.get("mime").unwrap_err().to_string(),
///     "there is no provider `mime`; did you mean `mine`? known are: mine",
/// );
/// ```
#[derive(Debug, Clone, Default)]
pub struct ProviderRegistry(Arc<RwLock<Shelf>>);

#[derive(Debug, Default)]
struct Shelf {
    providers: BTreeMap<String, Arc<dyn LlmProvider>>,
    default: Option<String>,
}

impl ProviderRegistry {
    /// An empty registry.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a provider and gives back the one that had this name before. Calls under way keep theirs.
    pub fn register(
        &self,
        name: impl Into<String>,
        provider: impl LlmProvider + 'static,
    ) -> Option<Arc<dyn LlmProvider>> {
        self.write().providers.insert(name.into(), Arc::new(provider))
    }

    /// Builds a provider and adds it under its settings' name; gives back the one that had this name before.
    ///
    /// # Errors
    /// What [`ProviderConfig::build`](crate::config::ProviderConfig::build) says; nothing is added then.
    #[cfg(all(feature = "http", feature = "openai-chat"))]
    pub fn register_config(
        &self,
        config: &crate::config::ProviderConfig,
    ) -> Result<Option<Arc<dyn LlmProvider>>, LlmError> {
        Ok(self.register(config.name(), config.build()?))
    }

    /// Takes a provider away. Calls under way keep it; when it was the default, there is none any more.
    pub fn remove(&self, name: &str) -> Option<Arc<dyn LlmProvider>> {
        let mut shelf = self.write();
        shelf.default.take_if(|default| default == name);
        shelf.providers.remove(name)
    }

    /// The provider of a name.
    ///
    /// # Errors
    /// `NotFound`, which tells the known names.
    pub fn get(&self, name: &str) -> Result<Arc<dyn LlmProvider>, LlmError> {
        let shelf = self.read();
        shelf.providers.get(name).cloned().ok_or_else(|| shelf.unknown(name))
    }

    /// Says which provider is the default.
    ///
    /// # Errors
    /// `NotFound`, which tells the known names; the default is then what it was.
    pub fn set_default(&self, name: &str) -> Result<(), LlmError> {
        let mut shelf = self.write();
        if !shelf.providers.contains_key(name) {
            return Err(shelf.unknown(name));
        }
        shelf.default = Some(name.to_owned());
        Ok(())
    }

    /// The default provider: the one that was said to be, or the only one.
    ///
    /// # Errors
    /// `NotFound` when there is none, or several and none was said to be the default.
    pub fn default_provider(&self) -> Result<Arc<dyn LlmProvider>, LlmError> {
        let shelf = self.read();
        let provider = match &shelf.default {
            Some(name) => shelf.providers.get(name),
            None if shelf.providers.len() == 1 => shelf.providers.values().next(),
            None => None,
        };
        provider.cloned().ok_or_else(|| shelf.without_default())
    }

    /// The name of the provider that was said to be the default.
    pub fn default_name(&self) -> Option<String> {
        self.read().default.clone()
    }

    /// All names, sorted.
    pub fn names(&self) -> Vec<String> {
        self.read().providers.keys().cloned().collect()
    }

    // Nothing can panic while the lock is held, and a map stays whole anyway: poison says nothing.
    fn read(&self) -> RwLockReadGuard<'_, Shelf> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Shelf> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Shelf {
    fn unknown(&self, name: &str) -> LlmError {
        let mut message = format!("there is no provider `{name}`; ");
        if let Some(near) = nearest(name, self.providers.keys().map(String::as_str)) {
            message.push_str(&format!("did you mean `{near}`? "));
        }
        message.push_str(&self.known());
        LlmError::new(LlmErrorKind::NotFound, message)
    }

    fn without_default(&self) -> LlmError {
        let message = format!("no provider was said to be the default; {}", self.known());
        LlmError::new(LlmErrorKind::NotFound, message)
    }

    fn known(&self) -> String {
        if self.providers.is_empty() {
            return "none is registered".to_owned();
        }
        let names: Vec<_> = self.providers.keys().map(String::as_str).collect();
        format!("known are: {}", names.join(", "))
    }
}
