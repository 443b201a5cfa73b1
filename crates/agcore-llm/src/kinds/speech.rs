//! [`SpeechModel`]: the contract for making speech, and [`ModelSpeech`], its implementation.

mod call;
mod stream;

pub use stream::{Speech, SpeechStream};

use super::{caller::Caller, handle::handle};
use agcore_wire::{
    LlmError, LlmErrorKind,
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
/// assert_eq!(error.kind(), LlmErrorKind::InvalidRequest);
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

handle!(ModelSpeech, Speak, "a speech");

impl ModelSpeech {
    /// The default limit of the bytes of a speech.
    pub const DEFAULT_MAX_BYTES: usize = 64 << 20;
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
