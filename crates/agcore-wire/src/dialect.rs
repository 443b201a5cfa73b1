//! [`Dialect`]: the deviations of a vendor's version of the Chat Completions API.
//!
//! A dialect is plain data. `docs/dialects.md` lists what each vendor accepts, what is translated and what is refused.
//! Dialects only affect requests: the decoder handles the replies of all vendors.

mod azure;
mod compatible;
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
pub use compatible::compatible;
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
    ReasoningField, ReasoningRule, SchemaRule, StreamRule, StrictRule, TokenLimit, ToolMediaRule, ToolRule,
};
pub use vllm::vllm;
pub use xai::xai;
pub use zhipu::zhipu;

/// The dialects of all vendors.
///
/// ```
/// let names: Vec<_> = agcore_wire::dialect::ALL.iter().map(|dialect| dialect().name).collect();
/// assert!(names.contains(&"mistral".into()));
/// ```
pub const ALL: &[fn() -> Dialect] = &[
    openai, azure, deepseek, qwen, gemini, mistral, groq, xai, moonshot, zhipu, openrouter, ollama, vllm, llama_cpp,
];

/// Returns the dialect with this name or alias (`kimi`, `dashscope`, `llama.cpp` …).
///
/// ```
/// assert_eq!(agcore_wire::dialect::by_name("Kimi").unwrap().name, "moonshot");
/// assert!(agcore_wire::dialect::by_name("unknown").is_none());
/// ```
pub fn by_name(name: &str) -> Option<Dialect> {
    ALL.iter()
        .map(|dialect| dialect())
        .find(|dialect| dialect.has_name(name))
}
