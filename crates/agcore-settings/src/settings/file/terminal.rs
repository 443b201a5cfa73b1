//! The table `[terminal]`: the window of a chat.

use agcore_terminal::window::Notify;
use serde::Deserialize;

use super::duration::Span;

/// The table `[terminal]`.
#[derive(Debug, Default, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TerminalTable {
    /// Whether the prompt shows the model, the branch, the context and the cost.
    pub(crate) status: Option<bool>,
    /// Whether the title of the window shows the session.
    pub(crate) title: Option<bool>,
    /// How people learn that the chat waits for them.
    pub(crate) notify: Option<NotifyName>,
    /// The time that a turn must have taken for that.
    pub(crate) notify_after: Option<Span>,
}

/// The way of a notification.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum NotifyName {
    /// None.
    Off,
    /// The bell of the terminal.
    Bell,
    /// A notification of the desktop.
    Desktop,
}

impl From<NotifyName> for Notify {
    fn from(name: NotifyName) -> Self {
        match name {
            NotifyName::Off => Self::Off,
            NotifyName::Bell => Self::Bell,
            NotifyName::Desktop => Self::Desktop,
        }
    }
}
