//! What can only be told from the words. Looked at last.

use crate::error::LlmErrorKind;

/// All of these, in lower case, must stand in the message.
type Words = &'static [&'static str];

/// Money or allowance.
const QUOTA: &[Words] = &[
    &["exceeded your current quota"],
    &["insufficient balance"],
    &["insufficient credit"],
    &["credit balance is too low"],
    &["check your plan and billing"],
    &["billing hard limit"],
    &["not enough balance"],
    &["requires more credits"],
    &["please recharge"],
    &["spend limit"],
    &["spending limit"],
    &["used all available credits"],
    &["out of credit"],
    &["included credits"],
    &["insufficient funds"],
    &["monthly allowance"],
    &["reached", "api usage limits"],
    &["reached your", "usage limit"], // Ollama's cloud
    &["key limit exceeded"],
    &["free-models-per-day"],
    &["free tier", "exhausted"],
];

/// Too fast. Looked at before the overlong prompts: "too many tokens, please wait" is throttling.
const THROTTLING: &[Words] = &[
    &["throttling"],
    &["too many tokens", "wait"],
    &["too many requests"],
    &["rate limit"],
    &["tokens per min"],
    &["requests per min"],
];

/// A key that is refused under another status than 401.
const KEY: &[Words] = &[
    &["incorrect api key"],
    &["invalid api key"],
    &["api key not valid"],
    &["api key is invalid"],
    &["invalid x-api-key"],
    &["no api key provided"],
];

/// An overlong prompt, vendor by vendor.
const CONTEXT: &[Words] = &[
    &["prompt is too long"],                         // Anthropic
    &["maximum context length"],                     // OpenAI, OpenRouter, vLLM, Mistral
    &["exceeds the context window"],                 // OpenAI
    &["context window exceeds limit"],               // MiniMax
    &["input token count", "exceeds the maximum"],   // Gemini
    &["maximum prompt length is"],                   // xAI
    &["reduce the length of the messages"],          // Groq
    &["too large for model with"],                   // Mistral
    &["output tokens", "context length is only"],    // vLLM
    &["exceeds the max_model_len"],                  // vLLM
    &["exceeds the available context size"],         // llama.cpp
    &["longer than the model's context length"],     // Together
    &["exceeded model token limit"],                 // Moonshot
    &["greater than the context length"],            // LM Studio
    &["exceeded max context length"],                // Ollama
    &["input length exceeds the context length"],    // Ollama, of embeddings
    &["range of input length should be"],            // DashScope
    &["prompt token count of", "exceeds the limit"], // GitHub Copilot
    &["contextwindowexceedederror"],                 // LiteLLM
    &["input is too long for requested model"],      // Bedrock
    &["exceed context limit"],                       // Anthropic, with the output's limit
    &["must have less than", "tokens"],              // Text Generation Inference
    &["context_length_exceeded"],
    &["context length exceeded"],
    &["exceeds the model's context"],
    &["exceeds maximum context"],
    &["exceed the context window"],
    &["maximum context window"],
    &["model_context_window_exceeded"], // z.ai
    &["token limit exceeded"],
    &["too many tokens"],
];

/// A filter.
const FILTER: &[Words] = &[
    &["content management policy"],
    &["blocked by content filtering policy"], // Anthropic
    &["rejected as a result of our safety system"],
    &["your input was flagged"],
    &["flagged as potentially violating"], // OpenAI, as `invalid_prompt`
    &["inappropriate content"],
];

/// The model wrote a call that the server could not read.
const BAD_CALL: &[Words] = &[
    &["error parsing tool call"], // Ollama
];

/// Busy or still loading.
const BUSY: &[Words] = &[
    &["overloaded"],
    &["loading model"],
    &["at capacity"],
    &["server busy"], // Ollama
    &["service is too busy"],
];

fn says(message: &str, table: &[Words]) -> bool {
    table
        .iter()
        .any(|words| words.iter().all(|word| message.contains(word)))
}

/// Whether the words speak of money.
pub(super) fn is_quota(message: &str) -> bool {
    says(&message.to_ascii_lowercase(), QUOTA)
}

/// Whether the words speak of an overlong prompt, and not of throttling.
pub(super) fn is_context(message: &str) -> bool {
    let message = message.to_ascii_lowercase();
    !says(&message, THROTTLING) && says(&message, CONTEXT)
}

/// Whether the words speak of a call that could not be read.
pub(super) fn is_bad_call(message: &str) -> bool {
    says(&message.to_ascii_lowercase(), BAD_CALL)
}

/// What the words say when nothing else decides.
pub(super) fn kind(message: &str) -> Option<LlmErrorKind> {
    let message = message.to_ascii_lowercase();
    let table = [
        (QUOTA, LlmErrorKind::QuotaExhausted),
        (THROTTLING, LlmErrorKind::RateLimit),
        (KEY, LlmErrorKind::Authentication),
        (
            CONTEXT,
            LlmErrorKind::ContextLength {
                limit: None,
                requested: None,
            },
        ),
        (FILTER, LlmErrorKind::ContentFilter),
        (BAD_CALL, LlmErrorKind::InvalidToolCall),
        (BUSY, LlmErrorKind::Overloaded),
    ];
    table
        .into_iter()
        .find(|(words, _)| says(&message, words))
        .map(|(_, kind)| kind)
}
