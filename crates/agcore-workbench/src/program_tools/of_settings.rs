//! The folder and the web pages that the settings open to the tools.

use std::path::{Path, PathBuf};

use agcore::tools::{RuleState, permission::Glob};
use agcore_sandbox::Policy;
use agcore_settings::{
    SandboxSettings, SettingsError, Subject, ToolSettings,
    places::{further_folder, own_files},
};
use agcore_terminal::{process::expand_home, render::sanitized_line};

use super::{fetch_url::WebAccess, folder::ToolFolder, secret};
use crate::shell_command::{CommandSandbox, with_folder};

impl ToolFolder {
    /// Opens the current directory for the tools.
    ///
    /// # Errors
    /// When the current directory or a further folder cannot be opened.
    pub fn of_settings(settings: &ToolSettings) -> Result<Self, SettingsError> {
        let folder = Self::open(readable(settings))
            .map(|folder| folder.with_commands(settings.startable.named().clone(), settings.keep_env.clone()))
            .map(|folder| {
                let sandbox = command_sandbox(&settings.sandbox, folder.path());
                folder.with_command_sandbox(sandbox)
            })
            .map_err(|error| SettingsError::new(format!("cannot open the current directory for the tools: {error}")))?;
        for further in &settings.further_folders {
            folder.add(further).map_err(|error| {
                let path = sanitized_line(&further.display().to_string());
                SettingsError::new(format!("cannot open the folder {path} for the tools: {error}"))
            })?;
        }
        Ok(folder)
    }
}

impl ToolFolder {
    /// Uses the rules of settings that have changed.
    pub fn use_rules(&self, settings: &ToolSettings) {
        self.set_readable(readable(settings));
    }

    /// Adds a folder that the user has typed, for this chat. Returns the outcome as a sentence.
    ///
    /// # Errors
    /// When it cannot be used; the text is the reason.
    pub fn add_typed(&self, typed: &str) -> Result<String, String> {
        let refused = |reason: String| format!("{} is not added: {reason}", sanitized_line(typed));
        let path = further_folder(typed).map_err(refused)?;
        let name = sanitized_line(&path.display().to_string());
        let known = self.further();
        if path.starts_with(self.path()) || known.iter().any(|known| path.starts_with(known)) {
            return Ok(format!("The tools may use {name} already."));
        }
        self.add(&path).map_err(|error| refused(error.to_string()))?;
        Ok(format!(
            "The tools may use {name} until this chat ends. For later chats, pass --add-dir, or set `add_dirs` in agcore.toml."
        ))
    }
}

/// Returns the secret files that the settings allow to read.
fn readable(settings: &ToolSettings) -> Vec<Glob> {
    let entries = settings.permissions.iter();
    let secrets = entries.filter_map(|entry| match &entry.subject {
        Subject::Secret(glob) => Some(in_home(glob)),
        _ => None,
    });
    secrets.collect()
}

/// Returns a pattern with the path of the home directory for a leading `~`.
fn in_home(glob: &Glob) -> Glob {
    match glob.as_str().starts_with('~') {
        true => Glob::new(expand_home(glob.as_str()).to_string_lossy()),
        false => glob.clone(),
    }
}

/// Returns the sandbox of commands in a folder.
pub(crate) fn command_sandbox(settings: &SandboxSettings, folder: &Path) -> CommandSandbox {
    let named =
        |paths: &[String]| -> Vec<PathBuf> { paths.iter().map(|path| folder.join(expand_home(path))).collect() };
    let mut policy = Policy::new(settings.mode)
        .with_network(settings.network)
        .with_limits(settings.limits);
    policy = named(&settings.write).into_iter().fold(policy, Policy::with_write);
    policy = named(&settings.read).into_iter().fold(policy, Policy::with_read);
    policy = secret::in_home().chain(own_files()).fold(policy, Policy::with_hidden);
    CommandSandbox::new(with_folder(policy, folder), settings.is_required)
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
