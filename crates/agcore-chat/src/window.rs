//! The context window: when a conversation is too long, where it can be cut, and what can be removed. These are pure
//! functions, used by the agent loop and by conversation memory.

mod breaker;
mod cut;
mod prune;
mod settings;

pub use breaker::CompactionBreaker;
pub use cut::{safe_cut, summarized, summary_of};
pub use prune::{Pruned, prunable_results, prune_tool_results, pruned_result};
pub use settings::WindowSettings;

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::{AssistantMessage, HeuristicEstimator, Message, TokenEstimator, ToolCall, validate_messages};

    fn history(rounds: usize) -> Vec<Arc<Message>> {
        let mut messages = vec![Message::system("Be brief."), Message::user("The goal.")];
        for round in 0..rounds {
            let call = ToolCall::function(format!("c{round}"), "read", "{}");
            messages.push(AssistantMessage::default().with_call(call).into());
            messages.push(Message::tool(format!("c{round}"), "a long result ".repeat(50)));
        }
        messages.into_iter().map(Arc::new).collect()
    }

    #[test]
    fn cuts_only_before_an_assistant_message_after_the_goal() {
        let check = |rounds, keep, expected| assert_eq!(safe_cut(&history(rounds), keep), expected, "{rounds} {keep}");
        check(4, 2, Some(8));
        check(4, 3, Some(6));
        check(4, 0, Some(8));
        // Nothing can be removed between the goal and the first answer.
        check(1, 2, None);
        check(2, 4, None);
        check(0, 1, None);
        check(4, 100, None);
        assert_eq!(safe_cut(&[], 2), None);
    }

    #[test]
    fn pruning_reports_freed_tokens_once() {
        let estimator = HeuristicEstimator::default();
        let before = history(4);
        let pruned = prune_tool_results(&before, 2, &estimator);
        assert_eq!(pruned.results, 3);
        let total = |messages: &[Arc<Message>]| estimator.messages(messages);
        assert_eq!(total(&before) - total(&pruned.messages), pruned.freed);
        validate_messages(&pruned.messages).unwrap();
        assert!(
            Arc::ptr_eq(&before[9], &pruned.messages[9]),
            "the newest messages are kept"
        );
        let again = prune_tool_results(&pruned.messages, 2, &estimator);
        assert_eq!((again.results, again.freed), (0, 0));
        assert_eq!(again.messages, pruned.messages);
    }

    #[test]
    fn does_not_prune_short_results() {
        let messages = vec![Arc::new(Message::tool("c", "ok"))];
        let pruned = prune_tool_results(&messages, 0, &HeuristicEstimator::default());
        assert_eq!((pruned.results, pruned.messages), (0, messages));
    }
}
