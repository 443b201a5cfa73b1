//! [`TerminalSettings`]: the window of a chat.

use std::time::Duration;

use agcore_terminal::window::Notify;

use crate::settings::{origin::Chosen, sources::Sources};

/// The time that a turn takes before a person is notified, unless a setting changes it.
const NOTIFY_AFTER: Duration = Duration::from_secs(10);

/// The window of a chat.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TerminalSettings {
    /// Whether the prompt shows the model, the branch, the context and the cost.
    pub status: Chosen<bool>,
    /// Whether the title of the window shows the session.
    pub title: Chosen<bool>,
    /// How people learn that the chat waits for them.
    pub notify: Chosen<Notify>,
    /// The time that a turn must have taken for that.
    pub notify_after: Chosen<Duration>,
}

impl TerminalSettings {
    /// Takes the settings from the files, unless a variable decides whether there are a status and a title.
    pub(super) fn new(sources: &Sources, in_variable: Option<&Chosen<bool>>) -> Self {
        let on = || Chosen::default(true);
        let table = |value: Option<Chosen<bool>>| in_variable.cloned().or(value).unwrap_or_else(on);
        Self {
            status: table(sources.setting(|file| file.terminal.status)),
            title: table(sources.setting(|file| file.terminal.title)),
            notify: sources
                .setting(|file| file.terminal.notify)
                .map_or_else(|| Chosen::default(Notify::default()), |chosen| chosen.map(Notify::from)),
            notify_after: sources
                .setting(|file| file.terminal.notify_after)
                .map_or_else(|| Chosen::default(NOTIFY_AFTER), |chosen| chosen.map(|span| span.0)),
        }
    }
}
