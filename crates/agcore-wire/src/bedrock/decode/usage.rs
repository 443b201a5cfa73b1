//! Token counts, converted from the names of this API to those of [`Usage`].

use agcore_chat::{Extra, PromptTokensDetails, Usage};
use serde_json::{Result, Value};

use crate::decode::{json::JsonReader, lenient::is_blank};

/// The token counts of a reply.
#[derive(Debug, Default, PartialEq)]
pub(super) struct RawUsage {
    /// Without cached tokens, for all models but those of OpenAI.
    input: Option<u64>,
    output: Option<u64>,
    total: Option<u64>,
    cache_read: Option<u64>,
    cache_write: Option<u64>,
    /// The same under other names, which some replies have in addition.
    cache_read_twin: Option<u64>,
    cache_write_twin: Option<u64>,
    /// All other members.
    members: Vec<(Box<str>, Value)>,
}

impl RawUsage {
    /// Reads the counts.
    pub(super) fn read(json: &mut JsonReader<'_>) -> Result<Self> {
        let (mut usage, mut members) = (Self::default(), json.object("token usage")?);
        while let Some(name) = json.next_name(&mut members)? {
            let count = match &*name {
                "inputTokens" => &mut usage.input,
                "outputTokens" => &mut usage.output,
                "totalTokens" => &mut usage.total,
                "cacheReadInputTokens" => &mut usage.cache_read,
                "cacheWriteInputTokens" => &mut usage.cache_write,
                "cacheReadInputTokenCount" => &mut usage.cache_read_twin,
                "cacheWriteInputTokenCount" => &mut usage.cache_write_twin,
                other => {
                    let value = json.value()?;
                    if !is_blank(&value) {
                        usage.members.push((other.into(), value));
                    }
                    continue;
                }
            };
            *count = json.count()?;
        }
        Ok(usage)
    }

    /// Returns whether there is no count.
    pub(super) fn is_empty(&self) -> bool {
        self.input.or(self.output).or(self.total).is_none()
    }

    /// Returns the normalized usage, or `None` if there is no count. Its prompt tokens include cached ones.
    pub(super) fn normalized(self) -> Option<Usage> {
        if self.is_empty() {
            return None;
        }
        let read = self.cache_read.or(self.cache_read_twin);
        let write = self.cache_write.or(self.cache_write_twin);
        let cached = read.unwrap_or(0).saturating_add(write.unwrap_or(0));
        // The total shows whether the input contains the cached tokens already.
        let sum = self.input.unwrap_or(0).saturating_add(self.output.unwrap_or(0));
        let is_included = cached > 0 && self.total == Some(sum);
        let beside = if is_included { 0 } else { cached };
        let mut extra = Extra::default();
        for (name, value) in self.members {
            extra.insert(&*name, value);
        }
        Some(Usage {
            prompt_tokens: self.input.map(|input| input.saturating_add(beside)),
            completion_tokens: self.output,
            total_tokens: self.total,
            prompt_tokens_details: PromptTokensDetails {
                cached_tokens: read,
                cache_write_tokens: write,
                ..PromptTokensDetails::default()
            },
            extra,
            ..Usage::default()
        })
    }
}
