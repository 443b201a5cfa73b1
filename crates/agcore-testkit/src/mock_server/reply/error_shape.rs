//! [`ErrorShape`]: the formats in which vendors and gateways write an error body.

use serde::Deserialize;

/// A format of error bodies observed in real servers.
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
    /// `{"object": "error", "message", "type", "param", "code": 400}`: vLLM up to 0.10.1.
    VllmFlat,
    /// `{"error": {…, "code": "400"}}`: LiteLLM, where the code is the status as a string.
    LiteLlm,
    /// `{"error": {"code", "message", "status", "details"}}`: Gemini's native API.
    Gemini,
    /// `[{"error": {"code", "message", "status", "details"}}]`: Gemini's OpenAI-compatible endpoint.
    GeminiArray,
    /// `{"message": "…"}`, with the name of the error in a header: Bedrock.
    Bedrock,
    /// `{"detail": [{"loc", "msg", "type"}]}`: servers built on `FastAPI`.
    FastApiDetail,
    /// `{"code": "…", "error": "…"}`: xAI.
    CodeAndError,
    /// A JSON string.
    BareString,
    /// An HTML page, as sent by proxies.
    Html,
    /// One line of plain text.
    PlainText,
    /// An empty body.
    Empty,
}

impl ErrorShape {
    /// Returns the content type of the format.
    pub(crate) fn content_type(self) -> &'static str {
        match self {
            Self::Html => "text/html; charset=utf-8",
            Self::PlainText | Self::Empty => "text/plain; charset=utf-8",
            Self::OpenAi
            | Self::Anthropic
            | Self::Ollama
            | Self::VllmFlat
            | Self::LiteLlm
            | Self::Gemini
            | Self::GeminiArray
            | Self::Bedrock
            | Self::FastApiDetail
            | Self::CodeAndError
            | Self::BareString => "application/json",
        }
    }
}
