//! [`Speak`]: speech from texts.

use std::fmt;

use agcore_chat::{Extra, Usage};
use bytes::Bytes;

use super::image::without_query;
use super::setters::request_setters;
use crate::wire::Operation;

/// The operation that requests speech.
#[derive(Debug, Clone, Copy)]
pub struct Speak;

impl Operation for Speak {
    type Request = SpeechRequest;
    type Item = SpeechItem;
}

/// A request for speech.
///
/// ```
/// use agcore_wire::operation::SpeechRequest;
///
/// let request = SpeechRequest::new("Good morning.", "alloy").with_output_format("wav");
/// assert_eq!(request.voice, "alloy");
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct SpeechRequest {
    /// The model; if empty, the provider's default.
    pub model: String,
    /// The text.
    pub text: String,
    /// The name of the voice.
    pub voice: String,
    /// How to speak, for models that follow instructions. DashScope has no such parameter.
    pub instructions: Option<String>,
    /// The format: `mp3`, `opus`, `wav`, `pcm` and others. DashScope has no such parameter.
    pub output_format: Option<String>,
    /// The speed; 1 is normal. DashScope has no such parameter.
    pub speed: Option<f64>,
    /// Members that are merged into the top level of the body. Members that the request has a field for are refused.
    pub extra_body: Extra,
    /// Additional HTTP headers.
    pub extra_headers: Vec<(String, String)>,
}

request_setters!(SpeechRequest);

impl SpeechRequest {
    /// Creates a request for a text that a voice speaks, by the provider's default model.
    pub fn new(text: impl Into<String>, voice: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            voice: voice.into(),
            ..Self::default()
        }
    }

    /// Sets how to speak.
    #[must_use]
    pub fn with_instructions(mut self, instructions: impl Into<String>) -> Self {
        self.instructions = Some(instructions.into());
        self
    }

    /// Sets the format.
    #[must_use]
    pub fn with_output_format(mut self, format: impl Into<String>) -> Self {
        self.output_format = Some(format.into());
        self
    }

    /// Sets the speed; 1 is normal.
    #[must_use]
    pub fn with_speed(mut self, speed: f64) -> Self {
        self.speed = Some(speed);
        self
    }

    /// Returns the first member of `extra_body` that the request has a field for, and that is therefore refused.
    pub fn extra_body_clash(&self) -> Option<&str> {
        const FIELDS: &[&str] = &["model", "input", "voice", "instructions", "response_format", "speed"];
        FIELDS.iter().copied().find(|name| self.extra_body.get(name).is_some())
    }
}

/// An item of a reply. `Debug` shows neither the sound nor the query of the URL, which may contain a signature.
#[derive(Clone, PartialEq)]
pub enum SpeechItem {
    /// More of the sound. Never empty.
    Audio(Bytes),
    /// The URL from which the sound can be downloaded for some time.
    Url(String),
    /// The usage.
    Usage(Box<Usage>),
}

impl fmt::Debug for SpeechItem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Audio(bytes) => write!(f, "Audio({} bytes)", bytes.len()),
            Self::Url(url) => write!(f, "Url({:?})", without_query(url)),
            Self::Usage(usage) => f.debug_tuple("Usage").field(usage).finish(),
        }
    }
}
