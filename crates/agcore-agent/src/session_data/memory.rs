//! [`SessionMemory`]: facts that the turns of a session share.

use std::{fmt, sync::Arc};

use agcore_chat::Actor;
use agcore_memory::{MemoryError, MemoryErrorKind, MemoryFilter, MemoryItem, MemoryStore, id};

use crate::data_text::escaped;

/// The largest value, in bytes.
const MAX_VALUE: usize = 16 * 1024;

/// The largest size of a [snapshot](SessionMemory::snapshot), in bytes.
const MAX_SNAPSHOT: usize = 64 * 1024;

/// Facts about a session, by key: what an application or a tool knows and every turn should consider, such as the open order of a
/// customer. They are in a [`MemoryStore`] and outlive compactions of the conversation.
///
/// An agent that was [built with one](crate::AgentBuilder::with_session_memory) adds a [snapshot](Self::snapshot) to the input of a
/// turn whenever it has changed. What was added stays in the conversation as it was, so that prompt caches hit.
///
/// ```
/// use std::sync::Arc;
///
/// use agcore_agent::agent;
/// use agcore_memory::InMemoryStore;
/// use agcore_testkit::{clock::ManualClock, scripted::{ScriptStep, ScriptedProvider}};
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
/// # let model = ScriptedProvider::new([ScriptStep::text("Order 17 is on its way.")]);
/// let store = Arc::new(InMemoryStore::new(Arc::new(ManualClock::new())));
/// let session = agent(model).with_session_memory(store).session()?;
///
/// session.memory()?.set("order", "17, sent on Monday").await?;
/// session.turn("Where is my order?").await?;
/// let sent = session.messages().await[0].text().into_owned();
/// assert!(sent.starts_with("<session-context>\norder: 17, sent on Monday\n</session-context>"));
/// # Ok::<(), agcore_agent::AgentError>(())
/// # }).unwrap();
/// ```
#[derive(Clone)]
pub struct SessionMemory {
    store: Arc<dyn MemoryStore>,
    actor: Arc<Actor>,
    /// The part of all ids that names the session.
    namespace: String,
}

impl SessionMemory {
    /// Creates the memory of a session of an actor. Sessions with other ids, and those of other actors, share nothing with it.
    pub fn new(store: Arc<dyn MemoryStore>, actor: impl Into<Arc<Actor>>, session: &str) -> Self {
        Self {
            store,
            actor: actor.into(),
            namespace: format!("_session_{session}"),
        }
    }

    /// Sets a value, in place of an earlier one.
    ///
    /// # Errors
    /// [`InvalidInput`](MemoryErrorKind::InvalidInput) if the key is empty or the value is larger than 16 KiB; an error of the
    /// store.
    pub async fn set(&self, key: &str, value: impl Into<String>) -> Result<(), MemoryError> {
        let value = value.into();
        if key.trim().is_empty() {
            return Err(MemoryError::new(MemoryErrorKind::InvalidInput, "the key is empty"));
        }
        if value.len() > MAX_VALUE {
            let message = format!(
                "the value of `{key}` has {} bytes; at most {MAX_VALUE} are allowed",
                value.len()
            );
            return Err(MemoryError::new(MemoryErrorKind::InvalidInput, message));
        }
        let item = MemoryItem::new(self.id(key), value).with_owner(Actor::clone(&self.actor));
        self.store.save(item).await
    }

    /// Returns a value.
    ///
    /// # Errors
    /// An error of the store.
    pub async fn get(&self, key: &str) -> Result<Option<String>, MemoryError> {
        let item = self.store.get(&self.actor.tenant, &self.id(key)).await?;
        Ok(item.filter(|item| item.owner == *self.actor).map(|item| item.content))
    }

    /// Removes a value. Returns whether there was one.
    ///
    /// # Errors
    /// An error of the store.
    pub async fn remove(&self, key: &str) -> Result<bool, MemoryError> {
        match self.get(key).await? {
            Some(_) => self.store.delete(&self.actor.tenant, &self.id(key)).await,
            None => Ok(false),
        }
    }

    /// Removes all values. Returns how many there were.
    ///
    /// # Errors
    /// An error of the store.
    pub async fn clear(&self) -> Result<u64, MemoryError> {
        let mut removed = 0;
        for (key, _) in self.entries().await? {
            removed += u64::from(self.remove(&key).await?);
        }
        Ok(removed)
    }

    /// Returns all keys with their values, sorted by key.
    ///
    /// # Errors
    /// An error of the store.
    pub async fn entries(&self) -> Result<Vec<(String, String)>, MemoryError> {
        let prefix = id::join([self.namespace.as_str()]) + "/";
        let filter = MemoryFilter::owned_by(Actor::clone(&self.actor)).with_prefix(prefix);
        let items = self.store.list(&filter).await?;
        let mut entries: Vec<(String, String)> = items
            .into_iter()
            .filter_map(|item| Some((id::split(&item.id)?.pop()?, item.content)))
            .collect();
        entries.sort();
        Ok(entries)
    }

    /// Returns all values as a block of text for a model, one on each line, sorted by key; `None` if there are none. No key and no
    /// value can end the block. Of very large memories, the block contains the first 64 KiB.
    ///
    /// # Errors
    /// An error of the store.
    pub async fn snapshot(&self) -> Result<Option<String>, MemoryError> {
        let entries = self.entries().await?;
        if entries.is_empty() {
            return Ok(None);
        }
        let mut text = "<session-context>\n".to_owned();
        for (index, (key, value)) in entries.iter().enumerate() {
            let line = format!("{}: {}\n", one_line(key), one_line(value));
            if text.len() + line.len() > MAX_SNAPSHOT {
                text += &format!("({} more are not shown)\n", entries.len() - index);
                break;
            }
            text += &line;
        }
        Ok(Some(text + "</session-context>"))
    }

    fn id(&self, key: &str) -> String {
        id::join([self.namespace.as_str(), key])
    }
}

/// Returns a text on one line in which no tag can begin or end.
fn one_line(text: &str) -> String {
    escaped(text).replace(['\r', '\n'], " ")
}

impl fmt::Debug for SessionMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SessionMemory")
            .field("namespace", &self.namespace)
            .finish_non_exhaustive()
    }
}
