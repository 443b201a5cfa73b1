//! [`Settings`]: read from options, the environment, the folder's `.env` and `agcore.toml`, the user's `agcore.toml` and
//! defaults, in this order of precedence. Most settings of a folder are used only if the user trusts it.

mod table;
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
mod shown;

use std::path::Path;

use agcore::{
    catalog::ModelPrice,
    chat::text::visible,
    llm::{ProviderConfig, layer::retry::RetryPolicy},
};
use agcore_terminal::render::Theme;

use crate::{SettingsError, places::further_folder};

pub use self::{
    choices::{AwsAccess, Choices, TerminalSettings, Unknown},
    context::ContextFiles,
    effect::Effect,
    file::confinement::SandboxSettings,
    file::guards::{BudgetEntry, BudgetTable},
    file::hooks::{HookEntry, HookEvent},
    file::permissions::{PermissionEntry, Subject},
    file::serve::hooks::{BusyName, EncodingName, IncomingHookEntry, PlaceEntry, VerifyName},
    file::serve::quotas::{QuotaEntry, QuotaScopeName, QuotaWindowName},
    file::serve::{
        AdminEntry, ApprovalsName, JwtTable, LimitsTable, MediaName, RetentionTable, ServeTable, SharingTable,
    },
    file::tool_table::ToolTable,
    folder::{Folder, Wanted},
    mcp::{McpServers, NamedServer},
    model_limits::{LimitSetting, ModelLimits, timeout_advice, timeout_setting},
    origin::{Chosen, Origin},
    project::{AGENTS, FileAgent, FlowFiles, MessageCommand, Project},
    proxy::shown_proxy,
    report::FolderReport,
    shown::Shown,
    table::{LOG, SETTINGS, STORE, Setting, Variable, file_settings, variables},
    tools::ToolSettings,
};

/// The settings of a chat.
#[derive(Debug)]
pub struct Settings {
    /// The provider and its model.
    pub provider: ProviderConfig,
    /// The timeouts and retries of the provider.
    pub limits: ModelLimits,
    /// The prices of `[prices]`, and the first file that has some.
    pub prices: Option<Chosen<Vec<ModelPrice>>>,
    /// The instructions for the agent, including those of the project.
    pub system: String,
    /// The default instructions, if no setting replaces them. Chats add their environment.
    pub default_system: Option<String>,
    /// Whether typed lines are kept for the next chat.
    pub history: bool,
    /// The theme of the output.
    pub theme: Theme,
    /// The window of a chat.
    pub terminal: TerminalSettings,
    /// Whether spans include message content.
    pub trace_content: bool,
    /// Whether requests to models continue the trace, with the header `traceparent`.
    pub trace_models: bool,
    /// Decides which tools may run.
    pub tools: ToolSettings,
    /// The instructions of the project.
    pub context_files: ContextFiles,
    /// The table `[serve]`, of the first file that has one.
    pub serve: Option<Chosen<ServeTable>>,
    report: FolderReport,
}

impl Settings {
    /// Takes the settings of a chat from all settings.
    ///
    /// # Errors
    /// When a setting is unknown or missing.
    pub fn new(mut choices: Choices) -> Result<Self, SettingsError> {
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
            terminal: choices.terminal,
            trace_content: choices.trace_content.value,
            trace_models: choices.trace_models.value,
            tools: choices.tools,
            context_files: choices.context_files,
            serve: choices.serve,
            report: choices.report,
        })
    }

    /// Returns when and how often a failed request is sent again.
    pub fn retry(&self) -> RetryPolicy {
        self.limits.retry.clone()
    }

    /// Returns whether the current directory is trusted, in words.
    pub fn trust(&self) -> String {
        self.report.trust.describe()
    }

    /// Returns the current directory if it is trusted.
    pub fn trusted_folder(&self) -> Option<&Path> {
        let folder = self.report.folder.as_deref();
        folder.filter(|_| self.report.trust.is_given())
    }

    /// Returns the effects that are ignored because the folder is not trusted.
    pub fn disabled(&self) -> &[Effect] {
        &self.report.ignored
    }

    /// Returns which files were considered for the settings.
    pub fn report(&self) -> &FolderReport {
        &self.report
    }

    /// Returns the settings with these folders among those that tools may use besides the current directory.
    ///
    /// # Errors
    /// When one of them cannot be used.
    pub fn adding(mut self, folders: &[String]) -> Result<Self, SettingsError> {
        for typed in folders {
            let folder = further_folder(typed)
                .map_err(|reason| SettingsError::new(format!("--add-dir {}: {reason}", visible(typed))))?;
            self.tools.further_folders.push(folder);
        }
        Ok(self)
    }

    /// Returns the settings with these entries in the list `allow` of `[permissions]`.
    ///
    /// # Errors
    /// When an entry is invalid.
    pub fn allowing(mut self, entries: &[String]) -> Result<Self, SettingsError> {
        for entry in entries {
            self.tools.permissions.push(PermissionEntry::allowed(entry)?);
        }
        Ok(self)
    }
}

/// Parses the `[permissions]` table of a settings file.
///
/// # Errors
/// When the text is not valid, with line and column.
pub fn permissions_of(path: &Path, text: &str) -> Result<Vec<PermissionEntry>, SettingsError> {
    Ok(file::File::parse(path, text)?.entries)
}

/// Returns the messages about the text of a settings file: the first error, else the unknown settings. They never contain a key.
pub fn messages_about(path: &Path, text: &str) -> Vec<String> {
    match file::File::parse(path, text) {
        Ok(file) => file.unknown.iter().map(|(_, error)| error.to_string()).collect(),
        Err(error) => vec![error.to_string()],
    }
}

/// Returns the lines of a `.env` file that are invalid: the number of each, from 1, and the word before its `=`.
pub fn invalid_variables(text: &str) -> Vec<(usize, String)> {
    let invalid = file::dotenv::parse(text).invalid.into_iter();
    invalid.map(|line| (line.number, line.word)).collect()
}
