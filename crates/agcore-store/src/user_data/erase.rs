//! [`erase_user_data`].

use agcore_chat::Actor;
use agcore_memory::{MemoryStore, knowledge::KnowledgeStore};
use agcore_schedule::ScheduleStore;
use agcore_session::{Journal, conversations_of, quota::QuotaStore};
use agcore_webhook::WebhookStore;
use serde::{Deserialize, Serialize};

use super::UserDataStore;
use crate::error::StoreError;

/// The number of streams that are listed at once.
const PAGE: u64 = 200;

/// The number of entries of a user that were erased, by kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ErasedUserData {
    /// The number of memory items.
    pub items: u64,
    /// The number of pages.
    pub pages: u64,
    /// The number of entities.
    pub entities: u64,
    /// The number of conversations.
    pub conversations: u64,
    /// The number of sessions. Their bill is left.
    pub sessions: u64,
    /// The number of schedules.
    pub schedules: u64,
    /// The number of webhooks.
    pub webhooks: u64,
}

/// Erases everything that a store keeps of a user, in all lines of business, except for the bill: see
/// [`erase_session`](agcore_session::SessionRetention::erase_session). The use of the tenant's quotas
/// stays.
///
/// If that is interrupted, a part is erased, and the next call erases the rest. If nothing is left, nothing happens.
///
/// Stop the user's runs first: what they write meanwhile may be left. Not erased is what others have written about the user, such
/// as the name beside an answer in the session of somebody else.
///
/// # Errors
/// When the storage fails.
pub async fn erase_user_data(store: &dyn UserDataStore, user: &Actor) -> Result<ErasedUserData, StoreError> {
    let mut erased = ErasedUserData {
        // First, so that they start nothing any more.
        schedules: ScheduleStore::erase(store, user).await?,
        sessions: store.erase_sessions(user).await?,
        // After the sessions, whose runs then cause no more messages to anybody.
        webhooks: WebhookStore::erase_webhooks(store, user).await?,
        items: MemoryStore::erase(store, user).await?,
        pages: KnowledgeStore::erase(store, user).await?,
        entities: store.erase_entities(user).await?,
        conversations: 0,
    };
    QuotaStore::erase_quotas(store, user).await?;
    let prefix = conversations_of(user);
    loop {
        let streams = store.streams(&prefix, None, PAGE).await?;
        if streams.is_empty() {
            return Ok(erased);
        }
        for stream in streams {
            erased.conversations += u64::from(Journal::delete(store, &stream).await?);
        }
    }
}
