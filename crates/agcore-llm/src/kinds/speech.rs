//! [`SpeechModel`]: the contract for making speech, and [`ModelSpeech`], its implementation.

mod call;
mod stream;

pub use stream::{Speech, SpeechStream};

use std::{sync::Arc, time::Duration};

use agcore_chat::Actor;

use super::caller::Caller;
use crate::{
    provider::{LlmProvider, ProviderInfo},
    transport::Transport,
    wire_provider::OperationProvider,
};
use agcore_wire::{
    LlmError, LlmErrorKind, Wire,
    operation::{Speak, SpeechRequest},
};

/// Makes speech from texts.
pub trait SpeechModel: Send + Sync {
    /// Returns the speech while it is made. Nothing is sent before the stream is first polled.
    fn speak(&self, request: SpeechRequest) -> SpeechStream;
}

/// A model on a server that makes speech: a wire on a transport, with any layers around it. Cheap to clone.
///
/// ```
/// # #[cfg(all(feature = "_http", feature = "openai-chat"))] {
/// use agcore_llm::{LlmErrorKind, ProviderConfig, SpeechModel, wire::operation::SpeechRequest};
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let model = ProviderConfig::parse("openai:gpt-4o-mini-tts")?.with_api_key("sk-example").build_speech_model()?;
///
/// // Invalid input is refused before anything is sent.
/// let error = model.speak(SpeechRequest::new("", "alloy")).collect().await.unwrap_err();
/// assert_eq!(*error.kind(), LlmErrorKind::InvalidRequest);
/// # Ok::<(), agcore_llm::LlmError>(())
/// # }).unwrap();
/// # }
/// ```
#[derive(Debug, Clone)]
#[must_use]
pub struct ModelSpeech {
    caller: Caller,
    max_bytes: usize,
}

impl ModelSpeech {
    /// The default limit of the bytes of a speech.
    pub const DEFAULT_MAX_BYTES: usize = 64 << 20;

    /// Creates a handle that uses this wire over this transport. The model is the one of `info`.
    pub fn new(info: ProviderInfo, wire: Arc<dyn Wire<Speak>>, transport: Arc<dyn Transport>) -> Self {
        Self::from_provider(OperationProvider::new(info, wire, transport))
    }

    /// Creates a handle that makes the calls of this provider: an [`OperationProvider`] with layers around it, or a
    /// [`ReplayProvider`](crate::cassette::ReplayProvider) that answers from a cassette.
    pub fn from_provider(provider: impl LlmProvider + 'static) -> Self {
        Self {
            caller: Caller::new(provider),
            max_bytes: Self::DEFAULT_MAX_BYTES,
        }
    }

    /// Wraps a layer around each call.
    pub fn with_layer<P: LlmProvider + 'static>(mut self, layer: impl FnOnce(Arc<dyn LlmProvider>) -> P) -> Self {
        self.caller = self.caller.with_layer(layer);
        self
    }

    /// Sets the actor on whose behalf the calls are made.
    pub fn with_actor(mut self, actor: impl Into<Arc<Actor>>) -> Self {
        self.caller = self.caller.with_actor(actor.into());
        self
    }

    /// Sets the time that each call may take, including waits and retries.
    pub fn with_deadline(mut self, deadline: Duration) -> Self {
        self.caller = self.caller.with_deadline(deadline);
        self
    }

    /// Sets the limit of the bytes of a speech.
    pub fn with_max_bytes(mut self, max: usize) -> Self {
        self.max_bytes = max;
        self
    }

    /// Returns the name of the provider and the model.
    pub fn info(&self) -> &ProviderInfo {
        self.caller.info()
    }
}

impl SpeechModel for ModelSpeech {
    fn speak(&self, request: SpeechRequest) -> SpeechStream {
        let carrier = if request.text.is_empty() {
            let message = "the text is empty; there is nothing to speak";
            Err(LlmError::new(LlmErrorKind::InvalidRequest, message))
        } else {
            call::carry(&request)
        };
        let reply = match carrier {
            Ok(carrier) => self.caller.open(self.caller.call::<Speak>(carrier).with_stream(true)),
            Err(error) => crate::reply::ReplyStream::failed(error),
        };
        SpeechStream::new(reply, self.max_bytes, self.caller.clone())
    }
}
