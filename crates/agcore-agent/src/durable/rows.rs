//! The readable form of a conversation: rows of messages, from the events of recorded outcomes.

use std::time::{Duration, SystemTime};

use agcore_chat::{AssistantMessage, EventKind, Message, ModelCall, ModelEvent, TextEvent, ToolEvent, TurnEvent};
use agcore_session::{MessageMetadata, MessageRole, NewMessage, StoredMessage, Timestamp};
use serde_json::{Map, Value};

use super::session_billing::SessionBilling;

/// The place of a row: the record with which it was written, and its index among the rows of that record. It is the id of the
/// row. Rows that a branch has copied have record 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) record: u64,
    pub(crate) index: usize,
}

impl Place {
    pub(crate) fn id(self) -> String {
        format!("{}.{}", self.record, self.index)
    }

    pub(crate) fn from_id(id: &str) -> Option<Self> {
        let (record, index) = id.split_once('.')?;
        Some(Self {
            record: record.parse().ok()?,
            index: index.parse().ok()?,
        })
    }
}

/// Collects the rows of one record.
pub(super) struct Rows {
    record: u64,
    rows: Vec<NewMessage>,
    /// The last row of the newest reply.
    reply: Option<usize>,
}

impl Rows {
    pub(super) fn new(record: u64) -> Self {
        Self {
            record,
            rows: Vec::new(),
            reply: None,
        }
    }

    /// Adds what an event of a run shows. If the turn `replaces` the history, only its messages after the last reply are new.
    pub(super) fn add(&mut self, event: &EventKind, replaces: bool, run: Option<&str>) {
        let known = self.rows.len();
        self.show(event, replaces);
        for row in self.rows.iter_mut().skip(known) {
            row.run = run.map(str::to_owned);
        }
    }

    /// Adds a message that is not the outcome of a run.
    pub(super) fn input(&mut self, message: &Message) {
        let (role, metadata) = match message {
            Message::User(_) => (MessageRole::User, Some(MessageMetadata::UserInput { data: Map::new() })),
            Message::Assistant(reply) => return self.reply(reply),
            Message::Tool(_) => (MessageRole::Tool, None),
            _ => (MessageRole::System, None),
        };
        self.push(role, message.own_text().into_owned(), metadata);
    }

    fn show(&mut self, event: &EventKind, replaces: bool) {
        match event {
            EventKind::Turn(TurnEvent::Started(messages)) => {
                let last = messages.iter().rposition(|message| message.as_assistant().is_some());
                let new = last.filter(|_| replaces).map_or(0, |last| last + 1);
                messages.iter().skip(new).for_each(|message| self.input(message));
            }
            EventKind::Text(TextEvent::MessageComplete(reply)) => {
                self.reply(reply);
                self.reply = self.rows.len().checked_sub(1);
            }
            EventKind::Model(ModelEvent::Usage(usage)) => {
                if let Some(row) = self.rows.last_mut().filter(|row| row.role == MessageRole::Assistant) {
                    row.usage = Some((**usage).clone());
                }
            }
            EventKind::Tool(ToolEvent::Completed {
                call_id,
                name,
                output,
                is_error,
                ..
            }) => {
                let metadata = MessageMetadata::ToolResult {
                    call_id: call_id.to_string(),
                    name: name.to_string(),
                    is_error: *is_error,
                };
                self.push(MessageRole::Tool, output.to_string(), Some(metadata));
            }
            _ => {}
        }
    }

    /// Charges the reply with the calls that were made for it, and documents other calls in a row of their own.
    pub(super) fn bill(&mut self, billing: &SessionBilling, calls: Vec<ModelCall>, run: Option<&str>) {
        let reply = self.reply;
        let (own, others): (Vec<_>, Vec<_>) = calls.into_iter().partition(|call| call.is_reply && reply.is_some());
        if let Some(row) = reply
            .and_then(|index| self.rows.get_mut(index))
            .filter(|_| !own.is_empty())
        {
            *row = billing.charge(row.clone(), &own);
        }
        if !others.is_empty() {
            let mut row = billing.audit(self.next_id(), &others);
            row.run = run.map(str::to_owned);
            self.rows.push(row);
        }
    }

    pub(super) fn into_rows(self) -> Vec<NewMessage> {
        self.rows
    }

    fn reply(&mut self, reply: &AssistantMessage) {
        let text = reply.text();
        if !text.is_empty() || !reply.has_tool_calls() {
            let metadata = MessageMetadata::AssistantOutput;
            self.push(MessageRole::Assistant, text.into_owned(), Some(metadata));
        }
        for call in reply.tool_calls() {
            let input = call.raw_input();
            let metadata = MessageMetadata::ToolCall {
                call_id: call.id.clone(),
                name: call.name.clone(),
                arguments: serde_json::from_str(input).unwrap_or_else(|_| Value::from(input)),
            };
            self.push(MessageRole::Assistant, String::new(), Some(metadata));
        }
    }

    fn next_id(&self) -> String {
        let (record, index) = (self.record, self.rows.len());
        Place { record, index }.id()
    }

    fn push(&mut self, role: MessageRole, text: String, metadata: Option<MessageMetadata>) {
        let mut row = NewMessage::new(self.next_id(), role, text);
        row.metadata = metadata;
        self.rows.push(row);
    }
}

/// Returns the number of the record with which a message was stored.
pub(crate) fn record_of(message: &StoredMessage) -> Option<u64> {
    Place::from_id(&message.id).map(|place| place.record)
}

/// Returns a time of the store as one of the system.
pub(crate) fn time_of(timestamp: Timestamp) -> SystemTime {
    let millis = u64::try_from(timestamp.as_millis()).unwrap_or(0);
    SystemTime::UNIX_EPOCH + Duration::from_millis(millis)
}

/// Returns a message as that of a branch.
pub(crate) fn copy_of(message: StoredMessage, index: usize) -> NewMessage {
    let mut copy = NewMessage::new(Place { record: 0, index }.id(), message.role, message.content);
    copy.metadata = message.metadata;
    copy.visibility = message.visibility;
    copy.profile_version = message.profile_version;
    copy
}
