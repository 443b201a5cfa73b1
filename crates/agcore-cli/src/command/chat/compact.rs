//! `/compact`: the conversation made shorter.

use agcore::{
    AgentSession,
    chat::{HeuristicEstimator, prune_tool_results},
    llm::cycle::machine::Misuse,
};

/// The newest messages that stay whole.
const KEPT: usize = 6;

/// What a compaction came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Compacted {
    /// Tool results that were taken out.
    results: usize,
    /// Tokens that this freed, estimated.
    freed: u64,
}

/// Takes old tool results out of the conversation. This is the one place where a chat is made shorter by hand.
///
/// # Errors
/// When the session does not take the shorter conversation.
pub(super) async fn compact(session: &AgentSession) -> Result<Compacted, Misuse> {
    let messages = session.messages().await;
    let pruned = prune_tool_results(&messages, KEPT, &HeuristicEstimator::default());
    if pruned.results > 0 {
        session.set_messages(pruned.messages).await?;
    }
    Ok(Compacted {
        results: pruned.results,
        freed: pruned.freed,
    })
}

impl Compacted {
    /// In words.
    pub(super) fn told(self) -> String {
        match self.results {
            0 => format!("There was nothing to free: no long tool results are older than the newest {KEPT} messages."),
            1 => format!(
                "1 old tool result was taken out; that freed about {} tokens.",
                self.freed
            ),
            results => format!(
                "{results} old tool results were taken out; that freed about {} tokens.",
                self.freed
            ),
        }
    }
}
