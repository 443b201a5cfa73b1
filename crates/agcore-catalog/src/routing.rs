//! [`CatalogRouter`]: providers for the models of a catalog, which can be replaced while calls run.

mod endpoints;
mod key_handle;
mod meter;
mod model_key;
mod provider;
mod snapshot;
mod videos;

pub use meter::KeyUsage;
pub use provider::CatalogProvider;
pub use snapshot::{KeyResolver, RoutingOptions};
pub use videos::CatalogVideos;

use std::{
    fmt,
    sync::{Arc, PoisonError, RwLock},
};

use agcore_chat::{Actor, PriceFn};
use agcore_llm::{
    CallOperation, LlmError, LlmErrorKind, ModelEmbedder, ModelImages, ModelReranker, ModelSpeech, ModelTranscriber,
    ProviderInfo,
};
use snapshot::{Maker, Snapshot};

use crate::{
    catalog::{Catalog, error::CatalogError},
    source::CatalogSource,
};

/// The most texts in one request for embeddings.
const MAX_INPUTS: usize = 10;

/// Providers for the models of a catalog: a router for each, with the keys that are granted to the actor of a call, their limits
/// and meters, and the fallbacks of the model.
///
/// A catalog can be replaced at any time. A call uses the catalog that was current when it was opened, to its end; the next
/// call uses the new one. Keys that have not changed keep their meters and limits. Clones are handles to the same router.
///
/// ```
/// use std::sync::Arc;
///
/// use agcore_catalog::{Catalog, CatalogRouter, Format, RoutingOptions};
/// use agcore_llm::{LlmProvider, SystemClock, credential::Secret, system_random};
///
/// let text = r#"
/// [[vendors]]
/// name = "deepseek"
/// endpoints = [{ name = "chat", api = "deepseek", kinds = ["text"] }]
/// keys = [{ name = "team", secret = "${DEEPSEEK_API_KEY}", users = ["*"], requests_per_minute = 500 }]
/// models = [{ name = "deepseek-chat", context_window = 128000 }]
/// "#;
/// let catalog = Catalog::parse("models.toml", Format::Toml, text)?;
/// // A program looks the names up in its environment.
/// let resolver = |name: &str| (name == "DEEPSEEK_API_KEY").then(|| Secret::from("sk-1"));
/// let options = RoutingOptions::new(Arc::new(SystemClock::new()), system_random(), resolver);
/// let router = CatalogRouter::new(catalog, options)?;
///
/// let model = router.provider("deepseek-chat")?;
/// assert_eq!(model.info().capabilities.context_window, Some(128_000));
/// assert_eq!(router.key_usage()[0].requests, 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct CatalogRouter(Arc<Shared>);

struct Shared {
    options: RoutingOptions,
    current: RwLock<Arc<Snapshot>>,
}

impl CatalogRouter {
    /// Creates the providers of a catalog. Nothing is sent. A key that the resolver does not find is left out.
    ///
    /// # Errors
    /// Returns `InvalidRequest` for an API that the program does not have, and the errors of
    /// [`ProviderConfig::build`](agcore_llm::ProviderConfig::build).
    pub fn new(catalog: Catalog, options: RoutingOptions) -> Result<Self, LlmError> {
        let snapshot = Snapshot::new(catalog, &options, None)?;
        Ok(Self(Arc::new(Shared {
            options,
            current: RwLock::new(Arc::new(snapshot)),
        })))
    }

    /// Replaces the catalog. Calls that are running finish with the old one.
    ///
    /// # Errors
    /// Fails like [`new`](Self::new); the old catalog then stays.
    pub fn replace(&self, catalog: Catalog) -> Result<(), LlmError> {
        // Providers are built without the lock, so that calls do not wait.
        let snapshot = Snapshot::new(catalog, &self.0.options, Some(&self.current()))?;
        *self.0.current.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(snapshot);
        Ok(())
    }

    /// Loads the catalog again and replaces it.
    ///
    /// Cancel safe: until the catalog is loaded, dropping the future changes nothing.
    ///
    /// # Errors
    /// Fails with everything that is wrong with the new catalog, or like [`new`](Self::new); the old catalog then stays.
    pub async fn reload(&self, source: &dyn CatalogSource) -> Result<(), CatalogError> {
        let catalog = source.load().await?;
        let file = catalog.file().to_owned();
        self.replace(catalog)
            .map_err(|error| CatalogError::unusable(&file, error))
    }

    /// Returns the current catalog.
    pub fn catalog(&self) -> Arc<Catalog> {
        Arc::clone(&self.current().catalog)
    }

    /// Returns a provider for a model. It follows later changes of the catalog, except for its description: name, capabilities
    /// and routes are those of the catalog that is current now.
    ///
    /// # Errors
    /// Returns `NotFound` if the catalog has no such model, and `InvalidRequest` if the model does not continue conversations.
    pub fn provider(&self, model: &str) -> Result<CatalogProvider, LlmError> {
        self.provider_for(model, CallOperation::Chat)
    }

    /// Returns an embedder for a model, which follows changes of the catalog like [`provider`](Self::provider). A request
    /// contains at most ten texts, the lowest limit of all vendors; `with_max_inputs` raises it.
    ///
    /// # Errors
    /// Returns `NotFound` if the catalog has no such model, and `InvalidRequest` if the model does not embed texts.
    pub fn embedder(&self, model: &str) -> Result<ModelEmbedder, LlmError> {
        let provider = self.provider_for(model, CallOperation::Embeddings)?;
        Ok(ModelEmbedder::from_provider(provider).with_max_inputs(MAX_INPUTS))
    }

    /// Returns a handle to a model that rates documents, which follows changes of the catalog like
    /// [`provider`](Self::provider). Set the actor with its `with_actor`.
    ///
    /// # Errors
    /// Returns `NotFound` if the catalog has no such model, and `InvalidRequest` if the model does not rank documents.
    pub fn reranker(&self, model: &str) -> Result<ModelReranker, LlmError> {
        let provider = self.provider_for(model, CallOperation::Rerank)?;
        Ok(ModelReranker::from_provider(provider))
    }

    /// Returns a handle to a model that makes images, which follows changes of the catalog like
    /// [`provider`](Self::provider). Set the actor with its `with_actor`.
    ///
    /// # Errors
    /// Returns `NotFound` if the catalog has no such model, and `InvalidRequest` if the model does not make images.
    pub fn image_model(&self, model: &str) -> Result<ModelImages, LlmError> {
        let provider = self.provider_for(model, CallOperation::ImageGeneration)?;
        Ok(ModelImages::from_provider(provider))
    }

    /// Returns a handle to a model that makes speech, which follows changes of the catalog like
    /// [`provider`](Self::provider). Set the actor with its `with_actor`.
    ///
    /// # Errors
    /// Returns `NotFound` if the catalog has no such model, and `InvalidRequest` if the model does not make speech.
    pub fn speech_model(&self, model: &str) -> Result<ModelSpeech, LlmError> {
        let provider = self.provider_for(model, CallOperation::Speech)?;
        Ok(ModelSpeech::from_provider(provider))
    }

    /// Returns a handle to a model that makes texts from speech, which follows changes of the catalog like
    /// [`provider`](Self::provider). Set the actor with its `with_actor`.
    ///
    /// # Errors
    /// Returns `NotFound` if the catalog has no such model, and `InvalidRequest` if the model does not transcribe.
    pub fn transcriber(&self, model: &str) -> Result<ModelTranscriber, LlmError> {
        let provider = self.provider_for(model, CallOperation::Transcription)?;
        Ok(ModelTranscriber::from_provider(provider))
    }

    /// Returns a handle to a model that makes videos, which follows changes of the catalog like [`provider`](Self::provider).
    /// Set the actor with its `with_actor`.
    ///
    /// # Errors
    /// Returns `NotFound` if the catalog has no such model, and `InvalidRequest` if the model does not make videos.
    pub fn video_model(&self, model: &str) -> Result<CatalogVideos, LlmError> {
        let calls = CallOperation::VideoGeneration;
        self.current().chain(model, calls)?;
        let (router, name) = (self.clone(), model.to_owned());
        let provider = move |maker| router.provider_of(&name, calls, maker);
        let (router, name) = (self.clone(), model.to_owned());
        let keys = move |actor: &Actor| {
            let current = router.current();
            let makers = current.makers(&name, calls, actor)?;
            if makers.is_empty() {
                // The error states which key is missing.
                current.router(&name, calls, actor, None)?;
            }
            Ok(makers)
        };
        Ok(CatalogVideos::new(model, Arc::new(provider), Arc::new(keys)))
    }

    fn provider_for(&self, model: &str, calls: CallOperation) -> Result<CatalogProvider, LlmError> {
        self.provider_of(model, calls, None)
    }

    /// Returns a provider for a model that uses only the key of `maker`, if one is given.
    fn provider_of(
        &self,
        model: &str,
        calls: CallOperation,
        maker: Option<Maker>,
    ) -> Result<CatalogProvider, LlmError> {
        let routes: Vec<ProviderInfo> = self
            .current()
            .chain(model, calls)?
            .into_iter()
            .map(|(_, row)| row.info())
            .collect();
        let (router, name) = (self.clone(), model.to_owned());
        let open = Arc::new(move |actor: &Actor| router.current().router(&name, calls, actor, maker.as_ref()));
        CatalogProvider::new(open, routes)
            .ok_or_else(|| LlmError::new(LlmErrorKind::NotFound, format!("the model `{model}` has no route")))
    }

    /// Returns what was used with each key since the program started, in the order of the current catalog.
    pub fn key_usage(&self) -> Vec<KeyUsage> {
        self.current().key_usage()
    }

    /// Returns the prices of the current catalog, which follow its changes, for the budgets of agcore-cycle.
    pub fn price_fn(&self) -> PriceFn {
        let router = self.clone();
        Arc::new(move |query| router.current().catalog.prices().price(query))
    }

    fn current(&self) -> Arc<Snapshot> {
        Arc::clone(&self.0.current.read().unwrap_or_else(PoisonError::into_inner))
    }
}

impl fmt::Debug for CatalogRouter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CatalogRouter")
            .field("catalog", &self.current().catalog)
            .finish_non_exhaustive()
    }
}
