//! [`CountTokens`]: how many tokens a request would take, as the server counts.

use agcore_chat::{ChatRequest, Extra};

use super::Operation;

/// Asks a server to count the tokens of a request without answering it.
#[derive(Debug, Clone, Copy)]
pub struct CountTokens;

impl Operation for CountTokens {
    type Request = ChatRequest;
    type Item = TokenCount;
}

/// What a server counted.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct TokenCount {
    /// All tokens of the prompt: messages, instructions and tools.
    pub input_tokens: u64,
    /// Whatever else the server says of it.
    pub extra: Extra,
}
