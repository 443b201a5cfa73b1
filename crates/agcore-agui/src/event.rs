//! [`AguiEvent`]: an event of a run as it is kept in a log, and written in the dialect of each reader.

mod format;
mod kind;
mod members;
mod render;
mod stored;

pub use format::{Dialect, Format, Protocol};
pub use kind::EventType;

use agcore_chat::Text;
use serde_json::Value;

use self::members::Members;

/// The code of the `RUN_ERROR` that ends a cancelled run for clients that do not know the outcome `cancelled`.
pub const RUN_CANCELED: &str = "RUN_CANCELED";

/// The version of AG-UI that is announced in `RUN_STARTED`.
pub const PROTOCOL_VERSION: &str = "1.0";

/// An event of a run, independent of the dialect of its readers.
///
/// A log keeps events in this form ([`Serialize`](serde::Serialize) and [`Deserialize`](serde::Deserialize), with a version), and
/// [`to_json`](Self::to_json) writes each for one reader. Every event of the log is exactly one event for every reader, so the
/// position in the log can be its id.
///
/// ```
/// use agcore_agui::{AguiEvent, Dialect, Encoder, Format, Input, Protocol, Run};
///
/// let mut encoder = Encoder::new("thread_1", "run_1");
/// encoder.push(Input::Run(Run::started()))?;
/// let [cancelled] = &encoder.push(Input::Run(Run::cancelled()))?[..] else { panic!() };
///
/// let stored = serde_json::to_string(cancelled)?;
/// let read: AguiEvent = serde_json::from_str(&stored)?;
/// assert!(read.to_json(Format::default()).contains(r#""outcome":{"type":"cancelled"}"#));
/// let superset = Format::new(Dialect::Superset, Protocol::V1);
/// assert!(read.to_json(superset).contains(r#""code":"RUN_CANCELED""#));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct AguiEvent {
    kind: EventType,
    timestamp: Option<u64>,
    subagent: Option<Text>,
    /// The members that AG-UI 1.0 defines, except those above.
    members: Members,
    /// The members of agcore.
    own: Members,
    /// The members for other protocols, which readers of AG-UI do not get.
    kept: Members,
}

impl AguiEvent {
    pub(crate) fn new(kind: EventType) -> Self {
        Self {
            kind,
            timestamp: None,
            subagent: None,
            members: Members::default(),
            own: Members::default(),
            kept: Members::default(),
        }
    }

    /// Adds a standard member. `null` is never written.
    pub(crate) fn with(mut self, name: &'static str, value: impl Into<Value>) -> Self {
        set(&mut self.members, name, value.into());
        self
    }

    /// Adds a standard member that may be any JSON value, including `null`.
    pub(crate) fn with_any(mut self, name: &'static str, value: Value) -> Self {
        self.members.insert(name, value);
        self
    }

    /// Adds a member of agcore. `null` is never written.
    pub(crate) fn with_own(mut self, name: &'static str, value: impl Into<Value>) -> Self {
        set(&mut self.own, name, value.into());
        self
    }

    /// Adds a member that stays in the log. `null` is never written.
    pub(crate) fn with_kept(mut self, name: &'static str, value: impl Into<Value>) -> Self {
        set(&mut self.kept, name, value.into());
        self
    }

    pub(crate) fn in_subagent(mut self, subagent: Option<&Text>) -> Self {
        self.subagent = subagent.cloned();
        self
    }

    /// Sets the time of the event, in milliseconds since 1970.
    #[must_use]
    pub fn with_timestamp(mut self, millis: u64) -> Self {
        self.timestamp = Some(millis);
        self
    }

    /// Returns the type of the event in the standard dialect of AG-UI 1.0.
    pub fn event_type(&self) -> EventType {
        self.kind
    }

    /// Returns the time of the event in milliseconds since 1970, if it was set.
    pub fn timestamp(&self) -> Option<u64> {
        self.timestamp
    }

    /// Returns the id of the sub-agent to which the event belongs.
    pub fn subagent(&self) -> Option<&str> {
        self.subagent.as_deref()
    }

    /// Returns a standard member, such as `messageId`.
    pub fn member(&self, name: &str) -> Option<&Value> {
        self.members.get(name)
    }

    /// Returns a member of agcore, such as `status`.
    pub fn own_member(&self, name: &str) -> Option<&Value> {
        self.own.get(name)
    }

    /// Returns a member that stays in the log: no reader of AG-UI gets it, but other protocols that translate the log need it.
    ///
    /// The end of a run has `usage`, a [`Usage`](agcore_chat::Usage) with all counters, whatever the
    /// [settings](crate::UsageFields) allow to send.
    ///
    /// ```
    /// use agcore_agui::{Encoder, Format, Run};
    ///
    /// let mut encoder = Encoder::new("thread_1", "run_1");
    /// encoder.push(Run::started().into())?;
    /// let [end] = &encoder.push(Run::finished().into())?[..] else { panic!() };
    /// assert!(end.kept_member("usage").is_some());
    /// assert!(!end.to_json(Format::default()).contains("prompt_tokens"));
    /// # Ok::<(), agcore_agui::EncodeError>(())
    /// ```
    pub fn kept_member(&self, name: &str) -> Option<&Value> {
        self.kept.get(name)
    }

    /// Returns whether the event ends its run.
    pub fn is_terminal(&self) -> bool {
        self.kind.is_terminal()
    }

    /// Appends the text of `next` to that of this event, if both are parts of one message. Otherwise returns `false` and changes
    /// nothing.
    ///
    /// A server that gathers deltas for some time before it stores them makes a single event of them.
    ///
    /// ```
    /// use std::sync::Arc;
    ///
    /// use agcore_agui::{Encoder, Input, Run};
    /// use agcore_chat::{StreamEvent, TextEvent};
    ///
    /// let mut encoder = Encoder::new("thread_1", "run_1");
    /// encoder.push(Input::Run(Run::started()))?;
    /// let mut delta = |text: &str| {
    ///     let event = StreamEvent::new(0, Arc::from("helper"), 0, 0, TextEvent::Text(text.into()));
    ///     encoder.push(event.into()).map(|events| events.into_iter().last().unwrap())
    /// };
    /// let mut batch = delta("Good ")?;
    /// let next = delta("day")?;
    /// assert!(batch.append(&next));
    /// assert_eq!(batch.member("delta").unwrap(), "Good day");
    /// # Ok::<(), agcore_agui::EncodeError>(())
    /// ```
    pub fn append(&mut self, next: &Self) -> bool {
        let is_next = self.kind.is_content()
            && self.kind == next.kind
            && self.subagent == next.subagent
            && self.member("messageId") == next.member("messageId");
        let (Some(Value::String(text)), Some(Value::String(more)), true) =
            (self.members.get_mut("delta"), next.members.get("delta"), is_next)
        else {
            return false;
        };
        text.push_str(more);
        true
    }
}

fn set(members: &mut Members, name: &'static str, value: Value) {
    if !value.is_null() {
        members.insert(name, value);
    }
}
