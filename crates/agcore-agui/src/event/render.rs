//! Writes an [`AguiEvent`] for one reader.

use std::borrow::Cow;

use serde::{Serialize, Serializer, ser::SerializeMap};
use serde_json::{Value, json};

use super::{AguiEvent, Dialect, EventType, Format, Protocol, RUN_CANCELED, members::Members};

/// The member of `metadata` that contains the members of agcore.
const METADATA_KEY: &str = "agcore";

impl AguiEvent {
    /// Returns the event as compact JSON in one line.
    ///
    /// It contains no `null` outside of values that the application or a tool made: the standard members and those of agcore are
    /// absent if they have no value.
    pub fn to_json(&self, format: Format) -> String {
        serde_json::to_string(&self.rendered(format)).unwrap_or_default()
    }

    /// Returns the event as a JSON value. The same as [`to_json`](Self::to_json), for tests and other transports.
    pub fn to_value(&self, format: Format) -> Value {
        serde_json::to_value(self.rendered(format)).unwrap_or_default()
    }

    /// Returns the name of the event's type for this reader. It differs from [`event_type`](Self::event_type) where the reader
    /// does not know the type.
    pub fn type_name(&self, format: Format) -> &'static str {
        self.adapted(format)
            .as_ref()
            .map_or(self.kind, |event| event.kind)
            .as_str()
    }

    fn rendered(&self, format: Format) -> Rendered<'_> {
        Rendered {
            event: self.adapted(format).map_or(Cow::Borrowed(self), Cow::Owned),
            dialect: format.dialect,
        }
    }

    /// Returns what replaces the event for readers that would reject it.
    fn adapted(&self, format: Format) -> Option<Self> {
        match self.kind {
            EventType::RunFinished if self.outcome() == Some("cancelled") && !format.has_cancelled_outcome() => {
                Some(self.as_run_error())
            }
            EventType::RunFinished if format.protocol == Protocol::V0 => self.without_pending_calls(),
            EventType::RunStarted if format.protocol == Protocol::V0 => {
                let mut event = self.clone();
                event.members.remove("protocolVersion").then_some(event)
            }
            EventType::SubagentStarted | EventType::SubagentFinished | EventType::SubagentError
                if format.protocol == Protocol::V0 =>
            {
                Some(self.as_custom())
            }
            _ => None,
        }
    }

    fn outcome(&self) -> Option<&str> {
        self.members.get("outcome")?.get("type")?.as_str()
    }

    fn as_run_error(&self) -> Self {
        let mut event = Self::new(EventType::RunError)
            .with("message", "the run was cancelled")
            .with("code", RUN_CANCELED);
        event.timestamp = self.timestamp;
        event.own = self.own.clone();
        for (name, value) in self.members.iter() {
            match &**name {
                "usage" => event.members.insert("usage", value.clone()),
                "threadId" | "runId" => event.own.insert(name.clone(), value.clone()),
                _ => {}
            };
        }
        event
    }

    fn without_pending_calls(&self) -> Option<Self> {
        self.members.get("outcome")?.get("pendingToolCallIds")?;
        let mut event = self.clone();
        event.members.insert("outcome", json!({"type": "success"}));
        Some(event)
    }

    fn as_custom(&self) -> Self {
        let name = match self.kind {
            EventType::SubagentStarted => "agcore.subagent_started",
            EventType::SubagentFinished => "agcore.subagent_finished",
            _ => "agcore.subagent_error",
        };
        let mut value = self.members.to_map();
        if let Some(id) = &self.subagent {
            value.insert("subagentRunId".to_owned(), id.as_str().into());
        }
        let mut event = Self::new(EventType::Custom).with("name", name).with("value", value);
        event.timestamp = self.timestamp;
        event.own = self.own.clone();
        event
    }
}

/// An event with the place of its members.
struct Rendered<'a> {
    event: Cow<'a, AguiEvent>,
    dialect: Dialect,
}

impl Serialize for Rendered<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let event = &*self.event;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("type", event.kind.as_str())?;
        if let Some(timestamp) = event.timestamp {
            map.serialize_entry("timestamp", &timestamp)?;
        }
        if let Some(subagent) = &event.subagent {
            map.serialize_entry("subagentRunId", subagent)?;
        }
        for (name, value) in event.members.iter() {
            map.serialize_entry(name, value)?;
        }
        if event.own.is_empty() {
            return map.end();
        }
        if self.dialect == Dialect::Superset {
            for (name, value) in event.own.iter() {
                // A standard member has its place already; the encoder makes no other of the same name.
                if event.members.get(name).is_none() {
                    map.serialize_entry(name, value)?;
                }
            }
        }
        map.serialize_entry("metadata", &Metadata(&event.own))?;
        map.end()
    }
}

struct Metadata<'a>(&'a Members);

impl Serialize for Metadata<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(1))?;
        map.serialize_entry(METADATA_KEY, self.0)?;
        map.end()
    }
}
