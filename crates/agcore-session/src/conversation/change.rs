//! [`Change`]: what happened to a conversation, and its form as a record.

use std::sync::Arc;

use agcore_chat::{Message, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    error::{SessionError, SessionErrorKind},
    journal::{Entry, Record},
};

/// The version of the form of the records.
const VERSION: u32 = 1;

const MESSAGE: &str = "message";
const COMPACTION: &str = "compaction";
const CLEARED: &str = "cleared";
const SNAPSHOT: &str = "snapshot";

/// A message with its number, which is unique within the conversation and never changes.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Numbered {
    pub(super) id: u64,
    pub(super) message: Arc<Message>,
}

/// A change of a conversation: one record of its stream.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Change {
    /// A message was appended.
    Message(Numbered),
    /// The list of messages was replaced.
    Compaction(Vec<Slot>),
    /// All messages were removed. The next message has this number.
    Cleared(u64),
    /// The whole state: what came before does not matter.
    Snapshot { next: u64, messages: Vec<Numbered> },
}

/// A message of a list that replaces another one.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Slot {
    /// The message with this number, unchanged.
    Kept(u64),
    /// A message that is new or has changed.
    New(Numbered),
}

/// The data of a message.
#[derive(Serialize, Deserialize)]
struct MessageData<M> {
    id: u64,
    message: M,
}

/// The data of a compaction.
#[derive(Serialize, Deserialize)]
struct CompactionData {
    messages: Vec<Value>,
}

/// The data of a cleared conversation.
#[derive(Serialize, Deserialize)]
struct ClearedData {
    next: u64,
}

/// The data of a snapshot.
#[derive(Serialize, Deserialize)]
struct SnapshotData {
    next: u64,
    messages: Vec<Value>,
}

impl Change {
    /// Returns the record that is appended to the stream.
    ///
    /// # Errors
    /// When a message cannot be written as JSON.
    pub(super) fn record(&self, at: Timestamp) -> Result<Record, SessionError> {
        let (kind, data) = match self {
            Self::Message(message) => (MESSAGE, message.data()),
            Self::Compaction(slots) => (COMPACTION, compaction_data(slots)),
            Self::Cleared(next) => (CLEARED, serde_json::to_value(ClearedData { next: *next })),
            Self::Snapshot { next, messages } => (SNAPSHOT, snapshot_data(*next, messages)),
        };
        let data = data.map_err(|error| {
            let message = "the message cannot be written as JSON";
            SessionError::with_source(SessionErrorKind::InvalidInput, message, error)
        })?;
        Ok(Record::new(kind, VERSION, at, data))
    }

    /// Reads a record.
    ///
    /// # Errors
    /// When the record was written by a newer version or is damaged.
    pub(super) fn read(entry: Entry) -> Result<Self, SessionError> {
        let Entry { seq, record } = entry;
        if record.version > VERSION {
            let (kind, version) = (&record.kind, record.version);
            return Err(SessionError::new(
                SessionErrorKind::Serialization,
                format!(
                    "record {seq} of the conversation is a `{kind}` of version {version}, but this program knows versions \
                     up to {VERSION}; update the program"
                ),
            ));
        }
        let read = match record.kind.as_str() {
            MESSAGE => Numbered::read(record.data).map(Self::Message),
            COMPACTION => read_compaction(record.data),
            CLEARED => serde_json::from_value(record.data).map(|data: ClearedData| Self::Cleared(data.next)),
            SNAPSHOT => read_snapshot(record.data),
            other => {
                return Err(SessionError::new(
                    SessionErrorKind::Serialization,
                    format!(
                        "record {seq} of the conversation has the unknown kind `{other}`; it was written by another program \
                         or a newer version"
                    ),
                ));
            }
        };
        read.map_err(|error| {
            SessionError::with_source(
                SessionErrorKind::Serialization,
                format!("record {seq} of the conversation is damaged: its data cannot be read"),
                error,
            )
        })
    }

    /// Returns whether a record contains the whole state, so that those before it are not needed.
    pub(super) fn is_whole(record: &Record) -> bool {
        matches!(record.kind.as_str(), CLEARED | SNAPSHOT)
    }
}

impl Numbered {
    fn data(&self) -> serde_json::Result<Value> {
        serde_json::to_value(MessageData {
            id: self.id,
            message: &*self.message,
        })
    }

    fn read(data: Value) -> serde_json::Result<Self> {
        let MessageData { id, message } = serde_json::from_value::<MessageData<Message>>(data)?;
        Ok(Self {
            id,
            message: Arc::new(message),
        })
    }
}

impl Slot {
    fn data(&self) -> serde_json::Result<Value> {
        match self {
            Self::Kept(id) => Ok(Value::from(*id)),
            Self::New(message) => message.data(),
        }
    }

    fn read(data: Value) -> serde_json::Result<Self> {
        match data.as_u64() {
            Some(id) => Ok(Self::Kept(id)),
            None => Numbered::read(data).map(Self::New),
        }
    }
}

fn compaction_data(slots: &[Slot]) -> serde_json::Result<Value> {
    let messages = slots.iter().map(Slot::data).collect::<Result<_, _>>()?;
    serde_json::to_value(CompactionData { messages })
}

fn read_compaction(data: Value) -> serde_json::Result<Change> {
    let CompactionData { messages } = serde_json::from_value(data)?;
    let slots: Result<_, _> = messages.into_iter().map(Slot::read).collect();
    slots.map(Change::Compaction)
}

fn snapshot_data(next: u64, messages: &[Numbered]) -> serde_json::Result<Value> {
    let messages = messages.iter().map(Numbered::data).collect::<Result<_, _>>()?;
    serde_json::to_value(SnapshotData { next, messages })
}

fn read_snapshot(data: Value) -> serde_json::Result<Change> {
    let SnapshotData { next, messages } = serde_json::from_value(data)?;
    let messages = messages.into_iter().map(Numbered::read).collect::<Result<_, _>>()?;
    Ok(Change::Snapshot { next, messages })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn numbered(id: u64) -> Numbered {
        Numbered {
            id,
            message: Arc::new(Message::user("x")),
        }
    }

    #[test]
    fn survives_a_record() {
        let changes = [
            Change::Message(numbered(3)),
            Change::Compaction(vec![Slot::Kept(1), Slot::New(numbered(4)), Slot::Kept(u64::MAX)]),
            Change::Cleared(5),
            Change::Snapshot {
                next: 9,
                messages: vec![numbered(1), numbered(8)],
            },
        ];
        for change in changes {
            let record = change.record(Timestamp::default()).unwrap();
            assert_eq!(Change::read(Entry::new(1, record)).unwrap(), change);
        }
        let record = Change::Message(numbered(3)).record(Timestamp::default()).unwrap();
        assert_eq!(
            record.data,
            json!({"id": 3, "message": {"role": "user", "content": "x"}})
        );
    }

    #[test]
    fn other_records_are_errors() {
        let check = |kind: &str, version, data, expected: &str| {
            let record = Record::new(kind, version, Timestamp::default(), data);
            let error = Change::read(Entry::new(7, record)).unwrap_err();
            assert_eq!(error.kind(), SessionErrorKind::Serialization);
            assert!(error.message().contains(expected), "{error}");
        };
        check(
            "message",
            2,
            json!({}),
            "record 7 of the conversation is a `message` of version 2",
        );
        check("mesage", 1, json!({}), "the unknown kind `mesage`");
        check(
            "message",
            1,
            json!({"id": 1}),
            "record 7 of the conversation is damaged",
        );
        check(
            "message",
            1,
            json!({"id": -1, "message": {"role": "user"}}),
            "is damaged",
        );
        check("compaction", 1, json!({"messages": [1, "2"]}), "is damaged");
        check("snapshot", 1, json!([]), "is damaged");
    }
}
