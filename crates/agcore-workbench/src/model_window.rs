//! [`ModelWindow`]: a provider that knows the context window of the model in use, from the catalog or the server's list of models.
//!
//! With it, a conversation is compacted before it no longer fits, and not after a refused request.

use std::{
    fmt,
    sync::{Arc, PoisonError, RwLock},
    time::Duration,
};

use agcore::{
    catalog::{Catalog, ListPrices},
    llm::{Call, LlmProvider, ProviderConfig, ProviderInfo, ReplyStream, wire::operation::ModelEntry},
};
use agcore_settings::vendor::check_timeouts;
use tokio::{sync::OnceCell, time::timeout};

/// The longest time that a turn waits for the list of models.
const PATIENCE: Duration = Duration::from_secs(3);

/// A provider that knows the context window of the model in use.
pub struct ModelWindow {
    inner: Arc<dyn LlmProvider>,
    config: ProviderConfig,
    catalog: Option<Arc<Catalog>>,
    /// The public lists of the vendor, which count if neither the settings nor the server have a window.
    list: Option<ListPrices>,
    /// Lives as long as the program, because callers keep it without a lock. Each model that the user switches to has its own.
    info: RwLock<&'static ProviderInfo>,
    /// The models that the server lists; empty if it does not answer.
    listed: OnceCell<Vec<ModelEntry>>,
}

impl ModelWindow {
    /// Wraps the provider of these settings, whose model is in use.
    pub fn new(inner: Arc<dyn LlmProvider>, config: ProviderConfig, catalog: Option<Arc<Catalog>>) -> Self {
        let info = RwLock::new(&*Box::leak(Box::new(inner.info().clone())));
        let window = Self {
            inner,
            config,
            catalog,
            list: None,
            info,
            listed: OnceCell::new(),
        };
        window.use_model(&window.config.model);
        window
    }

    /// Adds the windows in a public list of models, which count last.
    #[must_use]
    pub fn with_list(mut self, list: Option<ListPrices>) -> Self {
        self.list = list;
        self.use_model(&self.config.model);
        self
    }

    /// Notes which model is in use from now on.
    pub fn use_model(&self, model: &str) {
        let known = self.in_catalog(model).or_else(|| in_list(self.listed.get()?, model));
        let known = known.or(self.config.context_window.filter(|_| model == self.config.model));
        let listed = || {
            self.list
                .as_ref()?
                .model(self.config.name(), model)?
                .model
                .context_window
        };
        self.set(known.or_else(listed));
    }

    /// Asks the server for its models, once, if the context window of the model in use is unknown. Does nothing if that fails or
    /// takes long.
    pub async fn learn(&self, model: &str) {
        if self.info().capabilities.context_window.is_some() {
            return;
        }
        let request = async {
            let config = self.config.clone().with_timeouts(check_timeouts());
            let models = timeout(PATIENCE, config.list_models()).await;
            models.ok().and_then(Result::ok).flatten().unwrap_or_default()
        };
        self.listed.get_or_init(|| request).await;
        self.use_model(model);
    }

    fn set(&self, window: Option<u64>) {
        let mut info = self.info.write().unwrap_or_else(PoisonError::into_inner);
        if info.capabilities.context_window != window {
            let mut changed = info.clone();
            changed.capabilities.context_window = window;
            *info = Box::leak(Box::new(changed));
        }
    }

    /// Returns the window of the catalog. A catalog may name the vendor differently, but then the name of the model must be unique.
    fn in_catalog(&self, model: &str) -> Option<u64> {
        let catalog = self.catalog.as_ref()?;
        let named = || catalog.models().filter(|(_, known)| known.name == model);
        let own = named().find(|(vendor, _)| vendor.name == self.config.name());
        let only = || named().next().filter(|_| named().count() == 1);
        own.or_else(only)?.1.context_window
    }
}

impl LlmProvider for ModelWindow {
    fn open(&self, call: Call) -> ReplyStream {
        self.inner.open(call)
    }

    fn info(&self) -> &ProviderInfo {
        *self.info.read().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for ModelWindow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ModelWindow")
            .field("window", &self.info().capabilities.context_window)
            .finish_non_exhaustive()
    }
}

/// Returns the window of a list of models. Some servers add a path before the names.
fn in_list(models: &[ModelEntry], model: &str) -> Option<u64> {
    let same = models.iter().find(|entry| entry.id == model);
    let by_path = || models.iter().find(|entry| entry.id.rsplit('/').next() == Some(model));
    same.or_else(by_path)?.context_window
}
