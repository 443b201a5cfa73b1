//! [`Transcribe`]: texts from speech.

use std::fmt;

use agcore_chat::{Extra, Usage};
use bytes::Bytes;

use super::setters::request_setters;
use crate::wire::Operation;

/// The operation that requests the text of a recording.
#[derive(Debug, Clone, Copy)]
pub struct Transcribe;

impl Operation for Transcribe {
    type Request = TranscriptionRequest;
    type Item = TranscriptionItem;
}

/// A request for the text of a recording. `Debug` does not show the recording.
///
/// ```
/// use agcore_wire::operation::TranscriptionRequest;
///
/// let request = TranscriptionRequest::new(vec![0; 44], "hello.wav").with_language("en").with_segments(true);
/// assert_eq!(request.extension(), "wav");
/// assert!(format!("{request:?}").contains("44 bytes"));
/// ```
#[derive(Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct TranscriptionRequest {
    /// The model; if empty, the provider's default.
    pub model: String,
    /// The bytes of the file.
    pub audio: Bytes,
    /// The name of the file. Servers recognize the format by its extension.
    pub file_name: String,
    /// The language as an ISO 639-1 code, if it is known.
    pub language: Option<String>,
    /// A text that helps the model with names and style. DashScope has no such parameter.
    pub prompt: Option<String>,
    /// Whether the reply contains segments with their times. Not all models have them.
    pub segments: bool,
    /// Members that are added to the form, or merged into the top level of a JSON body. Members that the request has a field for
    /// are refused.
    pub extra_body: Extra,
    /// Additional HTTP headers.
    pub extra_headers: Vec<(String, String)>,
}

request_setters!(TranscriptionRequest);

impl TranscriptionRequest {
    /// Creates a request for the text of a recording, by the provider's default model.
    pub fn new(audio: impl Into<Bytes>, file_name: impl Into<String>) -> Self {
        Self {
            audio: audio.into(),
            file_name: file_name.into(),
            ..Self::default()
        }
    }

    /// Sets the language as an ISO 639-1 code.
    #[must_use]
    pub fn with_language(mut self, language: impl Into<String>) -> Self {
        self.language = Some(language.into());
        self
    }

    /// Sets a text that helps the model with names and style.
    #[must_use]
    pub fn with_prompt(mut self, prompt: impl Into<String>) -> Self {
        self.prompt = Some(prompt.into());
        self
    }

    /// Sets whether the reply contains segments with their times.
    #[must_use]
    pub fn with_segments(mut self, segments: bool) -> Self {
        self.segments = segments;
        self
    }

    /// Returns the extension of the file name, without the dot; empty if it has none.
    pub fn extension(&self) -> &str {
        self.file_name.rsplit_once('.').map_or("", |(_, extension)| extension)
    }

    /// Returns the first member of `extra_body` that the request has a field for, and that is therefore refused.
    pub fn extra_body_clash(&self) -> Option<&str> {
        const FIELDS: &[&str] = &["model", "file", "language", "prompt", "response_format", "input"];
        FIELDS.iter().copied().find(|name| self.extra_body.get(name).is_some())
    }
}

impl fmt::Debug for TranscriptionRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TranscriptionRequest")
            .field("model", &self.model)
            .field("audio", &format_args!("{} bytes", self.audio.len()))
            .field("file_name", &self.file_name)
            .field("language", &self.language)
            .field("segments", &self.segments)
            .finish_non_exhaustive()
    }
}

/// An item of a reply.
#[derive(Debug, Clone, PartialEq)]
pub enum TranscriptionItem {
    /// The whole text.
    Text(String),
    /// A segment of the text.
    Segment(TranscriptSegment),
    /// The usage.
    Usage(Box<Usage>),
}

/// A segment of a recording and its text.
#[derive(Debug, Clone, PartialEq)]
pub struct TranscriptSegment {
    /// The start, in seconds from the beginning of the recording.
    pub start: f64,
    /// The end, in seconds from the beginning of the recording.
    pub end: f64,
    /// The text.
    pub text: String,
}
