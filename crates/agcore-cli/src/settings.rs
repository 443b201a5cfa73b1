//! [`Settings`]: options over environment over `.env` over `agcore.toml` over defaults.

// The text of the files: pure, and without anything else of this crate, so that it can be fuzzed by itself.
mod fault;
mod place;
mod dotenv;
mod permissions;
mod file;

mod origin;
mod sources;
mod tools;
mod choices;

use agcore::llm::ProviderConfig;

pub(crate) use self::{
    choices::{Choices, Unknown},
    origin::{Chosen, Origin},
    permissions::{Subject, Wish},
    tools::ToolSettings,
};

use self::fault::Fault;
use crate::{args::SettingsArgs, exit::Failure};

/// What a chat needs to know, from wherever it came.
#[derive(Debug)]
pub(crate) struct Settings {
    /// Who answers.
    pub(crate) provider: ProviderConfig,
    /// The agent's instructions.
    pub(crate) system: String,
    /// Whether what is typed is kept for the next chat.
    pub(crate) history: bool,
    /// Whether spans hold what is said.
    pub(crate) trace_content: bool,
    /// Which tools may run.
    pub(crate) tools: ToolSettings,
}

impl Settings {
    /// Gathers the settings of a chat.
    ///
    /// # Errors
    /// What cannot be read or is missing, where it stands, and what to do.
    pub(crate) fn gather(args: &SettingsArgs) -> Result<Self, Failure> {
        let choices = Choices::gather(args)?;
        choices.check_members()?;
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

impl From<Fault> for Failure {
    fn from(fault: Fault) -> Self {
        Self::usage(fault.0)
    }
}

/// What the text of a settings file says about permissions.
#[cfg(test)]
pub(crate) fn permissions_of(path: &std::path::Path, text: &str) -> Result<Vec<Wish>, Failure> {
    Ok(file::File::parse(path, text)?.wishes)
}
