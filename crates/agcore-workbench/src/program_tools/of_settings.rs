//! The folder and the web pages that the settings open to the tools.

use std::path::{Path, PathBuf};

use agcore::tools::RuleState;
use agcore_sandbox::Policy;
use agcore_settings::{SandboxSettings, SettingsError, Subject, ToolSettings, places::own_files};
use agcore_terminal::process::expand_home;

use super::{fetch_url::WebAccess, folder::ToolFolder, secret::in_home};
use crate::shell_command::CommandSandbox;

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
            .map(|folder| {
                let sandbox = command_sandbox(&settings.sandbox, folder.path());
                folder.with_command_sandbox(sandbox)
            })
            .map_err(|error| SettingsError::new(format!("cannot open the current directory for the tools: {error}")))
    }
}

/// The files and folders that commands may not change: they start programs, or decide about permissions. Those files of git that
/// commands need, such as its index, are not among them.
const PROTECTED: &[&str] = &[
    ".git/config",
    ".git/config.worktree",
    ".git/hooks",
    ".agcore",
    ".mcp.json",
    "agcore.toml",
];

/// Returns the sandbox of commands in a folder.
pub(crate) fn command_sandbox(settings: &SandboxSettings, folder: &Path) -> CommandSandbox {
    let named =
        |paths: &[String]| -> Vec<PathBuf> { paths.iter().map(|path| folder.join(expand_home(path))).collect() };
    let mut policy = Policy::new(settings.mode)
        .with_network(settings.network)
        .with_limits(settings.limits)
        .with_write(folder);
    policy = named(&settings.write).into_iter().fold(policy, Policy::with_write);
    policy = named(&settings.read).into_iter().fold(policy, Policy::with_read);
    policy = in_home().chain(own_files()).fold(policy, Policy::with_hidden);
    policy = PROTECTED
        .iter()
        .map(|path| folder.join(path))
        .fold(policy, Policy::with_protected);
    CommandSandbox::new(policy, settings.is_required)
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
