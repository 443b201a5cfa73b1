//! [`RunUsage`] and [`MessageUsage`]: the tokens that the settings allow to send.

use std::collections::HashMap;

use agcore_chat::{AnsweredBy, CostSource, Money, ReportedCost, Text, Usage, UsageSummary, UsageTracker};
use serde_json::{Map, Value};

use super::scope::Speaker;
use crate::{event::AguiEvent, settings::UsageFields};

/// The largest integer that every JSON reader keeps.
const MAX_SAFE_INTEGER: u64 = (1 << 53) - 1;

/// The usage of a message or run.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct MessageUsage {
    input: Option<u64>,
    output: Option<u64>,
    total: Option<u64>,
    cached: Option<u64>,
    cache_write: Option<u64>,
    cache_hit: Option<u64>,
    cache_miss: Option<u64>,
    reasoning: Option<u64>,
    latency_ms: Option<u64>,
    source: Option<CostSource>,
    cost: Option<Money>,
    answered_by: Option<AnsweredBy>,
    is_complete: bool,
}

impl MessageUsage {
    /// Adds the fields to the end of a message.
    pub(super) fn add_to(&self, mut event: AguiEvent, fields: UsageFields) -> AguiEvent {
        let always = [
            ("totalTokens", self.total),
            ("cachedPromptTokens", self.cached),
            ("promptCacheHitTokens", self.cache_hit),
            ("promptCacheMissTokens", self.cache_miss),
            ("reasoningTokens", self.reasoning),
        ];
        let tokens = [("inputTokens", self.input), ("outputTokens", self.output)];
        let tokens = tokens.into_iter().filter(|_| fields.tokens);
        let latency = [("latencyMs", self.latency_ms)].into_iter().filter(|_| fields.latency);
        for (name, count) in always.into_iter().chain(tokens).chain(latency) {
            event = event.with_own(name, safe(count));
        }
        if let (true, Some(who)) = (fields.model, &self.answered_by) {
            event = event
                .with_own("provider", &*who.provider)
                .with_own("model", &*who.model);
        }
        self.add_cost(event, fields)
    }

    /// Adds the source of the cost, the cost if it is allowed, and whether the usage is complete.
    pub(super) fn add_cost(&self, mut event: AguiEvent, fields: UsageFields) -> AguiEvent {
        if let Some(source) = self.source {
            event = event.with_own("costSource", source.as_str());
        }
        if let (true, Some(cost)) = (fields.cost, &self.cost) {
            event = event.with_own("cost", cost.to_string());
        }
        event.with_own("usageComplete", self.is_complete)
    }

    /// Returns the entry of `usage` in the end of a run, with the counters that AG-UI defines. `None` if none is known.
    fn entry(&self, fields: UsageFields) -> Option<Value> {
        let mut entry = Map::new();
        if let (true, Some(who)) = (fields.model, &self.answered_by) {
            entry.insert("provider".to_owned(), who.provider.as_str().into());
            entry.insert("model".to_owned(), who.model.as_str().into());
        }
        let counters = [
            ("inputTokens", self.input, fields.tokens),
            ("outputTokens", self.output, fields.tokens),
            ("totalTokens", self.total, true),
            ("reasoningTokens", self.reasoning, true),
            ("cachedInputTokens", self.cached, true),
            ("cacheWriteInputTokens", self.cache_write, fields.tokens),
        ];
        let mut has_counter = false;
        for (name, count, is_sent) in counters {
            if let (Some(count), true) = (safe(count), is_sent) {
                entry.insert(name.to_owned(), count.into());
                has_counter = true;
            }
        }
        has_counter.then_some(Value::Object(entry))
    }
}

impl From<&Usage> for MessageUsage {
    fn from(usage: &Usage) -> Self {
        let cached = usage.cached();
        Self {
            input: usage.prompt_tokens,
            output: usage.completion_tokens,
            total: usage.total(),
            cached,
            cache_write: usage.cache_write(),
            cache_hit: cached,
            cache_miss: usage
                .prompt_tokens
                .zip(cached)
                .map(|(all, hit)| all.saturating_sub(hit)),
            reasoning: usage.reasoning(),
            source: usage.cost.is_some().then_some(CostSource::Provider),
            cost: usage.cost.as_ref().and_then(ReportedCost::money),
            is_complete: true,
            ..Self::default()
        }
    }
}

impl From<&UsageSummary> for MessageUsage {
    fn from(usage: &UsageSummary) -> Self {
        Self {
            input: usage.input_tokens,
            output: usage.output_tokens,
            total: usage.total_tokens,
            cached: usage.cached_prompt_tokens,
            cache_hit: usage.prompt_cache_hit_tokens,
            cache_miss: usage.prompt_cache_miss_tokens,
            reasoning: usage.reasoning_tokens,
            latency_ms: usage.latency_ms,
            source: usage.cost_source,
            is_complete: usage.model_call_records == usage.usage_records,
            ..Self::default()
        }
    }
}

/// The usage of all model calls of a run.
#[derive(Debug, Clone)]
pub(super) struct RunUsage {
    /// The provider and model that answer each speaker.
    answering: HashMap<Speaker, AnsweredBy>,
    /// The sum for each provider and model.
    sums: Vec<(Option<AnsweredBy>, Usage)>,
    /// Whether every turn that ended knows the usage of all its calls.
    is_complete: bool,
}

impl Default for RunUsage {
    fn default() -> Self {
        Self {
            answering: HashMap::new(),
            sums: Vec::new(),
            is_complete: true,
        }
    }
}

impl RunUsage {
    pub(super) fn answered_by(&mut self, speaker: Speaker, who: AnsweredBy) {
        self.answering.insert(speaker, who);
    }

    /// Adds the usage of a reply, and returns it as that of the message.
    pub(super) fn record(&mut self, speaker: &Speaker, usage: &Usage) -> MessageUsage {
        let who = self.answering.get(speaker).cloned();
        match self
            .sums
            .iter_mut()
            .find(|(known, _)| is_same(known.as_ref(), who.as_ref()))
        {
            Some((_, sum)) => sum.add(usage),
            None => self.sums.push((who.clone(), usage.clone())),
        }
        let mut message = MessageUsage::from(usage);
        message.answered_by = who;
        message
    }

    pub(super) fn end_turn(&mut self, tracker: &UsageTracker) {
        self.is_complete &= tracker.is_complete();
    }

    /// Notes that the usage of earlier calls is unknown.
    pub(super) fn forget(&mut self) {
        self.is_complete = false;
    }

    /// Adds the usage to the end of the run: that of the bill, or else the sum of the calls.
    pub(super) fn add_to(
        &self,
        event: AguiEvent,
        bill: Option<&UsageSummary>,
        cost: Option<&Money>,
        fields: UsageFields,
    ) -> AguiEvent {
        let mut all = Usage::default();
        for (_, usage) in &self.sums {
            all.add(usage);
        }
        let kept = bill.map_or_else(|| all.clone(), billed);
        let mut whole = bill.map_or_else(|| MessageUsage::from(&all), MessageUsage::from);
        whole.is_complete &= bill.is_some() || self.is_complete;
        whole.cost = cost.cloned().or(whole.cost);
        let entries: Vec<Value> = if bill.is_some() || !fields.model {
            whole.entry(fields).into_iter().collect()
        } else {
            let entry = |(who, usage): &(Option<AnsweredBy>, Usage)| {
                let mut one = MessageUsage::from(usage);
                one.answered_by.clone_from(who);
                one.entry(fields)
            };
            self.sums.iter().filter_map(entry).collect()
        };
        let event = if entries.is_empty() {
            event
        } else {
            event.with("usage", entries)
        };
        let kept = serde_json::to_value(&kept).unwrap_or_default();
        whole.add_cost(event.with_kept("usage", kept), fields)
    }
}

/// Returns the counters of a bill.
fn billed(bill: &UsageSummary) -> Usage {
    let mut usage = Usage {
        prompt_tokens: bill.input_tokens,
        completion_tokens: bill.output_tokens,
        total_tokens: bill.total_tokens,
        ..Usage::default()
    };
    usage.prompt_tokens_details.cached_tokens = bill.cached_prompt_tokens;
    usage.completion_tokens_details.reasoning_tokens = bill.reasoning_tokens;
    usage
}

fn is_same(one: Option<&AnsweredBy>, other: Option<&AnsweredBy>) -> bool {
    let names =
        |who: Option<&AnsweredBy>| -> Option<(Text, Text)> { who.map(|who| (who.provider.clone(), who.model.clone())) };
    names(one) == names(other)
}

/// Leaves out counters that some readers cannot represent.
fn safe(count: Option<u64>) -> Option<u64> {
    count.filter(|count| *count <= MAX_SAFE_INTEGER)
}
