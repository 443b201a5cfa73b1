//! [`Gauge`]: estimates the tokens of requests, and counts each message only once.

use std::sync::Arc;

use agcore_chat::{Message, TokenEstimator, Tool};

/// Estimates the tokens of requests that usually share a prefix with the previous one. Counted messages and tools are
/// recognized by their allocation.
#[derive(Clone, Default)]
pub(crate) struct Gauge {
    messages: Vec<(Arc<Message>, u64)>,
    tools: Option<(Arc<[Tool]>, u64)>,
    /// The upper bound of the tokens of the tools, which is much cheaper to compute.
    tools_bound: Option<(Arc<[Tool]>, u64)>,
}

impl Gauge {
    /// Returns the tokens of the messages of a request, which consists of these parts.
    pub(crate) fn messages(&mut self, parts: &[&[Arc<Message>]], estimator: &dyn TokenEstimator) -> u64 {
        let (mut count, mut sum) = (0, 0_u64);
        for message in parts.iter().copied().flatten() {
            let tokens = match self.messages.get(count) {
                Some((known, tokens)) if Arc::ptr_eq(known, message) => *tokens,
                _ => {
                    let tokens = estimator.message(message);
                    let entry = (Arc::clone(message), tokens);
                    match self.messages.get_mut(count) {
                        Some(other) => *other = entry,
                        None => self.messages.push(entry),
                    }
                    tokens
                }
            };
            sum = sum.saturating_add(tokens);
            count += 1;
        }
        self.messages.truncate(count);
        sum
    }

    /// Returns an upper bound of the tokens of the messages, computed from their sizes alone. It is `u64::MAX` if the
    /// estimator has no upper bound.
    pub(crate) fn max_tokens(parts: &[&[Arc<Message>]], estimator: &dyn TokenEstimator) -> u64 {
        let sums = parts.iter().map(|messages| UpperBound(estimator).messages(messages));
        sums.fold(0, u64::saturating_add)
    }

    /// Returns the tokens of the tools.
    pub(crate) fn tools(&mut self, tools: &Arc<[Tool]>, estimator: &dyn TokenEstimator) -> u64 {
        remembered(&mut self.tools, tools, estimator)
    }

    /// Returns an upper bound of the tokens of the tools, computed from their sizes alone unless they were counted before. It
    /// is `u64::MAX` if the estimator has no upper bound.
    pub(crate) fn max_tools(&mut self, tools: &Arc<[Tool]>, estimator: &dyn TokenEstimator) -> u64 {
        match &self.tools {
            Some((known, tokens)) if Arc::ptr_eq(known, tools) => *tokens,
            _ => remembered(&mut self.tools_bound, tools, &UpperBound(estimator)),
        }
    }
}

/// Returns the tokens of the tools, which are only counted if they are not the remembered ones.
fn remembered(memory: &mut Option<(Arc<[Tool]>, u64)>, tools: &Arc<[Tool]>, estimator: &dyn TokenEstimator) -> u64 {
    match memory {
        Some((known, tokens)) if Arc::ptr_eq(known, tools) => *tokens,
        _ => {
            let tokens = tools
                .iter()
                .map(|tool| estimator.tool(tool))
                .fold(0, u64::saturating_add);
            *memory = Some((Arc::clone(tools), tokens));
            tokens
        }
    }
}

/// Replaces the tokens of each text by their upper bound.
struct UpperBound<'a>(&'a dyn TokenEstimator);

impl TokenEstimator for UpperBound<'_> {
    fn text(&self, text: &str) -> u64 {
        self.0.text_upper_bound(text.len()).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;

    /// Counts one token per byte, and how many times it is called.
    #[derive(Default)]
    struct Counting(AtomicU64);

    impl TokenEstimator for Counting {
        fn text(&self, text: &str) -> u64 {
            self.0.fetch_add(1, Ordering::Relaxed);
            text.len() as u64
        }
    }

    #[test]
    fn the_upper_bound_comes_from_sizes_or_is_unlimited() {
        let messages = ["a", "four"].map(|text| Arc::new(Message::user(text)));
        let bound = |estimator: &dyn TokenEstimator| Gauge::max_tokens(&[&messages, &messages[..1]], estimator);
        assert_eq!(bound(&Counting::default()), u64::MAX);
        let heuristic = agcore_chat::HeuristicEstimator::default();
        assert!((heuristic.messages(&messages)..1000).contains(&bound(&heuristic)));
    }

    #[test]
    fn the_upper_bound_of_tools_is_not_below_their_tokens() {
        let schema = serde_json::json!({"type": "object", "properties": {"city": {"type": "string"}}});
        let tools: Arc<[Tool]> = Arc::from([Tool::from(agcore_chat::ToolDefinition::new("look", "Looks.", schema))]);
        let estimator = agcore_chat::HeuristicEstimator::default();
        let mut gauge = Gauge::default();
        let bound = gauge.max_tools(&tools, &estimator);
        let tokens = gauge.tools(&tools, &estimator);
        assert!(tokens < bound, "{tokens} < {bound}");
        assert_eq!(gauge.max_tools(&tools, &estimator), tokens);
        assert_eq!(Gauge::default().max_tools(&tools, &Counting::default()), u64::MAX);
    }

    #[test]
    fn counts_each_message_once_and_changed_ones_again() {
        let estimator = Counting::default();
        let mut gauge = Gauge::default();
        let mut messages: Vec<_> = ["a", "bb", "ccc"].map(|text| Arc::new(Message::user(text))).into();
        let check = |gauge: &mut Gauge, messages: &[Arc<Message>], expected_calls| {
            let before = estimator.0.load(Ordering::Relaxed);
            let sum = gauge.messages(&[messages], &estimator);
            assert_eq!(estimator.0.load(Ordering::Relaxed) - before, expected_calls);
            assert_eq!(sum, Counting::default().messages(messages));
        };
        check(&mut gauge, &messages, 3);
        check(&mut gauge, &messages, 0);
        messages.push(Arc::new(Message::user("dddd")));
        check(&mut gauge, &messages, 1);
        messages[0] = Arc::new(Message::user("another"));
        check(&mut gauge, &messages, 1);
        messages.truncate(2);
        check(&mut gauge, &messages, 0);
        let mut tools: Arc<[Tool]> = Arc::from([Tool::from(agcore_chat::ToolDefinition::new(
            "look",
            "Looks.",
            serde_json::json!({}),
        ))]);
        let first = gauge.tools(&tools, &estimator);
        let calls = estimator.0.load(Ordering::Relaxed);
        assert_eq!(gauge.tools(&tools, &estimator), first);
        assert_eq!(estimator.0.load(Ordering::Relaxed), calls);
        assert_eq!(gauge.max_tools(&tools, &estimator), first);
        assert_eq!(estimator.0.load(Ordering::Relaxed), calls);
        tools = Arc::default();
        assert_eq!(gauge.tools(&tools, &estimator), 0);
    }
}
