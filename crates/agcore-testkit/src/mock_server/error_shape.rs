//! The shapes in which vendors and gateways write an error body.

use serde::Deserialize;

/// A shape of error bodies, as seen in the wild.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ErrorShape {
    /// `{"error": {"message", "type", "param", "code"}}`.
    OpenAi,
    /// `{"type": "error", "error": {"type", "message"}, "request_id"}`.
    Anthropic,
    /// `{"error": "…"}`.
    Ollama,
    /// `{"object": "error", "message", "type", "param", "code": 400}`: vLLM until 0.10.1.
    VllmFlat,
    /// `{"error": {…, "code": "400"}}`: LiteLLM, where the code is the status as a string.
    LiteLlm,
    /// `[{"error": {"code", "message", "status", "details"}}]`: Gemini's compatible endpoint.
    GeminiArray,
    /// `{"detail": [{"loc", "msg", "type"}]}`: servers built on `FastAPI`.
    FastApiDetail,
    /// `{"code": "…", "error": "…"}`: xAI.
    CodeAndError,
    /// A JSON string.
    BareString,
    /// A page of HTML, as proxies send.
    Html,
    /// One line of plain text.
    PlainText,
    /// Nothing.
    Empty,
}

impl ErrorShape {
    /// The content type that goes with the shape.
    pub(crate) fn content_type(self) -> &'static str {
        match self {
            Self::Html => "text/html; charset=utf-8",
            Self::PlainText | Self::Empty => "text/plain; charset=utf-8",
            Self::OpenAi
            | Self::Anthropic
            | Self::Ollama
            | Self::VllmFlat
            | Self::LiteLlm
            | Self::GeminiArray
            | Self::FastApiDetail
            | Self::CodeAndError
            | Self::BareString => "application/json",
        }
    }
}
