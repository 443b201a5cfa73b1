//! [`UserDataStore`]: everything that a store keeps of a user, to be exported or erased.

mod row;
mod export;
mod erase;

pub use self::{
    erase::{ErasedUserData, erase_user_data},
    export::export_user_data,
    row::{UserDataRow, UserUsage, UserWebhook},
};

use std::fmt::Debug;

use agcore_chat::Actor;
use agcore_memory::{
    MemoryItem, MemoryStore,
    graph::{Entity, KnowledgeGraph},
    knowledge::{KnowledgePage, KnowledgeStore},
};
use agcore_schedule::{Schedule, ScheduleStore};
use agcore_session::{
    CheckpointStore, Session, SessionStore,
    quota::{Quota, QuotaStore},
};
use agcore_webhook::{Webhook, WebhookStore};
use async_trait::async_trait;

use crate::error::StoreError;

/// A store that implements all contracts, and can list what belongs to a user in all lines of business.
///
/// Lists are ordered by their ids and read in pages: `after` is the id of the last row of the page before.
///
/// Every implementation must pass the suite `agcore_testkit::stores::user_data`.
#[async_trait]
pub trait UserDataStore:
    MemoryStore
    + KnowledgeStore
    + KnowledgeGraph
    + SessionStore
    + CheckpointStore
    + ScheduleStore
    + WebhookStore
    + QuotaStore
    + Debug
{
    /// Returns memory items of a user, also those that have expired and were not removed yet.
    ///
    /// # Errors
    /// When the storage fails.
    async fn items_of(&self, user: &Actor, after: Option<&str>, limit: u64) -> Result<Vec<MemoryItem>, StoreError>;

    /// Returns pages of a user.
    ///
    /// # Errors
    /// When the storage fails.
    async fn pages_of(&self, user: &Actor, after: Option<&str>, limit: u64) -> Result<Vec<KnowledgePage>, StoreError>;

    /// Returns entities of a user.
    ///
    /// # Errors
    /// When the storage fails.
    async fn entities_of(&self, user: &Actor, after: Option<&str>, limit: u64) -> Result<Vec<Entity>, StoreError>;

    /// Returns sessions of a user, also those that were erased.
    ///
    /// # Errors
    /// When the storage fails.
    async fn sessions_of(&self, user: &Actor, after: Option<&str>, limit: u64) -> Result<Vec<Session>, StoreError>;

    /// Returns schedules of a user.
    ///
    /// # Errors
    /// When the storage fails.
    async fn schedules_of(&self, user: &Actor, after: Option<&str>, limit: u64) -> Result<Vec<Schedule>, StoreError>;

    /// Returns webhooks of a user, with their secrets.
    ///
    /// # Errors
    /// When the storage fails.
    async fn webhooks_of(&self, user: &Actor, after: Option<&str>, limit: u64) -> Result<Vec<Webhook>, StoreError>;

    /// Returns the quotas of a user, at most one for each window. Those of a whole tenant and of each user are not among them.
    ///
    /// # Errors
    /// When the storage fails.
    async fn quotas_of(&self, user: &Actor) -> Result<Vec<Quota>, StoreError>;

    /// Returns what a user has used, at most once for each window.
    ///
    /// # Errors
    /// When the storage fails.
    async fn usage_of(&self, user: &Actor) -> Result<Vec<UserUsage>, StoreError>;

    /// Returns the names of streams that begin with a text.
    ///
    /// # Errors
    /// When the storage fails.
    async fn streams(&self, prefix: &str, after: Option<&str>, limit: u64) -> Result<Vec<String>, StoreError>;
}
