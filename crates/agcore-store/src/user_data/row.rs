//! [`UserDataRow`]: a line of an export.

use agcore_chat::{Actor, Timestamp};
use agcore_memory::{
    MemoryItem,
    graph::{Entity, Relation},
    knowledge::KnowledgePage,
};
use agcore_schedule::{Occurrence, Schedule};
use agcore_session::{
    Approval, Checkpoint, Record, Run, Session, SessionDocument, StoredCall, StoredEvent, StoredMessage,
    quota::{Quota, QuotaAmount, QuotaWindow},
};
use agcore_webhook::{Delivery, EventKinds, PauseReason, Webhook, WebhookScope};
use serde::{Deserialize, Serialize};

/// A row that belongs to a user: a line of an export, as a JSON object.
///
/// ```
/// use agcore_memory::MemoryItem;
/// use agcore_store::user_data::UserDataRow;
///
/// let row = UserDataRow::Item { item: MemoryItem::new("notes/tea", "Ann likes green tea.") };
/// let line = serde_json::to_string(&row)?;
/// assert!(line.starts_with(r#"{"row":"item","item":{"id":"notes/tea","#));
/// assert_eq!(serde_json::from_str::<UserDataRow>(&line)?, row);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "row", rename_all = "snake_case")]
#[non_exhaustive]
pub enum UserDataRow {
    /// A memory item.
    Item {
        /// The item.
        item: MemoryItem,
    },
    /// A page of knowledge.
    Page {
        /// The page.
        page: KnowledgePage,
    },
    /// An entity of the graph.
    Entity {
        /// The entity.
        entity: Entity,
    },
    /// A relation that leads from an entity of the user.
    Relation {
        /// The relation.
        relation: Relation,
    },
    /// A record of a conversation or of a session.
    Record {
        /// The name of the stream.
        stream: String,
        /// The number of the record in the stream.
        seq: u64,
        /// The record.
        record: Record,
    },
    /// A session.
    Session {
        /// The session.
        session: Box<Session>,
    },
    /// A message of a session.
    Message {
        /// The id of the session.
        session: String,
        /// The message.
        message: Box<StoredMessage>,
    },
    /// A run of a session.
    Run {
        /// The id of the session.
        session: String,
        /// The run.
        run: Run,
    },
    /// A tool call of a session.
    Call {
        /// The id of the session.
        session: String,
        /// The call.
        call: StoredCall,
    },
    /// A checkpoint of a run.
    Checkpoint {
        /// The id of the session.
        session: String,
        /// The id of the run.
        run: String,
        /// The checkpoint.
        checkpoint: Checkpoint,
    },
    /// An event of a session.
    Event {
        /// The id of the session.
        session: String,
        /// The event.
        event: StoredEvent,
    },
    /// The document of a session.
    Document {
        /// The id of the session.
        session: String,
        /// The document.
        document: SessionDocument,
    },
    /// A question of a session.
    Approval {
        /// The question with its answer.
        approval: Approval,
    },
    /// A schedule.
    Schedule {
        /// The schedule.
        schedule: Box<Schedule>,
    },
    /// An occurrence of a schedule.
    Occurrence {
        /// The id of the schedule.
        schedule: String,
        /// The occurrence.
        occurrence: Occurrence,
    },
    /// A webhook.
    Webhook {
        /// The webhook, without its secrets.
        webhook: Box<UserWebhook>,
    },
    /// A message to a webhook.
    Delivery {
        /// The id of the webhook.
        webhook: String,
        /// The message.
        delivery: Box<Delivery>,
    },
    /// A quota of the user.
    Quota {
        /// The quota.
        quota: Quota,
    },
    /// The amount that the user has used within a window.
    Usage {
        /// The window, with the amount.
        usage: UserUsage,
    },
}

/// The amount that a user has used within a window: the last one of its length in which there was anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct UserUsage {
    /// The length of the window.
    pub window: QuotaWindow,
    /// The beginning of the window.
    pub start: Timestamp,
    /// The amount.
    pub used: QuotaAmount,
}

impl UserUsage {
    #[cfg(any(feature = "postgres", feature = "sqlite"))]
    pub(crate) fn new((window, counted): (QuotaWindow, agcore_session::quota::Counted)) -> Self {
        Self {
            window,
            start: counted.start,
            used: counted.used,
        }
    }
}

/// A [`Webhook`] without its secrets.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct UserWebhook {
    /// The id, unique within the tenant.
    pub id: String,
    /// The user to whom the webhook belongs, with the tenant.
    pub owner: Actor,
    /// Whose runs it is about.
    pub scope: WebhookScope,
    /// The title, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The URL to which messages are sent.
    pub url: String,
    /// The events that are sent.
    pub events: EventKinds,
    /// Why the webhook is paused, if it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paused: Option<PauseReason>,
    /// The time at which the webhook was created.
    pub created_at: Timestamp,
    /// The time at which it was changed last.
    pub updated_at: Timestamp,
}

impl From<Webhook> for UserWebhook {
    fn from(webhook: Webhook) -> Self {
        Self {
            id: webhook.id,
            owner: webhook.owner,
            scope: webhook.scope,
            title: webhook.title,
            url: webhook.url,
            events: webhook.events,
            paused: webhook.paused,
            created_at: webhook.created_at,
            updated_at: webhook.updated_at,
        }
    }
}
