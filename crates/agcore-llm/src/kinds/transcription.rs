//! [`Transcriber`]: the contract for making texts from speech, and [`ModelTranscriber`], its implementation.

mod call;

use agcore_chat::{AnsweredBy, Usage};
use async_trait::async_trait;

use super::{caller::Caller, handle::handle};
use agcore_wire::{
    LlmError, LlmErrorKind,
    operation::{Transcribe, TranscriptSegment, TranscriptionRequest},
};

/// Makes texts from speech.
#[async_trait]
pub trait Transcriber: Send + Sync {
    /// Returns the text of a recording.
    ///
    /// Cancel safe: dropping the future abandons the call. The vendor may charge for it nevertheless.
    ///
    /// # Errors
    /// Returns `InvalidRequest` if the recording is empty or too large, its file has no name, or the API has no such parameter;
    /// `Malformed` if the reply is invalid; and any error of the server or the transport.
    async fn transcribe(&self, request: TranscriptionRequest) -> Result<Transcript, LlmError>;
}

/// The text of a recording.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct Transcript {
    /// The text. Empty if there is no speech.
    pub text: String,
    /// The segments with their times, if they were requested.
    pub segments: Vec<TranscriptSegment>,
    /// The usage, if known.
    pub usage: Option<Usage>,
    /// The model and key that answered, if there are several.
    pub answered_by: Option<AnsweredBy>,
}

impl Transcript {
    /// Creates a transcript without segments.
    pub fn new(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            ..Self::default()
        }
    }
}

/// A model on a server that makes texts from speech: a wire on a transport, with any layers around it. Cheap to clone.
///
/// ```
/// # #[cfg(all(feature = "_http", feature = "openai-chat"))] {
/// use agcore_llm::{LlmErrorKind, ProviderConfig, Transcriber, wire::operation::TranscriptionRequest};
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let model = ProviderConfig::parse("openai:whisper-1")?.with_api_key("sk-example").build_transcriber()?;
///
/// // Invalid input is refused before anything is sent.
/// let error = model.transcribe(TranscriptionRequest::new(vec![], "hello.wav")).await.unwrap_err();
/// assert_eq!(error.kind(), LlmErrorKind::InvalidRequest);
/// # Ok::<(), agcore_llm::LlmError>(())
/// # }).unwrap();
/// # }
/// ```
#[derive(Debug, Clone)]
#[must_use]
pub struct ModelTranscriber {
    caller: Caller,
    max_bytes: usize,
}

handle!(ModelTranscriber, Transcribe, "a recording");

impl ModelTranscriber {
    /// The default limit of the bytes of a recording, which is that of OpenAI.
    pub const DEFAULT_MAX_BYTES: usize = 25 << 20;
}

#[async_trait]
impl Transcriber for ModelTranscriber {
    async fn transcribe(&self, request: TranscriptionRequest) -> Result<Transcript, LlmError> {
        check(&request, self.max_bytes)?;
        let carrier = call::carry(&request)?;
        drop(request);
        let response = self.caller.respond(self.caller.call::<Transcribe>(carrier)).await?;
        let transcript = call::transcript(&response).and_then(|(text, segments)| {
            check_segments(&segments)?;
            Ok((text, segments))
        });
        let (text, segments) = transcript.map_err(|problem| self.caller.malformed(problem))?;
        Ok(Transcript {
            text,
            segments,
            usage: response.usage,
            answered_by: response.answered_by,
        })
    }
}

fn check(request: &TranscriptionRequest, max_bytes: usize) -> Result<(), LlmError> {
    let message = if request.audio.is_empty() {
        "the recording is empty".to_owned()
    } else if request.audio.len() > max_bytes {
        let found = request.audio.len();
        format!("the recording has {found} bytes, more than the limit of {max_bytes}; split it, or compress it")
    } else if request.extension().is_empty() {
        "the file name has no extension, by which servers recognize the format; use one such as hello.wav".to_owned()
    } else {
        return Ok(());
    };
    Err(LlmError::new(LlmErrorKind::InvalidRequest, message))
}

/// Checks that segments have times that are in order. Segments may overlap.
fn check_segments(segments: &[TranscriptSegment]) -> Result<(), String> {
    for (at, segment) in segments.iter().enumerate() {
        let is_valid = segment.start >= 0.0 && segment.end >= segment.start && segment.end.is_finite();
        if !is_valid {
            return Err(format!(
                "segment {at} ends before it starts, or starts before the recording"
            ));
        }
    }
    Ok(())
}
