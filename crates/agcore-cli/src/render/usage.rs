//! Tokens and calls in words.

use agcore::chat::UsageTracker;

/// Tokens and calls in words; what a server did not tell is said so.
pub(crate) fn usage_line(tracker: &UsageTracker) -> String {
    let calls = format!(
        "{} model call{}",
        tracker.calls,
        if tracker.calls == 1 { "" } else { "s" }
    );
    if tracker.calls_with_usage == 0 {
        return if tracker.calls == 0 {
            calls
        } else {
            calls + ", tokens not told"
        };
    }
    let usage = &tracker.usage;
    let tokens_in = count(usage.prompt_tokens) + &part(usage.cached(), "cached");
    let tokens_out = count(usage.completion_tokens) + &part(usage.reasoning(), "reasoning");
    let untold = if tracker.is_complete() {
        String::new()
    } else {
        format!(
            ", {} of them without tokens told",
            tracker.calls - tracker.calls_with_usage
        )
    };
    format!("{tokens_in} tokens in, {tokens_out} out, {calls}{untold}")
}

fn count(tokens: Option<u64>) -> String {
    tokens.map_or_else(|| "?".to_owned(), |tokens| tokens.to_string())
}

fn part(tokens: Option<u64>, what: &str) -> String {
    tokens
        .filter(|tokens| *tokens > 0)
        .map(|tokens| format!(" ({tokens} {what})"))
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use agcore::chat::Usage;

    use super::*;

    #[test]
    fn says_what_is_not_known() {
        let mut tracker = UsageTracker::default();
        tracker.record(Some(&Usage::new(10, 5)));
        assert_eq!(usage_line(&tracker), "10 tokens in, 5 out, 1 model call");
        tracker.record(None);
        assert_eq!(
            usage_line(&tracker),
            "10 tokens in, 5 out, 2 model calls, 1 of them without tokens told"
        );
        assert_eq!(usage_line(&UsageTracker::default()), "0 model calls");
        let mut tracker = UsageTracker::default();
        tracker.record(None);
        assert_eq!(usage_line(&tracker), "1 model call, tokens not told");
    }
}
