//! [`SessionResults`]: the results of a session, as its model sees them.

use std::{
    collections::VecDeque,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use agcore_chat::{Content, Message, TokenEstimator, ToolMessage};
use agcore_cycle::{ResultView, ShownResult};
use agcore_tools::shortened;

use super::settings::{READ_RESULT, ResultCompression};

/// The most bytes of results that are remembered beside the conversation.
const MAX_BYTES: usize = 64 << 20;

/// The results of a session, as its model sees them. What was shortened stays readable for the model, for some time also after it
/// was removed from the conversation.
pub(crate) struct SessionResults {
    settings: Arc<ResultCompression>,
    estimator: Arc<dyn TokenEstimator>,
    known: Mutex<VecDeque<Known>>,
}

/// A long result.
struct Known {
    original: Arc<Message>,
    text: Arc<str>,
    /// The message that the model sees, if it is not the result itself.
    shown: Option<ShownResult>,
}

impl SessionResults {
    pub(super) fn new(settings: Arc<ResultCompression>, estimator: Arc<dyn TokenEstimator>) -> Self {
        Self {
            settings,
            estimator,
            known: Mutex::default(),
        }
    }

    /// Learns the results of a conversation, before the model is asked.
    pub(crate) fn learn(&self, messages: &[Arc<Message>]) {
        for message in messages {
            self.shown(message);
        }
    }

    /// Returns the text of a result that was shortened.
    pub(super) fn text(&self, call: &str) -> Option<Arc<str>> {
        let known = self.known();
        let mut shortened = known.iter().rev().filter(|known| known.shown.is_some());
        shortened
            .find(|known| id(&known.original) == Some(call))
            .map(|known| Arc::clone(&known.text))
    }

    /// Returns the ids of the newest results that were shortened.
    pub(super) fn newest(&self, count: usize) -> Vec<String> {
        let known = self.known();
        let shortened = known.iter().rev().filter(|known| known.shown.is_some());
        shortened
            .filter_map(|known| id(&known.original))
            .take(count)
            .map(str::to_owned)
            .collect()
    }

    fn known(&self) -> MutexGuard<'_, VecDeque<Known>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns what the model sees of a long result.
    fn shorten(&self, result: &ToolMessage, text: &str) -> Option<ShownResult> {
        let before = self.estimator.text(text);
        if before <= self.settings.threshold {
            return None;
        }
        let short = shortened(text)?;
        let text = format!(
            "[This result was shortened. `{READ_RESULT}` with the id \"{}\" returns the lines that are left out of its {}, or \
             those that contain a text.]\n{}",
            result.tool_call_id, short.lines, short.text
        );
        let saved = before.saturating_sub(self.estimator.text(&text));
        let shown = ToolMessage {
            content: text.into(),
            ..result.clone()
        };
        (saved > 0).then(|| ShownResult::new(Message::Tool(shown), saved))
    }
}

impl ResultView for SessionResults {
    fn shown(&self, message: &Arc<Message>) -> Option<ShownResult> {
        let Message::Tool(result) = &**message else {
            return None;
        };
        let bound = self.estimator.text_upper_bound(length(&result.content)?);
        if bound.is_some_and(|tokens| tokens <= self.settings.threshold)
            || !self.settings.applies_to(result.name.as_deref().unwrap_or_default())
        {
            return None;
        }
        if let Some(known) = self
            .known()
            .iter()
            .rev()
            .find(|known| Arc::ptr_eq(&known.original, message))
        {
            return known.shown.clone();
        }
        let text = result.content.text();
        let shown = self.shorten(result, &text);
        let mut known = self.known();
        known.push_back(Known {
            original: Arc::clone(message),
            text: text.into(),
            shown: shown.clone(),
        });
        let mut bytes: usize = known.iter().map(|known| known.text.len()).sum();
        while bytes > MAX_BYTES
            && let Some(oldest) = known.pop_front()
        {
            bytes -= oldest.text.len();
        }
        shown
    }
}

impl fmt::Debug for SessionResults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SessionResults").finish_non_exhaustive()
    }
}

fn id(message: &Message) -> Option<&str> {
    match message {
        Message::Tool(result) => Some(&result.tool_call_id),
        _ => None,
    }
}

/// Returns the length of a content that is only text.
fn length(content: &Content) -> Option<usize> {
    match content {
        Content::Text(text) => Some(text.len()),
        Content::Parts(parts) => parts.iter().map(|part| part.as_text().map(str::len)).sum(),
    }
}
