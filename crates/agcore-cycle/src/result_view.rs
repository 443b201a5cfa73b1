//! [`ResultView`]: what the model sees of the results of tools.

use std::sync::Arc;

use agcore_chat::Message;

/// Shows the model other texts of tool results than the conversation contains, such as shorter ones.
///
/// Only requests and the measurement of their length use it. The conversation, its records, the events and the hooks around calls
/// of tools have the results as they are. See [`TurnOptions::with_results`](crate::TurnOptions::with_results).
///
/// ```
/// use std::sync::Arc;
///
/// use agcore_chat::Message;
/// use agcore_cycle::{ResultView, ShownResult};
///
/// /// Shows the model that a result is long instead of the result.
/// struct OnlyLengths;
///
/// impl ResultView for OnlyLengths {
///     fn shown(&self, message: &Arc<Message>) -> Option<ShownResult> {
///         let Message::Tool(result) = &**message else { return None };
///         let length = result.content.text().len();
///         let shown = Message::tool(&*result.tool_call_id, format!("{length} bytes"));
///         (length > 1_000).then(|| ShownResult::new(shown, length as u64 / 4))
///     }
/// }
/// ```
pub trait ResultView: Send + Sync {
    /// Returns what requests contain in place of the tool message, or `None` if they contain it as it is.
    ///
    /// Called for all tool messages of each request, so an implementation should remember its answers. The answer for a message
    /// must always be the same: otherwise prompt caches miss, and replays differ.
    fn shown(&self, message: &Arc<Message>) -> Option<ShownResult>;
}

/// A tool message in place of another one.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ShownResult {
    /// The message.
    pub message: Arc<Message>,
    /// The number of tokens by which it is shorter.
    pub saved: u64,
}

impl ShownResult {
    /// Creates an answer.
    pub fn new(message: impl Into<Arc<Message>>, saved: u64) -> Self {
        Self {
            message: message.into(),
            saved,
        }
    }
}
