//! Creating models that do not chat from settings.

use std::sync::Arc;

use super::{
    build::{embedding_provider, info, transport_to},
    settings::ProviderConfig,
};
#[cfg(feature = "rerank")]
use crate::kinds::ModelReranker;
#[cfg(feature = "media")]
use crate::kinds::{ModelImages, ModelSpeech, ModelTranscriber, ModelVideos};
use crate::{
    provider::{CallOperation, LlmProvider},
    wire_provider::{CarriedOperation, OperationProvider},
};
use agcore_wire::{LlmError, LlmErrorKind, ResponseShape, Wire};
#[cfg(feature = "media")]
use agcore_wire::{
    media::{ImageWire, SpeechWire, TranscriptionWire, VideoWire},
    operation::{GenerateImages, MakeVideo, Speak, Transcribe},
};
#[cfg(feature = "rerank")]
use agcore_wire::{operation::Rerank, rerank::RerankWire};

/// The native API of DashScope in the region of the URL for chats, because keys are valid in one region only:
/// <https://www.alibabacloud.com/help/en/model-studio/text-rerank-api>.
const DASHSCOPE: &str = "https://dashscope-intl.aliyuncs.com/api/v1";

impl ProviderConfig {
    /// Creates a provider for calls of this kind, for routers that serve several kinds of models. To call a model, use the
    /// other methods, whose handles make calls of the right form. Nothing is sent.
    ///
    /// ```
    /// # #[cfg(all(feature = "openai-chat", feature = "rerank"))] {
    /// use agcore_llm::{CallOperation, LlmProvider, ModelReranker, ProviderConfig};
    ///
    /// let config = ProviderConfig::parse("vllm:bge-reranker-v2-m3")?.with_base_url("http://localhost:8000/v1");
    /// let provider = config.build_for(CallOperation::Rerank)?;
    /// assert_eq!(&*ModelReranker::from_provider(provider).info().model, "bge-reranker-v2-m3");
    /// # }
    /// # Ok::<(), agcore_llm::LlmError>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`build`](Self::build), and `InvalidRequest` if the API or this build has no such models, or the shape is
    /// invalid.
    pub fn build_for(&self, calls: CallOperation) -> Result<Arc<dyn LlmProvider>, LlmError> {
        match calls {
            CallOperation::Chat => self.build(),
            CallOperation::Embeddings => Ok(Arc::new(embedding_provider(self)?.0)),
            #[cfg(feature = "rerank")]
            CallOperation::Rerank => Ok(Arc::new(rerank(self)?)),
            #[cfg(feature = "media")]
            CallOperation::ImageGeneration => Ok(Arc::new(images(self)?)),
            #[cfg(feature = "media")]
            CallOperation::Speech => Ok(Arc::new(speech(self)?)),
            #[cfg(feature = "media")]
            CallOperation::Transcription => Ok(Arc::new(transcription(self)?)),
            #[cfg(feature = "media")]
            CallOperation::VideoGeneration => Ok(Arc::new(videos(self)?)),
            #[allow(unreachable_patterns, reason = "whether there are others depends on the features")]
            other => {
                let message = format!("this build cannot make calls of the kind {other:?}: enable their feature");
                Err(LlmError::new(LlmErrorKind::InvalidRequest, message).with_provider(self.name()))
            }
        }
    }

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
        rerank(self).map(ModelReranker::from_provider)
    }

    /// Creates a handle to a model that makes images. Nothing is sent.
    ///
    /// Requests and replies have the form of [`response_shape`](Self::response_shape). By default that is DashScope's for
    /// `qwen`, whose base URL then is that of its native API, and that of OpenAI for all other types.
    ///
    /// # Errors
    /// Those of [`build`](Self::build), and `InvalidRequest` if the API has no such models or the shape is invalid.
    #[cfg(feature = "media")]
    pub fn build_image_model(&self) -> Result<ModelImages, LlmError> {
        images(self).map(ModelImages::from_provider)
    }

    /// Creates a handle to a model that makes speech, like [`build_image_model`](Self::build_image_model).
    ///
    /// # Errors
    /// Those of [`build`](Self::build), and `InvalidRequest` if the API has no such models or the shape is invalid.
    #[cfg(feature = "media")]
    pub fn build_speech_model(&self) -> Result<ModelSpeech, LlmError> {
        speech(self).map(ModelSpeech::from_provider)
    }

    /// Creates a handle to a model that makes texts from speech, like [`build_image_model`](Self::build_image_model).
    ///
    /// # Errors
    /// Those of [`build`](Self::build), and `InvalidRequest` if the API has no such models or the shape is invalid.
    #[cfg(feature = "media")]
    pub fn build_transcriber(&self) -> Result<ModelTranscriber, LlmError> {
        transcription(self).map(ModelTranscriber::from_provider)
    }

    /// Creates a handle to a model that makes videos, like [`build_image_model`](Self::build_image_model).
    ///
    /// # Errors
    /// Those of [`build`](Self::build), and `InvalidRequest` if the API has no such models or the shape is invalid.
    #[cfg(feature = "media")]
    pub fn build_video_model(&self) -> Result<ModelVideos, LlmError> {
        videos(self).map(ModelVideos::from_provider)
    }
}

#[cfg(feature = "rerank")]
fn rerank(config: &ProviderConfig) -> Result<OperationProvider<Rerank>, LlmError> {
    provider(config, |shape| Ok(Arc::new(RerankWire::new(shape)?)))
}

#[cfg(feature = "media")]
fn images(config: &ProviderConfig) -> Result<OperationProvider<GenerateImages>, LlmError> {
    provider(config, |shape| Ok(Arc::new(ImageWire::new(shape)?)))
}

#[cfg(feature = "media")]
fn speech(config: &ProviderConfig) -> Result<OperationProvider<Speak>, LlmError> {
    provider(config, |shape| Ok(Arc::new(SpeechWire::new(shape)?)))
}

#[cfg(feature = "media")]
fn transcription(config: &ProviderConfig) -> Result<OperationProvider<Transcribe>, LlmError> {
    provider(config, |shape| Ok(Arc::new(TranscriptionWire::new(shape)?)))
}

#[cfg(feature = "media")]
fn videos(config: &ProviderConfig) -> Result<OperationProvider<MakeVideo>, LlmError> {
    provider(config, |shape| Ok(Arc::new(VideoWire::new(shape)?)))
}

/// Creates the provider of a kind with the wire for its shape.
fn provider<O: CarriedOperation>(
    config: &ProviderConfig,
    wire: impl FnOnce(ResponseShape) -> Result<Arc<dyn Wire<O>>, LlmError>,
) -> Result<OperationProvider<O>, LlmError> {
    let shape = config
        .response_shape
        .clone()
        .or_else(|| config.provider_type.response_shape());
    let shape = shape.ok_or_else(|| {
        let message = format!(
            "the API `{}` has only models that chat: use another provider type for this model, or set a response shape",
            config.provider_type
        );
        LlmError::new(LlmErrorKind::InvalidRequest, message).with_provider(config.name())
    })?;
    // A key of another vendor must not be sent there.
    let is_native = |shape: &ResponseShape| shape.name() == ResponseShape::dashscope().name();
    let is_own = config.provider_type.response_shape().is_some_and(|own| is_native(&own));
    let native = (is_own && is_native(&shape)).then_some(DASHSCOPE);
    let wire = wire(shape).map_err(|error| error.with_provider(config.name()))?;
    let (transport, guard) = transport_to(config, native)?;
    Ok(OperationProvider::new(info(config), wire, transport).with_guard(guard))
}
