//! Token usage as text.

use agcore_chat::UsageTracker;

/// Formats tokens and calls: `10 tokens in, 5 out, 1 model call`. Notes calls for which the server reported no usage.
pub fn usage_line(tracker: &UsageTracker) -> String {
    let calls = format!(
        "{} model call{}",
        tracker.calls,
        if tracker.calls == 1 { "" } else { "s" }
    );
    if tracker.calls_with_usage == 0 {
        return if tracker.calls == 0 {
            calls
        } else {
            calls + ", usage not reported"
        };
    }
    let usage = &tracker.usage;
    let tokens_in = count(usage.prompt_tokens) + &detail(usage.cached(), "cached");
    let tokens_out = count(usage.completion_tokens) + &detail(usage.reasoning(), "reasoning");
    let missing = if tracker.is_complete() {
        String::new()
    } else {
        format!(" (usage not reported for {})", tracker.calls - tracker.calls_with_usage)
    };
    format!("{tokens_in} tokens in, {tokens_out} out, {calls}{missing}")
}

fn count(tokens: Option<u64>) -> String {
    tokens.map_or_else(|| "?".to_owned(), |tokens| tokens.to_string())
}

fn detail(tokens: Option<u64>, name: &str) -> String {
    tokens
        .filter(|tokens| *tokens > 0)
        .map(|tokens| format!(" ({tokens} {name})"))
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use agcore_chat::Usage;

    use super::*;

    #[test]
    fn notes_missing_usage() {
        let mut tracker = UsageTracker::default();
        tracker.record(Some(&Usage::new(10, 5)));
        assert_eq!(usage_line(&tracker), "10 tokens in, 5 out, 1 model call");
        tracker.record(None);
        assert_eq!(
            usage_line(&tracker),
            "10 tokens in, 5 out, 2 model calls (usage not reported for 1)"
        );
        assert_eq!(usage_line(&UsageTracker::default()), "0 model calls");
        let mut tracker = UsageTracker::default();
        tracker.record(None);
        assert_eq!(usage_line(&tracker), "1 model call, usage not reported");
    }
}
