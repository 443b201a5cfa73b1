//! [`LogEvent`]: an event of a run in the form in which it is stored.

use std::{borrow::Cow, sync::OnceLock};

use agcore_agui::{AguiEvent, Format};
use agcore_chat::Text;
use agcore_session::{EventData, NewEvent, SessionError, SessionErrorKind, StoredEvent};
use serde_json::{Value, json};

/// An event of a run.
#[derive(Debug, Clone)]
pub(crate) enum LogEvent {
    /// An event for clients.
    Agui(Box<AguiEvent>),
    /// Everything of a source up to this number was added to the run: the events of a session in which an agent of a flow works, or
    /// the records of the flow.
    Source {
        /// The name of the source.
        name: String,
        /// The number.
        seq: u64,
    },
    /// The run is started again, although it had failed: an end before this does not count.
    Restarted,
    /// An event that a later version has stored.
    Unknown,
}

/// An event of a run in its place.
#[derive(Debug, Clone)]
pub(crate) struct LogItem {
    /// The number of the event within the session.
    pub(crate) seq: u64,
    pub(crate) event: LogEvent,
    /// The event as its first reader wanted it. Nearly all readers want the same.
    json: OnceLock<(Format, Box<str>)>,
}

const AGUI: &str = "agui";
const SOURCE: &str = "source";
const RESTARTED: &str = "restarted";
const UNKNOWN: &str = "unknown";

impl LogEvent {
    /// Returns whether nothing follows in this run.
    pub(crate) fn is_end(&self) -> bool {
        matches!(self, Self::Agui(event) if event.is_terminal())
    }

    /// Returns the event for the store.
    ///
    /// # Errors
    /// When the event cannot be written as JSON.
    pub(crate) fn to_new_event(&self, run: &Text) -> Result<NewEvent, SessionError> {
        let (kind, data) = match self {
            Self::Agui(event) => (AGUI, EventData::serialize(event).map_err(serialization)?),
            Self::Source { name, seq } => (SOURCE, json!({"name": name, "seq": seq}).into()),
            Self::Restarted => (RESTARTED, json!({}).into()),
            Self::Unknown => (UNKNOWN, json!({}).into()),
        };
        Ok(NewEvent::new(run.clone(), kind, data))
    }

    /// Reads what [`to_new_event`](Self::to_new_event) has returned. What cannot be read is unknown, so that an event of a later
    /// version does not stop a reader.
    fn from_parts(kind: &str, data: Value) -> Self {
        match kind {
            AGUI => serde_json::from_value(data).map_or(Self::Unknown, Self::Agui),
            SOURCE => match (data["name"].as_str(), data["seq"].as_u64()) {
                (Some(name), Some(seq)) => Self::Source {
                    name: name.to_owned(),
                    seq,
                },
                _ => Self::Unknown,
            },
            RESTARTED => Self::Restarted,
            _ => Self::Unknown,
        }
    }
}

impl LogItem {
    pub(crate) fn new(seq: u64, event: LogEvent) -> Self {
        let json = OnceLock::new();
        Self { seq, event, json }
    }

    /// Returns the event for clients, as JSON, if it is one. It is written once for all readers of the same format.
    pub(crate) fn to_json(&self, format: Format) -> Option<(&AguiEvent, Cow<'_, str>)> {
        let LogEvent::Agui(event) = &self.event else {
            return None;
        };
        let (known, json) = self.json.get_or_init(|| (format, event.to_json(format).into()));
        let json = match *known == format {
            true => Cow::Borrowed(&**json),
            false => Cow::Owned(event.to_json(format)),
        };
        Some((event, json))
    }
}

impl From<StoredEvent> for LogItem {
    fn from(event: StoredEvent) -> Self {
        Self::new(event.seq, LogEvent::from_parts(&event.kind, event.data))
    }
}

fn serialization(error: serde_json::Error) -> SessionError {
    SessionError::with_source(
        SessionErrorKind::Serialization,
        "an event cannot be written as JSON",
        error,
    )
}

#[cfg(test)]
mod tests {
    use agcore_agui::{Encoder, Run};

    use super::*;

    #[test]
    fn what_is_stored_is_read_back() {
        let started = Encoder::new("t", "r").push(Run::started().into()).unwrap().remove(0);
        let stored = LogEvent::Agui(Box::new(started)).to_new_event(&"r".into()).unwrap();
        let LogEvent::Agui(read) = LogEvent::from_parts(&stored.kind, stored.data.into_value()) else {
            panic!("the event was not read");
        };
        assert_eq!(read.member("threadId").unwrap(), "t");
        let source = LogEvent::Source {
            name: "t/r/0/router/1".into(),
            seq: 7,
        };
        let source = source.to_new_event(&"r".into()).unwrap();
        assert!(matches!(
            LogEvent::from_parts(&source.kind, source.data.into_value()),
            LogEvent::Source { name, seq: 7 } if name == "t/r/0/router/1"
        ));
    }

    #[test]
    fn readers_of_all_formats_get_their_own() {
        use agcore_agui::{Dialect, Protocol};

        let mut encoder = Encoder::new("t", "r");
        encoder.push(Run::started().into()).unwrap();
        let cancelled = encoder.push(Run::cancelled().into()).unwrap().remove(0);
        let item = LogItem::new(1, LogEvent::Agui(Box::new(cancelled)));
        let type_of = |dialect| {
            let (_, json) = item.to_json(Format::new(dialect, Protocol::V1)).unwrap();
            serde_json::from_str::<Value>(&json).unwrap()["type"].clone()
        };
        let [standard, superset] = [Dialect::Standard, Dialect::Superset];
        for (dialect, expected) in [
            (superset, "RUN_ERROR"),
            (standard, "RUN_FINISHED"),
            (superset, "RUN_ERROR"),
        ] {
            assert_eq!(type_of(dialect), expected);
        }
        assert!(LogItem::new(2, LogEvent::Unknown).to_json(Format::default()).is_none());
    }

    #[test]
    fn what_cannot_be_read_is_unknown() {
        assert!(matches!(
            LogEvent::from_parts("of_tomorrow", json!({})),
            LogEvent::Unknown
        ));
        assert!(matches!(
            LogEvent::from_parts(AGUI, json!({"version": 1000})),
            LogEvent::Unknown
        ));
        assert!(matches!(
            LogEvent::from_parts(SOURCE, json!({"name": "a", "seq": -1})),
            LogEvent::Unknown
        ));
    }
}
