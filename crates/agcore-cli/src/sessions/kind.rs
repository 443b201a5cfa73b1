//! [`SessionKind`]: what happens in a session.

use agcore::session::Session;
use serde_json::Value;

/// The name of the kind in the metadata of a session.
pub(crate) const KIND: &str = "kind";

/// The kind of work that happens in a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SessionKind {
    /// Anything: a chat, a task, a run of a flow.
    Any,
    /// A task of `agcore run`.
    Task,
}

impl SessionKind {
    /// Returns the kind as it is written in the metadata of new sessions.
    pub(crate) fn name(self) -> Option<&'static str> {
        match self {
            Self::Any => None,
            Self::Task => Some("task"),
        }
    }

    /// Returns whether a session is of this kind.
    pub(crate) fn is_of(self, session: &Session) -> bool {
        let name = session.metadata.get(KIND).and_then(Value::as_str);
        self.name().is_none_or(|wanted| name == Some(wanted))
    }
}
