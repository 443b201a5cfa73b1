//! The messages that a run adds to its conversation.

use agcore_session::{MessageMetadata, MessageRole, NewMessage, Visibility};
use serde::Serialize;
use serde_json::Map;

use super::StagedState;

impl StagedState {
    /// Returns the messages that the run adds to its conversation, in order. Their ids begin with `prefix`.
    ///
    /// Users and models see the request and the answer. The results of the stages are audit messages.
    ///
    /// ```
    /// use agcore_flow_files::StagedState;
    /// use agcore_session::Visibility;
    ///
    /// let messages = StagedState::new("Hello").messages("run-1");
    /// assert_eq!((messages[0].id.as_str(), messages[0].visibility), ("run-1-request", Visibility::EVERYWHERE));
    /// ```
    pub fn messages(&self, prefix: &str) -> Vec<NewMessage> {
        let id = |name: &str| format!("{prefix}-{name}");
        let metadata = MessageMetadata::UserInput { data: Map::new() };
        let request = NewMessage::new(id("request"), MessageRole::User, self.request.as_str());
        let mut messages = vec![request.with_metadata(metadata).with_visibility(Visibility::EVERYWHERE)];
        let results = [
            ("intent", text(self.intent.as_ref())),
            ("execution", text(self.execution.as_ref())),
            ("report", text(self.report.as_ref())),
        ];
        let results = results.into_iter().filter_map(|(name, text)| Some((name, text?)));
        messages.extend(results.map(|(name, text)| NewMessage::audit(id(name), text)));
        messages.extend(self.answer().map(|answer| {
            NewMessage::new(id("answer"), MessageRole::Assistant, answer)
                .with_metadata(MessageMetadata::AssistantOutput)
                .with_visibility(Visibility::EVERYWHERE)
        }));
        messages
    }
}

fn text(result: Option<&impl Serialize>) -> Option<String> {
    serde_json::to_string(result?).ok()
}
