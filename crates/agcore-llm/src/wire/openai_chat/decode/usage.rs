//! Token counts, from the places where servers put them into those of [`Usage`].

use std::fmt;

use agcore_chat::{CompletionTokensDetails, Extra, PromptTokensDetails, Usage};
use serde::{
    Deserialize, Deserializer,
    de::{self, MapAccess},
};
use serde_json::Value;

use crate::wire::lenient::{LooseCount, Name, or_no_object, skip};

/// A usage in the places of [`Usage`], if there is any count in it; `null` and `{}` are none.
#[derive(Debug, Default)]
pub(super) struct Counted(pub(super) Option<Box<Usage>>);

/// Usage as a server wrote it.
#[derive(Debug, Default)]
struct RawUsage {
    prompt: Option<u64>,
    completion: Option<u64>,
    total: Option<u64>,
    prompt_details: RawDetails,
    completion_details: RawDetails,
    /// Hugging Face, Together, Moonshot.
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
    fn counted(self) -> Counted {
        let (prompt, completion) = (self.prompt_details, self.completion_details);
        let reasoning_tokens = completion.reasoning.or(self.reasoning);
        let usage = Usage {
            prompt_tokens: self.prompt,
            completion_tokens: output(self.prompt, self.completion, reasoning_tokens, self.total),
            total_tokens: self.total,
            prompt_tokens_details: PromptTokensDetails {
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
            extra: self.extra,
        };
        let is_known = usage
            .prompt_tokens
            .or(usage.completion_tokens)
            .or(usage.total_tokens)
            .is_some();
        Counted(is_known.then(|| Box::new(usage)))
    }
}

/// All generated tokens. xAI counts reasoning outside of `completion_tokens`, others inside; the total tells which.
fn output(prompt: Option<u64>, completion: Option<u64>, reasoning: Option<u64>, total: Option<u64>) -> Option<u64> {
    let outside = || {
        let reasoning = reasoning.filter(|tokens| *tokens > 0)?;
        let all = completion?.checked_add(reasoning)?;
        (prompt?.checked_add(all)? == total?).then_some(all)
    };
    outside().or(completion)
}

impl<'de> Deserialize<'de> for Counted {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct UsageVisitor;
        impl<'de> de::Visitor<'de> for UsageVisitor {
            type Value = Counted;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("usage")
            }
            or_no_object!();
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Counted, A::Error> {
                let mut usage = RawUsage::default();
                while let Some(name) = map.next_key::<Name<'de>>()? {
                    let place = match name.as_str() {
                        "prompt_tokens" => &mut usage.prompt,
                        "completion_tokens" => &mut usage.completion,
                        "total_tokens" => &mut usage.total,
                        "cached_tokens" => &mut usage.cached,
                        "prompt_cache_hit_tokens" => &mut usage.cache_hit,
                        "cache_read_input_tokens" => &mut usage.cache_read,
                        "cache_creation_input_tokens" => &mut usage.cache_creation,
                        "reasoning_tokens" => &mut usage.reasoning,
                        "prompt_tokens_details" => {
                            usage.prompt_details = map.next_value()?;
                            continue;
                        }
                        "completion_tokens_details" => {
                            usage.completion_details = map.next_value()?;
                            continue;
                        }
                        other => {
                            keep(&mut usage.extra, other, map.next_value()?);
                            continue;
                        }
                    };
                    *place = map.next_value::<LooseCount>()?.0;
                }
                Ok(usage.counted())
            }
        }
        deserializer.deserialize_any(UsageVisitor)
    }
}

impl<'de> Deserialize<'de> for RawDetails {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct DetailsVisitor;
        impl<'de> de::Visitor<'de> for DetailsVisitor {
            type Value = RawDetails;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("token details")
            }
            or_no_object!();
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<RawDetails, A::Error> {
                let mut details = RawDetails::default();
                while let Some(name) = map.next_key::<Name<'de>>()? {
                    let place = match name.as_str() {
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
                            keep(&mut details.extra, other, map.next_value()?);
                            continue;
                        }
                    };
                    *place = map.next_value::<LooseCount>()?.0;
                }
                Ok(details)
            }
        }
        deserializer.deserialize_any(DetailsVisitor)
    }
}

/// Adds what is known of the usage told before: some servers tell it in pieces, and each new piece counts.
pub(super) fn keep_known(usage: &mut Usage, before: &Usage) {
    fn keep(counts: &mut Option<u64>, before: Option<u64>) {
        *counts = counts.or(before);
    }
    keep(&mut usage.prompt_tokens, before.prompt_tokens);
    keep(&mut usage.completion_tokens, before.completion_tokens);
    if usage.prompt_tokens.is_none() || usage.completion_tokens.is_none() {
        keep(&mut usage.total_tokens, before.total_tokens);
    }
    let (to, from) = (&mut usage.prompt_tokens_details, &before.prompt_tokens_details);
    keep(&mut to.cached_tokens, from.cached_tokens);
    keep(&mut to.cache_write_tokens, from.cache_write_tokens);
    keep(&mut to.audio_tokens, from.audio_tokens);
    let (to, from) = (&mut usage.completion_tokens_details, &before.completion_tokens_details);
    keep(&mut to.reasoning_tokens, from.reasoning_tokens);
    keep(&mut to.audio_tokens, from.audio_tokens);
    keep(&mut to.accepted_prediction_tokens, from.accepted_prediction_tokens);
    keep(&mut to.rejected_prediction_tokens, from.rejected_prediction_tokens);
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

/// Groq's own member: the usage in it, and why it stopped a stream early.
#[derive(Debug, Default)]
pub(super) struct GroqMember {
    pub(super) usage: Counted,
    pub(super) error: Value,
}

impl<'de> Deserialize<'de> for GroqMember {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct GroqVisitor;
        impl<'de> de::Visitor<'de> for GroqVisitor {
            type Value = GroqMember;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("x_groq")
            }
            or_no_object!();
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<GroqMember, A::Error> {
                let mut member = GroqMember::default();
                while let Some(name) = map.next_key::<Name<'de>>()? {
                    match name.as_str() {
                        "usage" => member.usage = map.next_value()?,
                        "error" => member.error = map.next_value()?,
                        _ => skip(&mut map)?,
                    }
                }
                Ok(member)
            }
        }
        deserializer.deserialize_any(GroqVisitor)
    }
}
