//! [`WebhookEvent`]: what a message of a webhook is about.

use std::{fmt, ops::BitOr};

use agcore_chat::{Actor, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::json;

/// The kind of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "&'static str", try_from = "String")]
#[non_exhaustive]
pub enum EventKind {
    /// A run has ended without an error.
    RunCompleted,
    /// A run has failed.
    RunFailed,
    /// A run was cancelled.
    RunCancelled,
    /// A run waits for a person.
    RunInterrupted,
    /// The owner of the webhook tries it out.
    Test,
}

impl EventKind {
    /// All kinds.
    pub const ALL: [Self; 5] = [
        Self::RunCompleted,
        Self::RunFailed,
        Self::RunCancelled,
        Self::RunInterrupted,
        Self::Test,
    ];

    /// Returns the kind that a run causes when it gets this status of `agcore-session`, if it causes one: `completed`, `failed`,
    /// `cancelled` and `interrupted` do.
    pub fn of_run(status: &str) -> Option<Self> {
        match status {
            "completed" => Some(Self::RunCompleted),
            "failed" => Some(Self::RunFailed),
            "cancelled" => Some(Self::RunCancelled),
            "interrupted" => Some(Self::RunInterrupted),
            _ => None,
        }
    }

    /// Returns the name of the kind in messages and stores, such as `run.completed`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::RunCompleted => "run.completed",
            Self::RunFailed => "run.failed",
            Self::RunCancelled => "run.cancelled",
            Self::RunInterrupted => "run.interrupted",
            Self::Test => "webhook.test",
        }
    }

    /// Returns the kind with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == name)
    }

    /// Returns the bit of the kind in [`EventKinds`].
    const fn bit(self) -> u16 {
        1 << self as u16
    }
}

impl fmt::Display for EventKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl From<EventKind> for &'static str {
    fn from(kind: EventKind) -> Self {
        kind.as_str()
    }
}

impl TryFrom<String> for EventKind {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        Self::from_name(&name).ok_or_else(|| {
            let known = EventKind::ALL.map(Self::as_str).join("`, `");
            format!("`{name}` is not the name of an event; expected one of `{known}`")
        })
    }
}

/// A set of kinds of events. As JSON, it is a list of their names.
///
/// ```
/// use agcore_webhook::{EventKind, EventKinds};
///
/// let ends = EventKinds::from(EventKind::RunCompleted) | EventKind::RunFailed.into();
/// assert!(ends.contains(EventKind::RunFailed) && !ends.contains(EventKind::RunInterrupted));
/// assert_eq!(serde_json::to_string(&ends)?, r#"["run.completed","run.failed"]"#);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(into = "Vec<EventKind>", from = "Vec<EventKind>")]
pub struct EventKinds(u16);

impl EventKinds {
    /// Returns the set of everything that happens to runs.
    pub fn runs() -> Self {
        let kinds = EventKind::ALL.into_iter().filter(|kind| *kind != EventKind::Test);
        kinds.collect()
    }

    /// Returns whether the set has a kind.
    pub const fn contains(self, kind: EventKind) -> bool {
        self.0 & kind.bit() != 0
    }

    /// Returns whether the set has no kind.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Returns the kinds, in the order of [`EventKind::ALL`].
    pub fn iter(self) -> impl Iterator<Item = EventKind> {
        EventKind::ALL.into_iter().filter(move |kind| self.contains(*kind))
    }

    /// Returns the set as a number, for databases: bit 0 is the first kind of [`EventKind::ALL`].
    pub const fn bits(self) -> u16 {
        self.0
    }

    /// Returns the set of a number. Bits that this version does not know are ignored.
    pub fn from_bits(bits: u16) -> Self {
        EventKind::ALL
            .into_iter()
            .filter(|kind| bits & kind.bit() != 0)
            .collect()
    }
}

/// The events of runs.
impl Default for EventKinds {
    fn default() -> Self {
        Self::runs()
    }
}

impl BitOr for EventKinds {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl From<EventKind> for EventKinds {
    fn from(kind: EventKind) -> Self {
        Self(kind.bit())
    }
}

impl FromIterator<EventKind> for EventKinds {
    fn from_iter<I: IntoIterator<Item = EventKind>>(kinds: I) -> Self {
        Self(kinds.into_iter().fold(0, |bits, kind| bits | kind.bit()))
    }
}

impl From<Vec<EventKind>> for EventKinds {
    fn from(kinds: Vec<EventKind>) -> Self {
        kinds.into_iter().collect()
    }
}

impl From<EventKinds> for Vec<EventKind> {
    fn from(kinds: EventKinds) -> Self {
        kinds.iter().collect()
    }
}

/// Prints the names of the kinds.
impl fmt::Debug for EventKinds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter().map(EventKind::as_str)).finish()
    }
}

/// An event about which webhooks are notified.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct WebhookEvent {
    /// The kind.
    pub kind: EventKind,
    /// The time at which it has happened.
    pub at: Timestamp,
    /// The user to whom the thread belongs, with the tenant; for a test, the owner of the webhook.
    pub owner: Actor,
    /// The run, unless the event is a test.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<EventRun>,
}

/// The run of an event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct EventRun {
    /// The thread, which is the session.
    pub thread: String,
    /// The id of the run.
    pub run: String,
}

impl EventRun {
    /// Creates a reference to a run of a thread.
    pub fn new(thread: impl Into<String>, run: impl Into<String>) -> Self {
        Self {
            thread: thread.into(),
            run: run.into(),
        }
    }
}

impl WebhookEvent {
    /// Creates an event about a run.
    pub const fn new(kind: EventKind, at: Timestamp, owner: Actor, run: EventRun) -> Self {
        Self {
            kind,
            at,
            owner,
            run: Some(run),
        }
    }

    /// Creates an event with which the owner of a webhook tries it out.
    pub const fn test(at: Timestamp, owner: Actor) -> Self {
        Self {
            kind: EventKind::Test,
            at,
            owner,
            run: None,
        }
    }

    /// Returns the message that is sent: JSON with `type`, `timestamp` and `data`, as
    /// [Standard Webhooks](https://www.standardwebhooks.com/) recommends. It names the run and the user, and contains nothing of
    /// what was written: the receiver asks the server for that. It is the same for every attempt.
    ///
    /// ```
    /// use agcore_chat::Actor;
    /// use agcore_webhook::{EventKind, EventRun, WebhookEvent};
    ///
    /// let at = "2026-07-03T12:00:00Z".parse()?;
    /// let event = WebhookEvent::new(EventKind::RunCompleted, at, Actor::new("acme", "ann"), EventRun::new("t1", "r1"));
    /// assert_eq!(
    ///     event.body(),
    ///     r#"{"type":"run.completed","timestamp":"2026-07-03T12:00:00.000Z","data":{"threadId":"t1","runId":"r1","userId":"ann"}}"#
    /// );
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn body(&self) -> String {
        let (kind, at) = (json!(self.kind), json!(self.at.to_string()));
        let user = json!(&*self.owner.user);
        let data = match &self.run {
            Some(run) => format!(
                r#"{{"threadId":{},"runId":{},"userId":{user}}}"#,
                json!(run.thread),
                json!(run.run)
            ),
            None => format!(r#"{{"userId":{user}}}"#),
        };
        format!(r#"{{"type":{kind},"timestamp":{at},"data":{data}}}"#)
    }
}
