//! [`Dialect`]s: how each vendor speaks the Chat Completions API.
//!
//! A dialect is plain data; `docs/dialects.md` tells what each vendor takes, what is translated and what is an error.
//! What a vendor *sends* needs no dialect: the decoder reads every quirk of every vendor.

mod azure;
mod deepseek;
mod gemini;
mod groq;
mod llama_cpp;
mod mistral;
mod moonshot;
mod ollama;
mod openai;
mod openrouter;
mod qwen;
mod rules;
mod vllm;
mod xai;
mod zhipu;

pub use azure::azure;
pub use deepseek::deepseek;
pub use gemini::gemini;
pub use groq::groq;
pub use llama_cpp::llama_cpp;
pub use mistral::mistral;
pub use moonshot::moonshot;
pub use ollama::ollama;
pub use openai::openai;
pub use openrouter::openrouter;
pub use qwen::qwen;
pub use rules::{
    AudioRule, CallIdRule, ContentRule, CredentialHeader, Dialect, EffortRule, FormatRule, InstructionRole, Parameters,
    ReasoningField, ReasoningRule, SchemaRule, StreamRule, StrictRule, TokenLimit, ToolRule, compatible,
};
pub use vllm::vllm;
pub use xai::xai;
pub use zhipu::zhipu;

/// Every vendor's dialect.
pub const ALL: &[fn() -> Dialect] = &[
    openai, azure, deepseek, qwen, gemini, mistral, groq, xai, moonshot, zhipu, openrouter, ollama, vllm, llama_cpp,
];

/// The dialect of a vendor, by its name or an alias (`kimi`, `dashscope`, `llama.cpp` …).
///
/// ```
/// assert_eq!(agcore_llm::dialect::by_name("Kimi").unwrap().name, "moonshot");
/// assert!(agcore_llm::dialect::by_name("nobody").is_none());
/// ```
pub fn by_name(name: &str) -> Option<Dialect> {
    ALL.iter()
        .map(|dialect| dialect())
        .find(|dialect| dialect.is_called(name))
}
