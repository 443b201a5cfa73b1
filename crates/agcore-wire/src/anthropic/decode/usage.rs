//! Token counts, converted from the names of this API to those of [`Usage`].

use std::fmt;

use agcore_chat::{CompletionTokensDetails, Extra, PromptTokensDetails, Usage};
use serde::{
    Deserialize, Deserializer,
    de::{self, MapAccess},
};
use serde_json::{Map, Value};

use crate::decode::{
    cost::CostMembers,
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
    ///
    /// The counts of a reply that took several steps leave some of them out, a compaction for example, although all of them
    /// are billed. So they are summed up.
    pub(super) fn normalized(&self) -> Option<Usage> {
        self.any_count()?;
        let steps = self.steps();
        let all = |count: fn(&Self) -> Option<u64>| {
            let steps = steps.iter().filter_map(count).reduce(u64::saturating_add);
            count(self).max(steps)
        };
        let billed = Self {
            input: all(|counts| counts.input),
            cache_read: all(|counts| counts.cache_read),
            cache_creation: all(Self::cache_write),
            ..Self::default()
        };
        let context = steps.iter().rfind(|step| step.is_message()).unwrap_or(self).prompt();
        let prompt_tokens = billed.prompt();
        Some(Usage {
            prompt_tokens,
            completion_tokens: all(|counts| counts.output),
            total_tokens: None,
            prompt_tokens_details: PromptTokensDetails {
                cached_tokens: billed.cache_read,
                cache_write_tokens: billed.cache_creation,
                context_tokens: context.filter(|_| context != prompt_tokens),
                ..PromptTokensDetails::default()
            },
            completion_tokens_details: CompletionTokensDetails {
                reasoning_tokens: self.thinking,
                ..CompletionTokensDetails::default()
            },
            cost: CostMembers::of_values(&self.members).cost(),
            extra: Extra::from(self.members.clone()),
        })
    }

    /// Returns the counts of the steps that the server took, if it lists them.
    fn steps(&self) -> Vec<Self> {
        let steps = self.members.get("iterations").and_then(Value::as_array);
        let steps = steps.into_iter().flatten().map(Self::deserialize);
        steps.filter_map(Result::ok).collect()
    }

    /// Returns whether these are the counts of a step in which a model answered, as opposed to a compaction or another
    /// model's advice. After a refusal, that can be another model than the requested one.
    fn is_message(&self) -> bool {
        self.members
            .get("type")
            .is_none_or(|kind| kind == "message" || kind == "fallback_message")
    }

    /// Returns all prompt tokens, including those that were read from and written to the cache.
    fn prompt(&self) -> Option<u64> {
        let cached = [self.cache_read, self.cache_write()];
        let total = |input| cached.into_iter().flatten().fold(input, u64::saturating_add);
        self.input.map(total)
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
