//! Token counts, converted from the names of this API to those of [`Usage`].

use std::fmt;

use agcore_chat::{CompletionTokensDetails, Extra, PromptTokensDetails, Usage};
use serde::{
    Deserialize, Deserializer,
    de::{self, MapAccess},
};
use serde_json::{Map, Value};

use crate::decode::{
    cost,
    lenient::{LenientCount, MemberName},
};

/// The latest token counts of a reply.
#[derive(Debug, Default)]
pub(super) struct RawUsage {
    /// Without tokens that were read from or written to the cache.
    input: Option<u64>,
    output: Option<u64>,
    cache_read: Option<u64>,
    cache_creation: Option<u64>,
    /// The sum of the tokens written for each cache lifetime, for servers that report only these.
    cache_creation_parts: Option<u64>,
    thinking: Option<u64>,
    members: Map<String, Value>,
}

impl RawUsage {
    /// Replaces counts by later ones, which are cumulative.
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

    /// Returns whether the usage contains neither counts nor other members.
    pub(super) fn is_empty(&self) -> bool {
        self.any_count().is_none() && self.members.is_empty()
    }

    /// Returns the service tier that processed the request.
    pub(super) fn service_tier(&self) -> Option<&str> {
        self.members.get("service_tier")?.as_str()
    }

    /// Returns the normalized usage, or `None` if there is no count. Its prompt tokens include cached ones.
    pub(super) fn normalized(&self) -> Option<Usage> {
        self.any_count()?;
        let cache_write = self.cache_write();
        let cached = [self.cache_read, cache_write];
        let total = |input| cached.into_iter().flatten().fold(input, u64::saturating_add);
        Some(Usage {
            prompt_tokens: self.input.map(total),
            completion_tokens: self.output,
            total_tokens: None,
            prompt_tokens_details: PromptTokensDetails {
                cached_tokens: self.cache_read,
                cache_write_tokens: cache_write,
                ..PromptTokensDetails::default()
            },
            completion_tokens_details: CompletionTokensDetails {
                reasoning_tokens: self.thinking,
                ..CompletionTokensDetails::default()
            },
            cost: cost::read(|name| self.members.get(name)),
            extra: Extra::from(self.members.clone()),
        })
    }

    fn any_count(&self) -> Option<u64> {
        self.input.or(self.output).or(self.cache_read).or(self.cache_write())
    }

    fn cache_write(&self) -> Option<u64> {
        self.cache_creation.or(self.cache_creation_parts)
    }
}

/// Returns the sum of the counts in an object, or `None` if there are none.
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
            or_default!();
            fn visit_str<E: de::Error>(self, _: &str) -> Result<RawUsage, E> {
                Ok(RawUsage::default())
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<RawUsage, A::Error> {
                let mut usage = RawUsage::default();
                while let Some(name) = map.next_key::<MemberName<'de>>()? {
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
                    *count = map.next_value::<LenientCount>()?.0;
                }
                Ok(usage)
            }
        }
        deserializer.deserialize_any(UsageVisitor)
    }
}
