//! [`Settings`]: read from options, the environment, `.env`, `agcore.toml` and defaults, in this order of precedence.

// The parsers of the files are pure and use nothing else of this crate, so that the fuzz target can include them.
mod error;
mod dotenv;
mod permissions;
mod file;

mod origin;
mod proxy;
mod sources;
mod tools;
mod choices;

use agcore::llm::ProviderConfig;

pub(crate) use self::{
    choices::{Choices, Unknown},
    origin::{Chosen, Origin},
    permissions::{PermissionEntry, Subject},
    proxy::shown_proxy,
    tools::ToolSettings,
};

use self::error::SettingsError;
use crate::{args::SettingsArgs, exit::Failure};

/// The settings of a chat.
#[derive(Debug)]
pub(crate) struct Settings {
    /// The provider and its model.
    pub(crate) provider: ProviderConfig,
    /// The instructions for the agent.
    pub(crate) system: String,
    /// Whether typed lines are kept for the next chat.
    pub(crate) history: bool,
    /// Whether spans include message content.
    pub(crate) trace_content: bool,
    /// Decides which tools may run.
    pub(crate) tools: ToolSettings,
}

impl Settings {
    /// Reads the settings of a chat from all sources.
    ///
    /// # Errors
    /// When a source cannot be read, or a setting is invalid, unknown or missing.
    pub(crate) fn read(args: &SettingsArgs) -> Result<Self, Failure> {
        let choices = Choices::read(args)?;
        choices.check_unknown()?;
        choices.model()?;
        Ok(Self {
            provider: choices.provider_config(),
            system: choices.system.value,
            history: choices.history.value,
            trace_content: choices.trace_content.value,
            tools: choices.tools,
        })
    }
}

impl From<SettingsError> for Failure {
    fn from(error: SettingsError) -> Self {
        Self::usage(error.to_string())
    }
}

/// Parses the `[permissions]` table of a settings file.
#[cfg(test)]
pub(crate) fn permissions_of(path: &std::path::Path, text: &str) -> Result<Vec<PermissionEntry>, Failure> {
    Ok(file::File::parse(path, text)?.entries)
}
