//! [`PlannerMemory`]: what outlives a turn of a planner flow. [`StoredMemory`]: the same in a store.

use std::{fmt, sync::Arc};

use agcore_chat::{Actor, text::clip};
use agcore_flow::NodeError;
use agcore_memory::{MemoryFilter, MemoryItem, MemoryStore, knowledge::KnowledgePage, search::overlap};
use agcore_session::id;
use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use super::state::PlannerState;
use crate::planner::{MemoryHit, RuntimeState};

/// The kind of a [`MemoryNote`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum MemoryNoteKind {
    /// A preference of the user.
    Preference,
    /// A fact about the user or the user's world.
    Fact,
}

/// A note about the user, from a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct MemoryNote {
    /// The kind.
    pub kind: MemoryNoteKind,
    /// The note, in a sentence.
    pub text: String,
}

impl MemoryNote {
    /// Creates a note.
    pub fn new(kind: MemoryNoteKind, text: impl Into<String>) -> Self {
        Self {
            kind,
            text: text.into(),
        }
    }
}

/// The data that outlives a turn of a planner flow: notes about the user, and the states of conversations.
#[async_trait]
pub trait PlannerMemory: fmt::Debug + Send + Sync {
    /// Returns the notes that help with the request of the state, the best first.
    async fn recall(&self, state: &PlannerState) -> Result<Vec<MemoryHit>, NodeError>;

    /// Keeps notes. A note that is there already changes nothing.
    async fn keep(&self, state: &PlannerState, notes: Vec<MemoryNote>) -> Result<(), NodeError>;

    /// Returns the state in which the last turn of a conversation ended.
    async fn conversation(&self, id: &str) -> Result<Option<RuntimeState>, NodeError>;

    /// Keeps the state in which a turn of a conversation ended.
    async fn keep_conversation(&self, id: &str, state: &RuntimeState) -> Result<(), NodeError>;
}

/// The largest number of notes that are recalled.
const MAX_HITS: usize = 8;

/// The number of notes, the newest ones, among which the best are found.
const MAX_NOTES: u64 = 1000;

/// The longest beginning of a note by which it is recognized, in bytes.
const NOTE_ID_BYTES: usize = 200;

/// Notes and conversations as items of a [`MemoryStore`]. Notes are found by the words that they have in common with the request.
#[derive(Clone)]
pub struct StoredMemory {
    store: Arc<dyn MemoryStore>,
    owner: Actor,
}

impl StoredMemory {
    /// Keeps everything as items of an owner.
    pub fn new(store: Arc<dyn MemoryStore>, owner: Actor) -> Self {
        Self { store, owner }
    }
}

#[async_trait]
impl PlannerMemory for StoredMemory {
    async fn recall(&self, state: &PlannerState) -> Result<Vec<MemoryHit>, NodeError> {
        let filter = MemoryFilter::owned_by(self.owner.clone())
            .with_prefix(id::prefix(["planner", "note"]))
            .with_limit(MAX_NOTES);
        let request = state.runtime.prompt().unwrap_or_default();
        let mut hits: Vec<MemoryHit> = Vec::new();
        for item in self.store.list(&filter).await? {
            let page = KnowledgePage::new(item.id.as_str(), item.content.as_str(), "");
            let score = overlap(request, &page);
            // What a user prefers helps with every request.
            let is_preference = item.metadata.get("kind").is_some_and(|kind| kind == "preference");
            if score > 0.0 || is_preference {
                hits.push(MemoryHit::new(item.id, item.content, score));
            }
        }
        hits.sort_by(|one, other| other.score.total_cmp(&one.score).then_with(|| one.id.cmp(&other.id)));
        hits.truncate(MAX_HITS);
        Ok(hits)
    }

    async fn keep(&self, state: &PlannerState, notes: Vec<MemoryNote>) -> Result<(), NodeError> {
        let items = notes
            .into_iter()
            .filter(|note| !note.text.trim().is_empty())
            .map(|note| {
                let kind = match note.kind {
                    MemoryNoteKind::Preference => "preference",
                    MemoryNoteKind::Fact => "fact",
                };
                let key = note.text.trim().to_lowercase();
                let item = MemoryItem::new(
                    id::join(["planner", "note", kind, &clip(&key, NOTE_ID_BYTES)]),
                    note.text,
                );
                let item = item.with_owner(self.owner.clone()).with_metadata("kind", kind);
                match &state.conversation {
                    Some(conversation) => item.with_source(conversation.as_str()),
                    None => item,
                }
            });
        Ok(self.store.save_many(items.collect()).await?)
    }

    async fn conversation(&self, id: &str) -> Result<Option<RuntimeState>, NodeError> {
        let Some(item) = self.store.get(&self.owner.tenant, &conversation_id(id)).await? else {
            return Ok(None);
        };
        if item.owner != self.owner {
            return Ok(None);
        }
        Ok(Some(RuntimeState::from_json(serde_json::from_str(&item.content)?)?))
    }

    async fn keep_conversation(&self, id: &str, state: &RuntimeState) -> Result<(), NodeError> {
        let item = MemoryItem::new(conversation_id(id), serde_json::to_string(state)?);
        Ok(self.store.save(item.with_owner(self.owner.clone())).await?)
    }
}

fn conversation_id(id: &str) -> String {
    id::join(["planner", "conversation", id])
}

impl fmt::Debug for StoredMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StoredMemory")
            .field("owner", &self.owner)
            .finish_non_exhaustive()
    }
}
