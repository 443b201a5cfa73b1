//! [`ContextSource`]: the conversation that a router sees.

use std::{fmt, sync::Arc};

use agcore_chat::Message;
use agcore_memory::session::{MessageFilter, MessageMetadata, MessageRole, SessionStore, StoredMessage, Visibility};
use async_trait::async_trait;

use crate::node_error::NodeError;

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
        let mut messages: Vec<Message> = stored.iter().filter_map(message).collect();
        if let Some(last) = last {
            let extra = messages
                .len()
                .saturating_sub(usize::try_from(last).unwrap_or(usize::MAX));
            messages.drain(..extra);
        }
        Ok(messages)
    }
}

/// Returns a request or an answer in the form of a message to a model.
fn message(stored: &StoredMessage) -> Option<Message> {
    match (stored.role, &stored.metadata) {
        (_, Some(MessageMetadata::ToolCall { .. } | MessageMetadata::ToolResult { .. })) => None,
        (MessageRole::User, _) => Some(Message::user(stored.content.as_str())),
        (MessageRole::Assistant, _) => Some(Message::assistant(stored.content.as_str())),
        (MessageRole::System | MessageRole::Tool, _) => None,
    }
}

impl fmt::Debug for StoredContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StoredContext")
            .field("tenant", &self.tenant)
            .finish_non_exhaustive()
    }
}
