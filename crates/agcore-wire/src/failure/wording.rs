//! Kinds that only the wording of a message reveals. Consulted last.

use agcore_chat::text::prefix;

use crate::error::LlmErrorKind;

/// Phrases in lower case. The message must contain all of them.
type Phrases = &'static [&'static str];

/// Exhausted quotas and balances.
const QUOTA: &[Phrases] = &[
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
    &["too many tokens per day"], // Bedrock
    &["free tier", "exhausted"],
    &["have any credits"],         // xAI
    &["out of call volume quota"], // Azure API Management
    // Codes in the text of a gateway.
    &["insufficient_quota"],
    &["insufficient_user_quota"],
    &["billing_hard_limit_reached"],
];

/// Limits that end soon, although the message mentions a quota.
const SOON: &[Phrases] = &[
    &["retry in"],
    &["try again in"],
    &["per minute"],
    &["per second"],
    &["requests per min"],
    &["tokens per min"],
];

/// Models that a server does not know, apart from [`is_missing_model`]'s pattern.
const MISSING_MODEL: &[Phrases] = &[
    &["is not a valid model id"],             // OpenRouter
    &["invalid model id"],                    // OpenAI
    &["model identifier is invalid"],         // Bedrock
    &["requested model", "is not supported"], // GitHub Copilot, Hugging Face
    &["supported api model names are"],       // DeepSeek
    &["invalid model: "],                     // Mistral
    &["invalid model name"],                  // LiteLLM
    &["invalid model specified"],
    &["unknown model"],
    &["unrecognized model"],
    &["unsupported model: "],
    &["no models loaded"], // LM Studio
    &["no such model"],
    &["model_not_found"],
];

/// The ends of sentences about a name that a server does not know.
const MISSING: &[&str] = &["not found", "not exist", "doesn't exist", "is not available"];

/// The longest distance between the word `model` and the end of the sentence about it, in bytes.
const MAX_DISTANCE: usize = 100;

/// Messages about a schema. They repeat names that the application chose, so their other words are meaningless.
const SCHEMA: &[Phrases] = &[
    &["invalid schema"],
    &["schema", "propert"],
    &["propert", "not allowed"], // JSON Schema's validators: "additional properties are not allowed ('x' was unexpected)"
];

/// Throttling. Checked before prompts that are too long: "too many tokens, please wait" is throttling.
const THROTTLING: &[Phrases] = &[
    &["throttling"],
    &["too many tokens", "wait"],
    &["too many requests"],
    &["rate limit"],
    &["tokens per min"],
    &["requests per min"],
];

/// API keys that are rejected with a status other than 401. The words of [`KEY_NAMES`] are read as `api key`.
const KEY: &[Phrases] = &[
    &["incorrect api key"],
    &["invalid api key"],
    &["wrong api key"],
    &["unknown api key"],
    &["api key not valid"],
    &["api key is not valid"],
    &["api key is invalid"],
    &["api key provided is invalid"],
    &["api key not found"],
    &["api key expired"],
    &["api key has expired"],
    &["api key is expired"],
    &["api key has been revoked"],
    &["api key was reported as leaked"], // Gemini
    &["invalid x-api key"],
    &["no api key provided"],
    &["no api key was provided"],
    &["no api key found"],
    &["missing api key"],
    &["missing a valid api key"], // Google
    &["api key is missing"],
    &["api key is required"],
    &["api key required"],
    &["check the api key"], // Baseten
    &["check your api key"],
    &["check that your api key"],
    &["verify your api key"],
    &["provide a valid api key"],
    &["pass a valid api key"],
    &["unregistered callers"],          // Google, without a key
    &["not authenticated"],             // FastAPI, without a key
    &["could not validate credential"], // FastAPI
    &["invalid credential"],
    &["invalid authentication"],
    &["authentication failed"],
    &["invalid bearer token"],
    &["invalid access token"],
];

/// Other spellings of `api key`.
const KEY_NAMES: &[&str] = &["api-key", "api_key", "apikey", "api token", "api-token"];

/// Prompts that are too long, vendor by vendor.
const CONTEXT: &[Phrases] = &[
    &["prompt is too long"],                                 // Anthropic
    &["maximum context length"],                             // OpenAI, OpenRouter, vLLM, Mistral
    &["exceeds the context window"],                         // OpenAI
    &["context window exceeds limit"],                       // MiniMax
    &["input token count", "exceeds the maximum"],           // Gemini
    &["maximum prompt length is"],                           // xAI
    &["reduce the length of the messages"],                  // Groq
    &["too large for model with"],                           // Mistral
    &["output tokens", "context length is only"],            // vLLM
    &["exceeds the max_model_len"],                          // vLLM
    &["longer than the maximum model length"],               // vLLM
    &["exceeds the maximum model length"],                   // vLLM
    &["exceeds the available context size"],                 // llama.cpp
    &["context size has been exceeded"],                     // llama.cpp, LM Studio
    &["input is too large to process"],                      // llama.cpp, of embeddings
    &["exceed context window of"],                           // llama-cpp-python
    &["loaded with context length of only"],                 // LM Studio
    &["mid-generation context overflow"],                    // LM Studio
    &["greater than max_seq_len"],                           // TabbyAPI
    &["exceeds maximum input length"],                       // TensorRT-LLM
    &["cannot exceed the total tokens limit"],               // watsonx
    &["exceeded this model context window limit"],           // Cloudflare
    &["longer than the model's context length"],             // Together
    &["exceeded model token limit"],                         // Moonshot
    &["greater than the context length"],                    // LM Studio
    &["exceeded max context length"],                        // Ollama
    &["input length exceeds maximum context length"],        // Ollama
    &["input length exceeds the context length"],            // Ollama, of embeddings
    &["range of input length should be"],                    // DashScope
    &["prompt token count of", "exceeds the limit"],         // GitHub Copilot
    &["contextwindowexceedederror"],                         // LiteLLM
    &["input is too long for requested model"],              // Bedrock
    &["input tokens exceeded"],                              // Bedrock, of Nova
    &["too many input tokens"],                              // Bedrock, of Titan
    &["exceed context limit"],                               // Anthropic, with the output's limit
    &["must have less than", "tokens"],                      // Text Generation Inference
    &["exceeds the maximum allowed input length"],           // OpenRouter, Baseten
    &["input length", "exceeds the maximum allowed length"], // SGLang
    &["exceeds model's maximum context length"],             // SGLang
    &["but the configured context size is"],
    &["`inputs` tokens + `max_new_tokens` must be"], // Text Generation Inference, Together
    &["context_length_exceeded"],
    &["context length exceeded"],
    &["exceeds the model's context"],
    &["exceeds maximum context"],
    &["exceed the context window"],
    &["maximum context window"],
    &["model_context_window_exceeded"], // z.ai
    &["token limit exceeded"],
    // The message may be about other members: "stop: too many tokens".
    &["too many tokens", "prompt"],
    &["too many tokens", "input"],
    &["too many tokens", "message"],
    &["too many tokens", "conversation"],
    &["too many tokens", "context"],
    &["too many tokens", "request"],
];

/// A complete message about a prompt that is too long.
const BARE_CONTEXT: &str = "too many tokens";

/// Content filters.
const FILTER: &[Phrases] = &[
    &["content management policy"],
    &["blocked by content filtering policy"], // Anthropic
    &["rejected as a result of our safety system"],
    &["your input was flagged"],
    &["flagged as potentially violating"], // OpenAI, as `invalid_prompt`
    &["inappropriate content"],
];

/// Tool calls of the model that the server could not parse.
const BAD_CALL: &[Phrases] = &[
    &["error parsing tool call"], // Ollama
];

/// Requests that a server cannot serve as it is set up, reported as a failure of the server. No retry helps.
const UNSUPPORTED: &[Phrases] = &[
    &["input is not supported"],    // llama.cpp, of images and audio without a projector
    &["mmproj"],                    // llama.cpp
    &["not support", "multimodal"], // llama.cpp
    &["not support", "image"],      // LM Studio, vLLM
    &["not support", "audio"],      // vLLM
    &["not support", "vision"],
    &["not a multimodal model"],                // vLLM
    &["missing data required for image input"], // Ollama
    &["requires --jinja"],                      // llama.cpp, of tools
    &["does not support tools"],                // Ollama
    &["does not support thinking"],             // Ollama
    &["does not support embeddings"],           // llama.cpp
    &["failed to parse grammar"],               // llama.cpp
    &["custom grammar constraints with tools"], // llama.cpp
    &["cannot specify grammar with tools"],     // llama.cpp
];

/// Response formats that a server does not support together with tools.
const FORMAT_WITH_TOOLS: &[Phrases] = &[
    &["json mode cannot be combined with tool"],                    // Groq
    &["response format", "cannot be combined with tool"],           // Groq
    &["function calling with a response mime type", "unsupported"], // Gemini
    &["custom grammar constraints with tools"],                     // llama.cpp
    &["cannot specify grammar with tools"],                         // llama.cpp
];

/// Servers that are busy or still loading a model.
const BUSY: &[Phrases] = &[
    &["overloaded"],
    &["loading model"],
    &["at capacity"],
    &["server busy"], // Ollama
    &["service is too busy"],
    &["failed to decode, try again"], // llama-box
];

fn matches(message: &str, table: &[Phrases]) -> bool {
    table
        .iter()
        .any(|phrases| phrases.iter().all(|phrase| message.contains(phrase)))
}

/// Returns whether the message is about an exhausted quota.
pub(super) fn is_quota(message: &str) -> bool {
    matches(&message.to_ascii_lowercase(), QUOTA)
}

/// Returns whether the message is about an exhausted quota that is not replenished soon.
pub(super) fn is_lasting_quota(message: &str) -> bool {
    let message = message.to_ascii_lowercase();
    matches(&message, QUOTA) && !matches(&message, SOON)
}

/// Returns whether the message is about a model that the server does not know: "the model `x` does not exist".
pub(super) fn is_missing_model(message: &str) -> bool {
    let message = without_schemas(message);
    matches(&message, MISSING_MODEL) || message.lines().any(names_missing_model)
}

fn names_missing_model(line: &str) -> bool {
    line.match_indices("model").any(|(at, _)| {
        let rest = prefix(&line[at..], MAX_DISTANCE);
        // Another clause is about something else.
        let clause = rest.split([';', ',']).next().unwrap_or_default();
        MISSING.iter().any(|missing| clause.contains(missing))
    })
}

/// Returns whether the message is about a prompt that is too long, not about throttling.
pub(super) fn is_context(message: &str) -> bool {
    let message = message.to_ascii_lowercase();
    !matches(&message, THROTTLING) && mentions_context(&message)
}

fn mentions_context(message: &str) -> bool {
    let is_bare = |line: &str| line.trim().trim_end_matches(['.', '!']) == BARE_CONTEXT;
    matches(message, CONTEXT) || message.lines().any(is_bare)
}

/// Returns the message in lower case, without lines about schemas.
fn without_schemas(message: &str) -> String {
    let message = message.to_ascii_lowercase();
    let lines = message.lines().filter(|line| !matches(line, SCHEMA));
    lines.collect::<Vec<_>>().join("\n")
}

/// Returns whether the message is about an API key that is missing or invalid.
pub(super) fn is_key(message: &str) -> bool {
    mentions_key(&without_schemas(message))
}

/// Returns whether a message in lower case is about an API key that is missing or invalid.
fn mentions_key(message: &str) -> bool {
    let plain = KEY_NAMES
        .iter()
        .fold(message.to_owned(), |text, name| text.replace(name, "api key"));
    matches(&plain, KEY)
}

/// Returns whether the message is about what the server cannot do as it is set up.
pub(super) fn is_unsupported(message: &str) -> bool {
    matches(&without_schemas(message), UNSUPPORTED)
}

/// Returns whether the message is about a tool call that could not be parsed.
pub(super) fn is_bad_call(message: &str) -> bool {
    matches(&message.to_ascii_lowercase(), BAD_CALL)
}

/// Returns whether the message refuses a response format because of the tools.
pub(super) fn is_format_with_tools(message: &str) -> bool {
    matches(&message.to_ascii_lowercase(), FORMAT_WITH_TOOLS)
}

/// Returns the kind that the message indicates, for when nothing else determines it.
pub(super) fn kind(message: &str) -> Option<LlmErrorKind> {
    let message = without_schemas(message);
    Some(match &*message {
        message if matches(message, QUOTA) => LlmErrorKind::QuotaExhausted,
        message if matches(message, THROTTLING) => LlmErrorKind::RateLimit,
        message if mentions_key(message) => LlmErrorKind::Authentication,
        message if mentions_context(message) => LlmErrorKind::ContextLength {
            limit: None,
            requested: None,
        },
        message if matches(message, FILTER) => LlmErrorKind::ContentFilter,
        message if matches(message, BAD_CALL) => LlmErrorKind::InvalidToolCall,
        message if matches(message, BUSY) => LlmErrorKind::Overloaded,
        message if is_missing_model(message) => LlmErrorKind::NotFound,
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
    fn takes_too_many_tokens_for_a_long_prompt_only_in_context() {
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
    fn ignores_names_in_schemas() {
        check("Invalid API key", Some(LlmErrorKind::Authentication));
        check("upstream: 'Invalid API key'", Some(LlmErrorKind::Authentication));
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
    fn recognizes_missing_models() {
        for message in [
            "The model `gpt-nope` does not exist or you do not have access to it.",
            "Model not found: grok-nope",
            "model 'llama9' not found",
            "openai/gpt-nope is not a valid model ID",
        ] {
            assert!(is_missing_model(message), "{message}");
        }
        for message in [
            "The model has no access to this file, and the file does not exist.",
            "Tool call id not found in the conversation",
            "You are not allowed to sample from this model",
        ] {
            assert!(!is_missing_model(message), "{message}");
        }
    }

    #[test]
    fn a_quota_that_is_replenished_soon_is_a_rate_limit() {
        assert!(is_lasting_quota(
            "You exceeded your current quota, please check your plan."
        ));
        assert!(!is_lasting_quota(
            "You exceeded your current quota. Please retry in 34s."
        ));
    }

    #[test]
    fn recognizes_formats_refused_because_of_tools() {
        for message in [
            "json mode cannot be combined with tool/function calling",
            "Function calling with a response mime type: 'application/json' is unsupported",
        ] {
            assert!(is_format_with_tools(message), "{message}");
        }
        assert!(!is_format_with_tools("tool calling is unsupported"));
    }

    #[test]
    fn recognizes_exhausted_quotas_in_each_vendors_words() {
        for message in [
            "Your newly created team doesn't have any credits yet.",
            "Out of call volume quota. Quota will be replenished in 12:05:10.",
        ] {
            assert!(is_quota(message), "{message}");
        }
        assert!(!is_quota("Quota exceeded for requests per minute"));
    }
}
