//! [`Settings`]: read from options, the environment, the folder's `.env` and `agcore.toml`, the user's `agcore.toml` and
//! defaults, in this order of precedence. Most settings of a folder are used only if the user trusts it.

// The parsers of the files are pure and use nothing else of this crate, so that the fuzz target can include them.
mod error;
mod dotenv;
mod permissions;
mod serve;
mod hooks;
mod duration;
mod limits;
mod price_table;
mod guards;
mod explanation;
mod file;

mod model_name;
mod server_text;
mod effect;
mod context;
mod folder;
mod report;
mod origin;
mod proxy;
mod stored_keys;
mod sources;
mod selection;
mod mcp;
mod project;
mod tools;
mod model_limits;
mod model_prices;
mod choices;

use std::path::Path;

use agcore::{
    LlmError,
    catalog::ModelPrice,
    llm::{ProviderConfig, layer::retry::RetryPolicy},
};

pub(crate) use self::{
    choices::{Choices, Unknown},
    context::ContextFiles,
    effect::Effect,
    folder::Folder,
    hooks::{HookEntry, HookEvent},
    mcp::{McpServers, NamedServer},
    model_limits::ModelLimits,
    origin::{Chosen, Origin},
    permissions::{PermissionEntry, Subject},
    project::{FileAgent, FlowFiles, Project},
    proxy::shown_proxy,
    report::FolderReport,
    serve::{BusyName, JwtTable, LimitsTable, MediaName, RetentionTable, ServeTable},
    tools::ToolSettings,
};

use self::error::SettingsError;
use crate::{exit::Failure, render::Theme};

/// The settings of a chat.
#[derive(Debug)]
pub(crate) struct Settings {
    /// The provider and its model.
    pub(crate) provider: ProviderConfig,
    /// The timeouts and retries of the provider.
    pub(crate) limits: ModelLimits,
    /// The prices of `[prices]`, and the first file that has some.
    pub(crate) prices: Option<Chosen<Vec<ModelPrice>>>,
    /// The instructions for the agent, including those of the project.
    pub(crate) system: String,
    /// The default instructions, if no setting replaces them. Chats add their environment.
    pub(crate) default_system: Option<String>,
    /// Whether typed lines are kept for the next chat.
    pub(crate) history: bool,
    /// The theme of the output.
    pub(crate) theme: Theme,
    /// Whether spans include message content.
    pub(crate) trace_content: bool,
    /// Decides which tools may run.
    pub(crate) tools: ToolSettings,
    /// The instructions of the project.
    pub(crate) context_files: ContextFiles,
    /// The table `[serve]`, of the first file that has one.
    pub(crate) serve: Option<Chosen<ServeTable>>,
    report: FolderReport,
}

impl Settings {
    /// Takes the settings of a chat from all settings.
    ///
    /// # Errors
    /// When a setting is unknown or missing.
    pub(crate) fn new(mut choices: Choices) -> Result<Self, Failure> {
        choices.check_unknown()?;
        choices.model()?;
        // Also the one of an option or of `.env`.
        choices.tools.proxy.clone_from(&choices.proxy.value);
        let key = choices.key.as_ref().map(|key| &key.value);
        choices.tools.redaction = choices.tools.redaction.with_key(key);
        Ok(Self {
            provider: choices.provider_config(),
            limits: choices.limits,
            prices: choices.prices,
            system: choices.context_files.appended_to(&choices.system.value),
            default_system: (choices.system.origin == Origin::Default).then_some(choices.system.value),
            history: choices.history.value,
            theme: choices.theme.value,
            trace_content: choices.trace_content.value,
            tools: choices.tools,
            context_files: choices.context_files,
            serve: choices.serve,
            report: choices.report,
        })
    }

    /// Returns when and how often a failed request is sent again.
    pub(crate) fn retry(&self) -> RetryPolicy {
        self.limits.retry.clone()
    }

    /// Returns whether the current directory is trusted, in words.
    pub(crate) fn trust(&self) -> String {
        self.report.trust.describe()
    }

    /// Returns the current directory if it is trusted.
    pub(crate) fn trusted_folder(&self) -> Option<&Path> {
        let folder = self.report.folder.as_deref();
        folder.filter(|_| self.report.trust.is_given())
    }

    /// Returns what is not used because the folder is not trusted.
    pub(crate) fn disabled(&self) -> &[Effect] {
        &self.report.ignored
    }

    /// Converts an error of a provider that cannot be built, and adds what to do about a missing key.
    pub(crate) fn setup_failure(&self, error: LlmError) -> Failure {
        self.report.setup_failure(error)
    }

    /// Returns the settings with these entries in the list `allow` of `[permissions]`.
    ///
    /// # Errors
    /// When an entry is invalid.
    pub(crate) fn allowing(mut self, entries: &[String]) -> Result<Self, Failure> {
        for entry in entries {
            self.tools.permissions.push(PermissionEntry::allowed(entry)?);
        }
        Ok(self)
    }
}

impl From<SettingsError> for Failure {
    fn from(error: SettingsError) -> Self {
        Self::usage(error.to_string())
    }
}

#[cfg(test)]
pub(crate) use self::guards::BudgetTable;

/// Parses the `[permissions]` table of a settings file.
#[cfg(test)]
pub(crate) fn permissions_of(path: &Path, text: &str) -> Result<Vec<PermissionEntry>, Failure> {
    Ok(file::File::parse(path, text)?.entries)
}
