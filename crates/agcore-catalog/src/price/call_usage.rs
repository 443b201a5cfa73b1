//! [`CallUsage`]: what a call of a model used.

use agcore_chat::{Amount, Usage};
use serde::Deserialize;
use serde_json::Value;

/// The counters of one call, as the vendor reported them. Unknown ones are `None`, which is not the same as 0.
///
/// ```
/// use agcore_catalog::CallUsage;
/// use agcore_chat::Usage;
///
/// let usage = CallUsage::from(&Usage::new(1_200, 300));
/// assert_eq!((usage.prompt_tokens, usage.total_tokens), (Some(1_200), Some(1_500)));
/// assert!(usage.is_record());
/// assert!(!CallUsage::default().is_record());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct CallUsage {
    /// All prompt tokens.
    pub prompt_tokens: Option<u64>,
    /// All generated tokens.
    pub completion_tokens: Option<u64>,
    /// All tokens.
    pub total_tokens: Option<u64>,
    /// Prompt tokens that were read from a cache.
    pub cached_tokens: Option<u64>,
    /// Prompt tokens that were written to a cache, for any time.
    pub cache_write_tokens: Option<u64>,
    /// The part of them that was written to a cache that keeps them for longer.
    pub cache_write_long_tokens: Option<u64>,
    /// Generated tokens that were reasoning.
    pub reasoning_tokens: Option<u64>,
    /// Prompt tokens that were found in a cache, if the vendor reports them by this name.
    pub prompt_cache_hit_tokens: Option<u64>,
    /// Prompt tokens that were not found in a cache.
    pub prompt_cache_miss_tokens: Option<u64>,
    /// Audio tokens in the prompt.
    pub audio_input_tokens: Option<u64>,
    /// Generated audio tokens.
    pub audio_output_tokens: Option<u64>,
    /// Generated images.
    pub images: Option<u64>,
    /// The length of audio or video, in milliseconds.
    pub milliseconds: Option<u64>,
    /// The characters of a text that was spoken.
    pub characters: Option<u64>,
    /// The searches that a reranker billed.
    pub searches: Option<u64>,
    /// The documents that a reranker rated.
    pub documents: Option<u64>,
}

impl CallUsage {
    /// Returns the numbers of prompt and generated tokens. A missing one is the total minus the other.
    pub fn sides(&self) -> (Option<u64>, Option<u64>) {
        let rest = |other: Option<u64>| Some(self.total_tokens?.saturating_sub(other?));
        let prompt = self.prompt_tokens.or_else(|| rest(self.completion_tokens));
        let completion = self.completion_tokens.or_else(|| rest(self.prompt_tokens));
        (prompt, completion)
    }

    /// Returns the number of prompt tokens that were read from a cache, under whichever name they were reported.
    pub fn cached(&self) -> Option<u64> {
        let missed = || Some(self.sides().0?.saturating_sub(self.prompt_cache_miss_tokens?));
        self.cached_tokens.or(self.prompt_cache_hit_tokens).or_else(missed)
    }

    /// Returns whether the usage of the call is complete: both sides are known, or what a model uses that does not chat.
    pub fn is_record(&self) -> bool {
        matches!(self.sides(), (Some(_), Some(_))) || self.units().iter().any(Option::is_some)
    }

    /// Returns the amounts that are counted in other units than tokens.
    fn units(&self) -> [Option<u64>; 5] {
        [
            self.images,
            self.milliseconds,
            self.characters,
            self.searches,
            self.documents,
        ]
    }

    /// Returns whether anything that can be priced is known.
    pub(crate) fn is_known(&self) -> bool {
        let (prompt, completion) = self.sides();
        [prompt, completion].iter().chain(&self.units()).any(Option::is_some)
    }
}

/// Takes the counters of the vocabulary first, and fills gaps from members that only some vendors report: cache hits and misses,
/// images, seconds, characters and searches.
impl From<&Usage> for CallUsage {
    fn from(usage: &Usage) -> Self {
        let extra = |name: &str| usage.extra.get(name).and_then(Value::as_u64);
        let details = &usage.prompt_tokens_details;
        let lifetimes = usage
            .extra
            .get("cache_creation")
            .or_else(|| details.extra.get("cache_creation"));
        let long = lifetimes.and_then(|lifetimes| lifetimes.get("ephemeral_1h_input_tokens"));
        Self {
            prompt_tokens: usage.prompt_tokens,
            completion_tokens: usage.completion_tokens,
            total_tokens: usage.total_tokens,
            cached_tokens: usage.cached(),
            cache_write_tokens: usage.cache_write(),
            cache_write_long_tokens: long.and_then(Value::as_u64),
            reasoning_tokens: usage.reasoning(),
            prompt_cache_hit_tokens: extra("prompt_cache_hit_tokens"),
            prompt_cache_miss_tokens: extra("prompt_cache_miss_tokens"),
            audio_input_tokens: details.audio_tokens,
            audio_output_tokens: usage.completion_tokens_details.audio_tokens,
            images: extra("image_count"),
            milliseconds: ["seconds", "video_duration", "duration"]
                .iter()
                .find_map(|name| milliseconds(usage.extra.get(name)?)),
            characters: extra("characters"),
            searches: extra("search_units"),
            documents: None,
        }
    }
}

/// Returns the milliseconds of a number of seconds, which may have decimals.
fn milliseconds(seconds: &Value) -> Option<u64> {
    let seconds = Amount::parse_rounded(&seconds.as_number()?.to_string()).ok()?;
    u64::try_from(seconds.units() / 10_i128.pow(21)).ok()
}
