//! [`ContextSource`]: the conversation that a router sees.

use std::{fmt, sync::Arc};

use agcore_chat::Message;
use agcore_flow::NodeError;
use agcore_session::{MessageFilter, MessageMetadata, MessageRole, SessionStore, StoredMessage, Visibility};
use async_trait::async_trait;

/// Where the messages of conversations are.
#[async_trait]
pub trait ContextSource: fmt::Debug + Send + Sync {
    /// Returns the last messages of a conversation that belong into the context of a model, the oldest first; all of them if `last`
    /// is `None`.
    async fn messages(&self, conversation: &str, last: Option<u32>) -> Result<Vec<Message>, NodeError>;
}

/// The messages of a session in a store that are visible in the context of models: requests and answers, without calls of tools.
#[derive(Clone)]
pub struct StoredContext {
    store: Arc<dyn SessionStore>,
    tenant: String,
}

impl StoredContext {
    /// Reads the sessions of a tenant. Ids of conversations are those of sessions.
    pub fn new(store: Arc<dyn SessionStore>, tenant: impl Into<String>) -> Self {
        Self {
            store,
            tenant: tenant.into(),
        }
    }
}

#[async_trait]
impl ContextSource for StoredContext {
    async fn messages(&self, conversation: &str, last: Option<u32>) -> Result<Vec<Message>, NodeError> {
        let filter = MessageFilter::new().with_visibility(Visibility::CONTEXT);
        let stored = self.store.messages(&self.tenant, conversation, &filter).await?;
        let mut texts: Vec<&StoredMessage> = stored.iter().filter(|stored| is_text(stored)).collect();
        if let Some(last) = last {
            let extra = texts.len().saturating_sub(usize::try_from(last).unwrap_or(usize::MAX));
            texts.drain(..extra);
        }
        // A request without an answer, such as that of a run that was cancelled, is followed by the next one. Models expect one
        // message.
        let turns = texts.chunk_by(|one, other| one.role == other.role);
        Ok(turns.map(message).collect())
    }
}

/// Returns whether a message is a request or an answer.
fn is_text(stored: &StoredMessage) -> bool {
    let is_call = matches!(
        stored.metadata,
        Some(MessageMetadata::ToolCall { .. } | MessageMetadata::ToolResult { .. })
    );
    !is_call && matches!(stored.role, MessageRole::User | MessageRole::Assistant)
}

/// Returns neighbouring messages of one author in the form of a message to a model.
fn message(stored: &[&StoredMessage]) -> Message {
    let texts: Vec<&str> = stored.iter().map(|stored| stored.content.as_str()).collect();
    let text = texts.join("\n\n");
    match stored.first().map(|first| first.role) {
        Some(MessageRole::Assistant) => Message::assistant(text),
        _ => Message::user(text),
    }
}

impl fmt::Debug for StoredContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StoredContext")
            .field("tenant", &self.tenant)
            .finish_non_exhaustive()
    }
}
