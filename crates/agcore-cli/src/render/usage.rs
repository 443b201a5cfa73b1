//! Tokens and calls in words.

use agcore::chat::UsageTracker;

/// Tokens and calls in words; what a server did not tell is said so.
pub(crate) fn usage_line(tracker: &UsageTracker) -> String {
    let count = |tokens: Option<u64>| tokens.map_or_else(|| "?".to_owned(), |tokens| tokens.to_string());
    let usage = &tracker.usage;
    let mut line = format!("{} tokens in", count(usage.prompt_tokens));
    if let Some(cached) = usage.cached().filter(|cached| *cached > 0) {
        line += &format!(" ({cached} cached)");
    }
    line += &format!(", {} out", count(usage.completion_tokens));
    if let Some(reasoning) = usage.reasoning().filter(|reasoning| *reasoning > 0) {
        line += &format!(" ({reasoning} reasoning)");
    }
    line += &format!(", {} model call{}", tracker.calls, if tracker.calls == 1 { "" } else { "s" });
    if !tracker.is_complete() {
        line += &format!(", {} without usage", tracker.calls - tracker.calls_with_usage);
    }
    line
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
        assert_eq!(usage_line(&tracker), "10 tokens in, 5 out, 2 model calls, 1 without usage");
        assert_eq!(usage_line(&UsageTracker::default()), "? tokens in, ? out, 0 model calls");
    }
}
