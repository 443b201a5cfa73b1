//! The messages that a run adds to its conversation.

use agcore_session::{MessageMetadata, MessageRole, NewMessage, Visibility};
use serde_json::Map;

use super::RouterState;

impl RouterState {
    /// Returns the messages that the run adds to its conversation, in order. Their ids begin with `prefix`.
    ///
    /// In the mode *chat*, users and models see the request and the answer. In the mode *automation*, the request, which no user
    /// wrote, is hidden, and only users see the answer. Only users see the text of the memory stage. The decision of the router is
    /// an audit message.
    ///
    /// ```
    /// use agcore_flow_files::{Job, RouterState};
    /// use agcore_session::Visibility;
    ///
    /// let chat = RouterState::new("Hello").messages("run-1");
    /// assert_eq!(chat[0].visibility, Visibility::EVERYWHERE);
    /// let automation = RouterState::new("Write the report").with_job(Job::default()).messages("run-2");
    /// assert_eq!(automation[0].visibility, Visibility::NOWHERE);
    /// ```
    pub fn messages(&self, prefix: &str) -> Vec<NewMessage> {
        let is_chat = self.job.is_none();
        let id = |name: &str| format!("{prefix}-{name}");
        let (input, output) = match is_chat {
            true => (Visibility::EVERYWHERE, Visibility::EVERYWHERE),
            false => (Visibility::NOWHERE, Visibility::HISTORY),
        };
        let answer = |name: &str, text: String, visibility| {
            NewMessage::new(id(name), MessageRole::Assistant, text)
                .with_metadata(MessageMetadata::AssistantOutput)
                .with_visibility(visibility)
        };
        let request = NewMessage::new(id("request"), MessageRole::User, self.request.as_str());
        let metadata = MessageMetadata::UserInput { data: Map::new() };
        let mut messages = vec![request.with_metadata(metadata).with_visibility(input)];
        if let Some(decision) = self
            .router
            .as_ref()
            .and_then(|router| serde_json::to_string(router).ok())
        {
            messages.push(NewMessage::audit(id("router"), decision));
        }
        messages.extend(self.text().map(|text| answer("answer", text, output)));
        messages.extend(
            self.memory
                .clone()
                .map(|text| answer("memory", text, Visibility::HISTORY)),
        );
        messages
    }
}
