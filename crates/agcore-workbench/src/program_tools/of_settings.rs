//! The folder and the web pages that the settings open to the tools.

use agcore::tools::RuleState;
use agcore_settings::{SettingsError, Subject, ToolSettings};

use super::{fetch_url::WebAccess, folder::ToolFolder};

impl ToolFolder {
    /// Opens the current directory for the tools.
    ///
    /// # Errors
    /// When the current directory cannot be opened.
    pub fn of_settings(settings: &ToolSettings) -> Result<Self, SettingsError> {
        let readable = settings.permissions.iter().filter_map(|entry| match &entry.subject {
            Subject::Secret(glob) => Some(glob.clone()),
            _ => None,
        });
        Self::open(readable.collect())
            .map(|folder| folder.with_commands(settings.startable.named().clone(), settings.keep_env.clone()))
            .map_err(|error| SettingsError::new(format!("cannot open the current directory for the tools: {error}")))
    }
}

impl WebAccess {
    /// Returns which pages `fetch_url` may reach, and through which proxy.
    pub fn of_settings(settings: &ToolSettings) -> Self {
        let urls = |state: RuleState| {
            let entries = settings.permissions.iter().filter(move |entry| entry.state == state);
            let urls = entries.filter_map(|entry| match &entry.subject {
                Subject::Url(glob) => Some(glob.clone()),
                _ => None,
            });
            urls.collect()
        };
        Self {
            allowed: urls(RuleState::Allow),
            asked: urls(RuleState::Ask),
            denied: urls(RuleState::Deny),
            proxy: settings.proxy.clone(),
        }
    }
}
