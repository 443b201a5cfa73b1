//! Events of a session.

use std::borrow::Cow;

use agcore_chat::{Text, Timestamp, id};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::Value;

use crate::{error::SessionError, lease::Fence};

/// An event to be stored with a [`Commit`](super::Commit).
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct NewEvent {
    /// The id of the run to which the event belongs.
    pub run: Text,
    /// The kind of the event, by which a reader knows the form of its data.
    pub kind: Text,
    /// The data.
    pub data: EventData,
}

/// Events to be stored in one session, without anything else: a part of a
/// [batch](super::SessionWriter::commit_events).
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct SessionEvents {
    /// The tenant of the session.
    pub tenant: Text,
    /// The id of the session.
    pub session: Text,
    /// The sequence number at which the stream of the session must end, as for [`commit`](super::SessionWriter::commit).
    pub expected: u64,
    /// The events.
    pub events: Vec<NewEvent>,
    /// The lease under which they are written: none is, unless it still holds.
    pub fence: Option<Fence>,
}

/// The data of an event to be stored: a JSON value, or the text of one, which stores write without parsing it.
///
/// ```
/// use agcore_session::EventData;
/// use serde_json::json;
///
/// let data = EventData::serialize(&["a", "b"])?;
/// assert_eq!(data.to_text(), r#"["a","b"]"#);
/// assert_eq!(data, EventData::from(json!(["a", "b"])));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct EventData(Form);

#[derive(Debug, Clone)]
enum Form {
    Value(Value),
    /// Valid JSON.
    Text(String),
}

/// A stored event.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct StoredEvent {
    /// The number of the event within the session: 1, 2, 3 … without gaps, over all runs.
    pub seq: u64,
    /// The id of the run to which the event belongs.
    pub run: String,
    /// The kind of the event.
    pub kind: String,
    /// The data.
    pub data: Value,
    /// The time at which it was stored, set by the store.
    pub created_at: Timestamp,
}

impl EventData {
    /// Writes a value as JSON.
    ///
    /// # Errors
    /// When the value cannot be written as JSON.
    pub fn serialize(value: &impl Serialize) -> Result<Self, serde_json::Error> {
        serde_json::to_string(value).map(|text| Self(Form::Text(text)))
    }

    /// Returns the text of the JSON.
    pub fn to_text(&self) -> Cow<'_, str> {
        match &self.0 {
            Form::Value(value) => Cow::Owned(value.to_string()),
            Form::Text(text) => Cow::Borrowed(text),
        }
    }

    /// Returns the JSON as a value.
    pub fn into_value(self) -> Value {
        match self.0 {
            Form::Value(value) => value,
            // It was written by `serialize`.
            Form::Text(text) => serde_json::from_str(&text).unwrap_or_default(),
        }
    }

    /// Reads the JSON as another type.
    ///
    /// # Errors
    /// When the JSON does not have the form of this type.
    pub fn deserialize<T: DeserializeOwned>(self) -> Result<T, serde_json::Error> {
        match self.0 {
            Form::Value(value) => serde_json::from_value(value),
            Form::Text(text) => serde_json::from_str(&text),
        }
    }
}

impl From<Value> for EventData {
    fn from(value: Value) -> Self {
        Self(Form::Value(value))
    }
}

impl Default for EventData {
    /// Returns `null`.
    fn default() -> Self {
        Value::Null.into()
    }
}

/// Equal data is the same JSON value.
impl PartialEq for EventData {
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Form::Text(one), Form::Text(other)) if one == other => true,
            _ => self.clone().into_value() == other.clone().into_value(),
        }
    }
}

impl SessionEvents {
    /// Creates a part of a batch.
    pub fn new((tenant, session): (impl Into<Text>, impl Into<Text>), expected: u64, events: Vec<NewEvent>) -> Self {
        Self {
            tenant: tenant.into(),
            session: session.into(),
            expected,
            events,
            fence: None,
        }
    }

    /// Writes the events only if a lease still holds.
    #[must_use]
    pub fn with_fence(mut self, fence: Fence) -> Self {
        self.fence = Some(fence);
        self
    }

    /// Checks that every store can keep the events. Stores call this before they write anything.
    ///
    /// # Errors
    /// [`InvalidInput`](crate::SessionErrorKind::InvalidInput) if an event or the fence is not acceptable.
    pub fn check(&self) -> Result<(), SessionError> {
        self.events.iter().try_for_each(NewEvent::check)?;
        self.fence.as_ref().map_or(Ok(()), Fence::check)
    }
}

impl NewEvent {
    /// Creates an event of a run.
    pub fn new(run: impl Into<Text>, kind: impl Into<Text>, data: impl Into<EventData>) -> Self {
        Self {
            run: run.into(),
            kind: kind.into(),
            data: data.into(),
        }
    }

    /// Checks that every store can keep the event.
    ///
    /// # Errors
    /// [`InvalidInput`](crate::SessionErrorKind::InvalidInput) if the run or the kind is not acceptable.
    pub fn check(&self) -> Result<(), SessionError> {
        id::check_named("the id of the run", &self.run)?;
        Ok(id::check_named("the kind of the event", &self.kind)?)
    }

    /// Returns the event as it is stored under a number.
    pub fn store(self, seq: u64, now: Timestamp) -> StoredEvent {
        StoredEvent {
            seq,
            run: self.run.to_string(),
            kind: self.kind.to_string(),
            data: self.data.into_value(),
            created_at: now,
        }
    }
}
