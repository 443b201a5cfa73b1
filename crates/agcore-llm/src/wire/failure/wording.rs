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
    &["have any credits"],         // xAI
    &["out of call volume quota"], // Azure API Management
];

/// A complaint about a schema repeats names that somebody chose: they say nothing.
const SCHEMA: &[Words] = &[
    &["invalid schema"],
    &["schema", "propert"],
    &["propert", "not allowed"], // JSON Schema's validators: "additional properties are not allowed ('x' was unexpected)"
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
    &["`inputs` tokens + `max_new_tokens` must be"], // Text Generation Inference, Together
    &["context_length_exceeded"],
    &["context length exceeded"],
    &["exceeds the model's context"],
    &["exceeds maximum context"],
    &["exceed the context window"],
    &["maximum context window"],
    &["model_context_window_exceeded"], // z.ai
    &["token limit exceeded"],
    // Of other members it says nothing of the conversation: "stop: too many tokens".
    &["too many tokens", "prompt"],
    &["too many tokens", "input"],
    &["too many tokens", "message"],
    &["too many tokens", "conversation"],
    &["too many tokens", "context"],
    &["too many tokens", "request"],
];

/// The whole of a complaint about an overlong prompt.
const BARE_CONTEXT: &str = "too many tokens";

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
    !says(&message, THROTTLING) && tells_context(&message)
}

fn tells_context(message: &str) -> bool {
    let is_bare = |line: &str| line.trim().trim_end_matches(['.', '!']) == BARE_CONTEXT;
    says(message, CONTEXT) || message.lines().any(is_bare)
}

/// Without the lines about schemas, in lower case.
fn without_schemas(message: &str) -> String {
    let message = message.to_ascii_lowercase();
    let lines = message.lines().filter(|line| !says(line, SCHEMA));
    lines.collect::<Vec<_>>().join("\n")
}

/// Whether the words speak of a call that could not be read.
pub(super) fn is_bad_call(message: &str) -> bool {
    says(&message.to_ascii_lowercase(), BAD_CALL)
}

/// What the words say when nothing else decides.
pub(super) fn kind(message: &str) -> Option<LlmErrorKind> {
    let message = without_schemas(message);
    Some(match &*message {
        message if says(message, QUOTA) => LlmErrorKind::QuotaExhausted,
        message if says(message, THROTTLING) => LlmErrorKind::RateLimit,
        message if says(message, KEY) => LlmErrorKind::Authentication,
        message if tells_context(message) => LlmErrorKind::ContextLength {
            limit: None,
            requested: None,
        },
        message if says(message, FILTER) => LlmErrorKind::ContentFilter,
        message if says(message, BAD_CALL) => LlmErrorKind::InvalidToolCall,
        message if says(message, BUSY) => LlmErrorKind::Overloaded,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOO_LONG: Option<LlmErrorKind> = Some(LlmErrorKind::ContextLength {
        limit: None,
        requested: None,
    });

    #[track_caller]
    fn check(message: &str, expected: Option<LlmErrorKind>) {
        assert_eq!(kind(message), expected, "{message}");
    }

    #[test]
    fn too_many_tokens_are_an_overlong_prompt_only_there() {
        check("Too many tokens in the prompt.", TOO_LONG);
        check("Too many tokens.", TOO_LONG);
        check("Bad Request\ntoo many tokens", TOO_LONG);
        check("too many tokens: size limit exceeded by the input", TOO_LONG);
        check(
            "`inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000 `inputs` tokens",
            TOO_LONG,
        );
        check("Invalid parameter: stop: too many tokens in stop sequence", None);
        check("logit_bias has too many tokens", None);
        check("Too many tokens, please wait.", Some(LlmErrorKind::RateLimit));
    }

    #[test]
    fn names_in_schemas_say_nothing() {
        check("Invalid API key", Some(LlmErrorKind::Authentication));
        check("upstream said: 'Invalid API key'", Some(LlmErrorKind::Authentication));
        for quoted in ["invalid api key", "rate limit", "prompt is too long"] {
            check(
                &format!("Invalid schema for function 'check': property '{quoted}' is not allowed"),
                None,
            );
            check(
                &format!("Additional properties are not allowed ('{quoted}' was unexpected)"),
                None,
            );
        }
        check(
            "Invalid schema for function 'f'\nInsufficient Balance",
            Some(LlmErrorKind::QuotaExhausted),
        );
    }

    #[test]
    fn money_is_known_in_each_vendors_words() {
        for message in [
            "Your newly created team doesn't have any credits yet.",
            "Out of call volume quota. Quota will be replenished in 12:05:10.",
        ] {
            assert!(is_quota(message), "{message}");
        }
        assert!(!is_quota("Quota exceeded for requests per minute"));
    }
}
