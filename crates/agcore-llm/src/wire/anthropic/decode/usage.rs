//! Token counts as the API tells them, and as [`Usage`] has them.

use std::fmt;

use agcore_chat::{CompletionTokensDetails, Extra, PromptTokensDetails, Usage};
use serde::{
    Deserialize, Deserializer,
    de::{self, MapAccess},
};
use serde_json::{Map, Value};

use super::nothing::nothing;
use crate::wire::lenient::{LooseCount, Name};

/// Counts of a reply so far.
#[derive(Debug, Default)]
pub(super) struct RawUsage {
    /// Without what was read from or written to the cache.
    input: Option<u64>,
    output: Option<u64>,
    cache_read: Option<u64>,
    cache_creation: Option<u64>,
    /// The sum of what was written for each lifetime, for servers that tell nothing else.
    cache_creation_parts: Option<u64>,
    thinking: Option<u64>,
    members: Map<String, Value>,
}

impl RawUsage {
    /// Takes later counts: they are cumulative, so that each replaces the one before.
    pub(super) fn update(&mut self, later: Self) {
        for (count, later) in [
            (&mut self.input, later.input),
            (&mut self.output, later.output),
            (&mut self.cache_read, later.cache_read),
            (&mut self.cache_creation, later.cache_creation),
            (&mut self.cache_creation_parts, later.cache_creation_parts),
            (&mut self.thinking, later.thinking),
        ] {
            *count = later.or(*count);
        }
        self.members.extend(later.members);
    }

    /// Whether it says anything.
    pub(super) fn is_empty(&self) -> bool {
        self.known().is_none() && self.members.is_empty()
    }

    /// The service class that was used.
    pub(super) fn service_tier(&self) -> Option<&str> {
        self.members.get("service_tier")?.as_str()
    }

    /// The normalised usage, if there is any count in it: input counts the cache's part, too.
    pub(super) fn normalised(&self) -> Option<Usage> {
        self.known()?;
        let written = self.written();
        let cached = [self.cache_read, written];
        let all = |input| cached.into_iter().flatten().fold(input, u64::saturating_add);
        Some(Usage {
            prompt_tokens: self.input.map(all),
            completion_tokens: self.output,
            total_tokens: None,
            prompt_tokens_details: PromptTokensDetails {
                cached_tokens: self.cache_read,
                cache_write_tokens: written,
                ..PromptTokensDetails::default()
            },
            completion_tokens_details: CompletionTokensDetails {
                reasoning_tokens: self.thinking,
                ..CompletionTokensDetails::default()
            },
            extra: Extra::from(self.members.clone()),
        })
    }

    fn known(&self) -> Option<u64> {
        self.input.or(self.output).or(self.cache_read).or(self.written())
    }

    /// What was written to the cache.
    fn written(&self) -> Option<u64> {
        self.cache_creation.or(self.cache_creation_parts)
    }
}

/// The sum of the counts in an object, if there are any.
fn sum(counts: &Value) -> Option<u64> {
    let counts = counts.as_object()?.values().filter_map(Value::as_u64);
    counts.reduce(u64::saturating_add)
}

impl<'de> Deserialize<'de> for RawUsage {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct UsageVisitor;
        impl<'de> de::Visitor<'de> for UsageVisitor {
            type Value = RawUsage;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("usage")
            }
            nothing!(RawUsage);
            fn visit_str<E: de::Error>(self, _: &str) -> Result<RawUsage, E> {
                Ok(RawUsage::default())
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<RawUsage, A::Error> {
                let mut usage = RawUsage::default();
                while let Some(name) = map.next_key::<Name<'de>>()? {
                    let count = match name.as_str() {
                        "input_tokens" => &mut usage.input,
                        "output_tokens" => &mut usage.output,
                        "cache_read_input_tokens" => &mut usage.cache_read,
                        "cache_creation_input_tokens" => &mut usage.cache_creation,
                        other => {
                            let value: Value = map.next_value()?;
                            if other == "output_tokens_details" {
                                usage.thinking = value.get("thinking_tokens").and_then(Value::as_u64);
                            }
                            if other == "cache_creation" {
                                usage.cache_creation_parts = sum(&value);
                            }
                            if !value.is_null() {
                                usage.members.insert(other.to_owned(), value);
                            }
                            continue;
                        }
                    };
                    *count = map.next_value::<LooseCount>()?.0;
                }
                Ok(usage)
            }
        }
        deserializer.deserialize_any(UsageVisitor)
    }
}
