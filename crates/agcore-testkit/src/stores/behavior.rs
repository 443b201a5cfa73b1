//! [`StoreBehavior`]: a behavior as a value.

use std::{fmt, pin::Pin};

use super::{
    CheckpointStoreSubject, JournalSubject, KnowledgeGraphSubject, KnowledgeStoreSubject, MemoryStoreSubject,
    QuotaStoreSubject, RunLeasesSubject, ScheduleStoreSubject, SessionStoreSubject, SourceStoreSubject,
    TextIndexSubject, UserDataSubject, VectorIndexSubject, WebhookStoreSubject,
};

/// The behaviors of [`memory_store`](super::memory_store).
pub const MEMORY_STORE: &[StoreBehavior<dyn MemoryStoreSubject>] = crate::__memory_store_behaviors!(__store_behaviors);

/// The behaviors of [`journal`](super::journal).
pub const JOURNAL: &[StoreBehavior<dyn JournalSubject>] = crate::__journal_behaviors!(__store_behaviors);

/// The behaviors of [`sessions`](super::sessions).
pub const SESSION_STORE: &[StoreBehavior<dyn SessionStoreSubject>] =
    crate::__session_store_behaviors!(__store_behaviors);

/// The behaviors of [`checkpoints`](super::checkpoints).
pub const CHECKPOINT: &[StoreBehavior<dyn CheckpointStoreSubject>] = crate::__checkpoint_behaviors!(__store_behaviors);

/// The behaviors of [`leases`](super::leases).
pub const RUN_LEASES: &[StoreBehavior<dyn RunLeasesSubject>] = crate::__run_leases_behaviors!(__store_behaviors);

/// The behaviors of [`quotas`](super::quotas).
pub const QUOTA_STORE: &[StoreBehavior<dyn QuotaStoreSubject>] = crate::__quota_store_behaviors!(__store_behaviors);

/// The behaviors of [`schedules`](super::schedules).
pub const SCHEDULE_STORE: &[StoreBehavior<dyn ScheduleStoreSubject>] =
    crate::__schedule_store_behaviors!(__store_behaviors);

/// The behaviors of [`webhooks`](super::webhooks).
pub const WEBHOOK_STORE: &[StoreBehavior<dyn WebhookStoreSubject>] =
    crate::__webhook_store_behaviors!(__store_behaviors);

/// The behaviors of [`knowledge`](super::knowledge).
pub const KNOWLEDGE_STORE: &[StoreBehavior<dyn KnowledgeStoreSubject>] =
    crate::__knowledge_store_behaviors!(__store_behaviors);

/// The behaviors of [`sources`](super::sources).
pub const SOURCE_STORE: &[StoreBehavior<dyn SourceStoreSubject>] = crate::__source_store_behaviors!(__store_behaviors);

/// The behaviors of [`graph`](super::graph).
pub const KNOWLEDGE_GRAPH: &[StoreBehavior<dyn KnowledgeGraphSubject>] =
    crate::__knowledge_graph_behaviors!(__store_behaviors);

/// The behaviors of [`text_index`](super::text_index).
pub const TEXT_INDEX: &[StoreBehavior<dyn TextIndexSubject>] = crate::__text_index_behaviors!(__store_behaviors);

/// The behaviors of [`vector_index`](super::vector_index).
pub const VECTOR_INDEX: &[StoreBehavior<dyn VectorIndexSubject>] = crate::__vector_index_behaviors!(__store_behaviors);

/// The behaviors of [`user_data`](super::user_data).
pub const USER_DATA: &[StoreBehavior<dyn UserDataSubject>] = crate::__user_data_behaviors!(__store_behaviors);

/// The behaviors of [`memory_store_faults`](super::memory_store_faults).
pub const MEMORY_STORE_FAULTS: &[StoreBehavior<dyn MemoryStoreSubject>] =
    crate::__memory_store_fault_behaviors!(__store_behaviors);

/// The behaviors of [`journal_faults`](super::journal_faults).
pub const JOURNAL_FAULTS: &[StoreBehavior<dyn JournalSubject>] = crate::__journal_fault_behaviors!(__store_behaviors);

/// A behavior of stores as a value, for programs that choose themselves what they check. `S` is the kind of its subjects, such
/// as `dyn JournalSubject`.
pub struct StoreBehavior<S: ?Sized> {
    name: &'static str,
    check: Check<S>,
}

type Check<S> = for<'s> fn(&'s S) -> Pin<Box<dyn Future<Output = ()> + Send + 's>>;

impl<S: ?Sized> StoreBehavior<S> {
    const fn new(name: &'static str, check: Check<S>) -> Self {
        Self { name, check }
    }

    /// Returns the name, which is that of the function that checks the behavior.
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// Checks the behavior.
    ///
    /// # Panics
    /// If the check fails.
    pub async fn check(&self, subject: &S) {
        (self.check)(subject).await;
    }
}

impl<S: ?Sized> fmt::Debug for StoreBehavior<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}
