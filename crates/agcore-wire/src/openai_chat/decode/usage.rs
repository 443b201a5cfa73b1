//! Token usage, converted from the members of various servers to [`Usage`].

use agcore_chat::{CompletionTokensDetails, Extra, PromptTokensDetails, Usage};
use serde_json::{Result, Value};

use crate::{
    decode::{cost::CostMembers, json::JsonReader},
    openai_chat::vendor::USAGE_BREAKDOWN,
};

/// Parsed usage; `None` if it contains no counts.
#[derive(Debug, Default)]
pub(super) struct ParsedUsage(pub(super) Option<Box<Usage>>);

/// Usage as sent by a server.
#[derive(Debug, Default)]
struct RawUsage {
    prompt: Option<u64>,
    completion: Option<u64>,
    total: Option<u64>,
    prompt_details: RawDetails,
    completion_details: RawDetails,
    /// Hugging Face, Together, Moonshot, Mistral.
    cached: Option<u64>,
    /// DeepSeek.
    cache_hit: Option<u64>,
    /// LiteLLM.
    cache_read: Option<u64>,
    /// LiteLLM.
    cache_creation: Option<u64>,
    /// SGLang.
    reasoning: Option<u64>,
    extra: Extra,
}

#[derive(Debug, Default)]
struct RawDetails {
    cached: Option<u64>,
    cache_write: Option<u64>,
    audio: Option<u64>,
    reasoning: Option<u64>,
    accepted: Option<u64>,
    rejected: Option<u64>,
    extra: Extra,
}

impl RawUsage {
    fn parsed(self, cost: &CostMembers<'_>) -> ParsedUsage {
        let (prompt, completion) = (self.prompt_details, self.completion_details);
        let reasoning_tokens = completion.reasoning.or(self.reasoning);
        let usage = Usage {
            prompt_tokens: self.prompt,
            completion_tokens: generated(self.prompt, self.completion, reasoning_tokens, self.total),
            total_tokens: self.total,
            prompt_tokens_details: PromptTokensDetails {
                context_tokens: None,
                cached_tokens: prompt.cached.or(self.cached).or(self.cache_hit).or(self.cache_read),
                cache_write_tokens: prompt.cache_write.or(self.cache_creation),
                audio_tokens: prompt.audio,
                extra: prompt.extra,
            },
            completion_tokens_details: CompletionTokensDetails {
                reasoning_tokens,
                audio_tokens: completion.audio,
                accepted_prediction_tokens: completion.accepted,
                rejected_prediction_tokens: completion.rejected,
                extra: completion.extra,
            },
            cost: cost.cost(),
            extra: self.extra,
        };
        let is_known = usage
            .prompt_tokens
            .or(usage.completion_tokens)
            .or(usage.total_tokens)
            .is_some();
        ParsedUsage(is_known.then(|| Box::new(usage)))
    }
}

/// Returns all generated tokens. xAI does not include reasoning in `completion_tokens`, others do; the total shows which.
fn generated(prompt: Option<u64>, completion: Option<u64>, reasoning: Option<u64>, total: Option<u64>) -> Option<u64> {
    let with_reasoning = || {
        let reasoning = reasoning.filter(|tokens| *tokens > 0)?;
        let all = completion?.checked_add(reasoning)?;
        (prompt?.checked_add(all)? == total?).then_some(all)
    };
    with_reasoning().or(completion)
}

impl ParsedUsage {
    pub(super) fn read(json: &mut JsonReader<'_>) -> Result<Self> {
        let (mut usage, mut cost) = (RawUsage::default(), CostMembers::default());
        let mut members = json.object("usage")?;
        while let Some(name) = json.next_name(&mut members)? {
            let place = match &*name {
                "prompt_tokens" => &mut usage.prompt,
                "completion_tokens" => &mut usage.completion,
                "total_tokens" => &mut usage.total,
                // Hugging Face and others, Mistral.
                "cached_tokens" | "num_cached_tokens" => &mut usage.cached,
                "prompt_cache_hit_tokens" => &mut usage.cache_hit,
                "cache_read_input_tokens" => &mut usage.cache_read,
                "cache_creation_input_tokens" => &mut usage.cache_creation,
                "reasoning_tokens" => &mut usage.reasoning,
                "prompt_tokens_details" => {
                    usage.prompt_details = RawDetails::read(json)?;
                    continue;
                }
                "completion_tokens_details" => {
                    usage.completion_details = RawDetails::read(json)?;
                    continue;
                }
                other => {
                    let raw = json.raw()?;
                    cost.keep(other, raw);
                    keep(&mut usage.extra, other, json.parse(raw)?);
                    continue;
                }
            };
            *place = json.count()?;
        }
        Ok(usage.parsed(&cost))
    }
}

impl RawDetails {
    fn read(json: &mut JsonReader<'_>) -> Result<Self> {
        let mut details = Self::default();
        let mut members = json.object("token details")?;
        while let Some(name) = json.next_name(&mut members)? {
            let place = match &*name {
                "cached_tokens" => &mut details.cached,
                // OpenRouter, LiteLLM, DashScope.
                "cache_write_tokens" | "cache_creation_tokens" | "cache_creation_input_tokens" => {
                    &mut details.cache_write
                }
                "audio_tokens" => &mut details.audio,
                "reasoning_tokens" => &mut details.reasoning,
                "accepted_prediction_tokens" => &mut details.accepted,
                "rejected_prediction_tokens" => &mut details.rejected,
                other => {
                    keep(&mut details.extra, other, json.value()?);
                    continue;
                }
            };
            *place = json.count()?;
        }
        Ok(details)
    }
}

/// Fills in missing counts from the usage emitted before: some servers send it in pieces.
pub(super) fn fill_missing(usage: &mut Usage, before: &Usage) {
    fn fill(count: &mut Option<u64>, before: Option<u64>) {
        *count = count.or(before);
    }
    fill(&mut usage.prompt_tokens, before.prompt_tokens);
    fill(&mut usage.completion_tokens, before.completion_tokens);
    if usage.prompt_tokens.is_none() || usage.completion_tokens.is_none() {
        fill(&mut usage.total_tokens, before.total_tokens);
    }
    let (to, from) = (&mut usage.prompt_tokens_details, &before.prompt_tokens_details);
    fill(&mut to.cached_tokens, from.cached_tokens);
    fill(&mut to.cache_write_tokens, from.cache_write_tokens);
    fill(&mut to.audio_tokens, from.audio_tokens);
    let (to, from) = (&mut usage.completion_tokens_details, &before.completion_tokens_details);
    fill(&mut to.reasoning_tokens, from.reasoning_tokens);
    fill(&mut to.audio_tokens, from.audio_tokens);
    fill(&mut to.accepted_prediction_tokens, from.accepted_prediction_tokens);
    fill(&mut to.rejected_prediction_tokens, from.rejected_prediction_tokens);
    usage.cost = usage.cost.take().or_else(|| before.cost.clone());
    for (name, value) in before.extra.iter() {
        if usage.extra.get(name).is_none() {
            usage.extra.insert(name, value.clone());
        }
    }
}

fn keep(extra: &mut Extra, name: &str, value: Value) {
    if !value.is_null() {
        extra.insert(name, value);
    }
}

/// Groq's own member: the usage in it, the usage of each model of a compound system, and the reason it stopped a stream
/// early.
#[derive(Debug, Default)]
pub(super) struct GroqMember {
    pub(super) usage: ParsedUsage,
    pub(super) usage_breakdown: Value,
    pub(super) error: Value,
}

impl GroqMember {
    pub(super) fn read(json: &mut JsonReader<'_>) -> Result<Self> {
        let mut member = Self::default();
        let mut members = json.object("an object with usage")?;
        while let Some(name) = json.next_name(&mut members)? {
            match &*name {
                "usage" => member.usage = ParsedUsage::read(json)?,
                USAGE_BREAKDOWN => member.usage_breakdown = json.value()?,
                "error" => member.error = json.value()?,
                _ => json.skip()?,
            }
        }
        Ok(member)
    }
}
