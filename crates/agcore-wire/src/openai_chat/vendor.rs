//! Names of members that only some vendors know.

/// The member with which Gemini sends a call's thought signature, which must be sent back.
pub(super) const EXTRA_CONTENT: &str = "extra_content";

/// The member with which OpenRouter and others send the details of reasoning, which must be sent back unchanged. Also its
/// name in the vendor data that keeps it.
pub(super) const REASONING_DETAILS: &str = "reasoning_details";

/// The member with which Groq sends usage, and the reason it stopped a stream early.
pub(super) const X_GROQ: &str = "x_groq";

/// The member of [`X_GROQ`] with the usage of each model of a compound system.
pub(super) const USAGE_BREAKDOWN: &str = "usage_breakdown";

/// The member with which LiteLLM sends the thinking of Anthropic's models with its signatures, which must be sent back
/// unchanged. Also its name in the vendor data that keeps it.
pub(super) const THINKING_BLOCKS: &str = "thinking_blocks";

/// The members with which servers send readable reasoning.
pub(super) const REASONING_CONTENT: &str = "reasoning_content";
pub(super) const REASONING: &str = "reasoning";

/// The name in vendor data of the member in which reasoning arrived.
pub(super) const REASONING_MEMBER: &str = "reasoning_member";

/// The member with which OpenAI pads the chunks of a stream.
pub(super) const OBFUSCATION: &str = "obfuscation";

/// The member with which OpenRouter and Model Studio accept cache marks, as Anthropic does.
pub(super) const CACHE_CONTROL: &str = "cache_control";
