//! Creating models that do not chat from settings.

use std::sync::Arc;

use super::{
    build::{info, transport_to},
    settings::ProviderConfig,
};
#[cfg(feature = "rerank")]
use crate::kinds::ModelReranker;
use crate::wire_provider::{CarriedOperation, OperationProvider};
#[cfg(feature = "rerank")]
use agcore_wire::rerank::RerankWire;
use agcore_wire::{LlmError, LlmErrorKind, ResponseShape, Wire};

/// The native API of DashScope, which differs from the URL for chats:
/// <https://help.aliyun.com/zh/model-studio/text-rerank-api>.
const DASHSCOPE: &str = "https://dashscope.aliyuncs.com/api/v1";

impl ProviderConfig {
    /// Creates a handle to a model that rates the relevance of documents. Nothing is sent.
    ///
    /// Requests and replies have the form of [`response_shape`](Self::response_shape). By default that is DashScope's for
    /// `qwen`, whose base URL then is that of its native API, and that of most compatible servers for all other types.
    ///
    /// ```
    /// # #[cfg(feature = "openai-chat")] {
    /// use agcore_llm::ProviderConfig;
    ///
    /// let config = ProviderConfig::parse("vllm:bge-reranker-v2-m3")?.with_base_url("http://localhost:8000/v1");
    /// assert_eq!(&*config.build_reranker()?.info().model, "bge-reranker-v2-m3");
    /// # }
    /// # Ok::<(), agcore_llm::LlmError>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`build`](Self::build), and `InvalidRequest` if the API has no such models or the shape is invalid.
    #[cfg(feature = "rerank")]
    pub fn build_reranker(&self) -> Result<ModelReranker, LlmError> {
        provider(self, |shape| Ok(Arc::new(RerankWire::new(shape)?))).map(ModelReranker::from_provider)
    }
}

/// Creates the provider of a kind with the wire for its shape.
fn provider<O: CarriedOperation>(
    config: &ProviderConfig,
    wire: impl FnOnce(ResponseShape) -> Result<Arc<dyn Wire<O>>, LlmError>,
) -> Result<OperationProvider<O>, LlmError> {
    let shape = config.response_shape.clone().or_else(|| config.provider_type.shape());
    let shape = shape.ok_or_else(|| {
        let message = format!(
            "the API `{}` has only models that chat: use another provider type for this model, or set a response shape",
            config.provider_type
        );
        LlmError::new(LlmErrorKind::InvalidRequest, message).with_provider(config.name())
    })?;
    let native = (shape.name() == ResponseShape::dashscope().name()).then_some(DASHSCOPE);
    let wire = wire(shape).map_err(|error| error.with_provider(config.name()))?;
    let (transport, guard) = transport_to(config, native)?;
    Ok(OperationProvider::new(info(config), wire, transport).with_guard(guard))
}
