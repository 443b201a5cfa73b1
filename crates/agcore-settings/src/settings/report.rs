//! [`FolderReport`]: which files were considered for the settings, for reports and error messages.

use std::path::PathBuf;

use super::{
    effect::{Effect, summary},
    folder::Folder,
};
use crate::{
    PolicyOptions, SettingsError,
    places::{SETTINGS_FILE, user_settings},
    trust::{FileKind, Trust},
};

/// Which files were considered, and what of them is ignored.
#[derive(Debug)]
pub struct FolderReport {
    /// The current directory.
    pub folder: Option<PathBuf>,
    /// Whether its files may be used.
    pub trust: Trust,
    /// The settings files, variables and instructions, highest precedence first, each with what was done with it.
    pub files: Vec<(String, &'static str)>,
    /// The effects that are ignored because the folder is not trusted.
    pub ignored: Vec<Effect>,
}

impl FolderReport {
    /// Creates the report before anything is taken out of the folder.
    pub(super) fn new(folder: &Folder, policy: &PolicyOptions) -> Self {
        let ignored = folder.ignored();
        let state = |name: &str| {
            let file = folder.snapshot.files.iter().find(|file| file.name == name);
            if file.is_some_and(|file| file.text().is_err()) {
                return "ignored: cannot be used";
            }
            let has_file = file.is_some();
            let is_ignored = ignored.iter().any(|effect| effect.file == name);
            match (has_file, is_ignored) {
                (false, _) => "not found",
                (true, true) if name == SETTINGS_FILE => "partly ignored: folder not trusted",
                (true, true) => "ignored: folder not trusted",
                (true, false) => "read",
            }
        };
        let mut files = vec![(".env".to_owned(), state(".env"))];
        files.push(match &policy.config {
            Some(path) => (path.display().to_string(), "read"),
            None => (SETTINGS_FILE.to_owned(), state(SETTINGS_FILE)),
        });
        if let Some(path) = user_settings() {
            let state = if path.exists() { "read" } else { "not found" };
            files.push((path.display().to_string(), state));
        }
        let instructions = folder.snapshot.files.iter();
        let instructions = instructions.filter(|file| file.kind == FileKind::Instructions);
        files.extend(instructions.map(|file| (file.name.clone(), state(&file.name))));
        Self {
            folder: folder.snapshot.folder.clone(),
            trust: folder.trust.clone(),
            files,
            ignored,
        }
    }

    /// Returns the files that are used, at least partly.
    pub fn used(&self) -> impl Iterator<Item = &str> {
        let is_used = |state: &str| state == "read" || state.starts_with("partly");
        self.files
            .iter()
            .filter(move |(_, state)| is_used(state))
            .map(|(file, _)| file.as_str())
    }

    /// Returns which files were ignored, for errors about a value that may be in one of them.
    pub fn ignored_files(&self) -> Option<String> {
        let summary = (!self.ignored.is_empty()).then(|| summary(&self.ignored))?;
        Some(format!(
            "{summary} ignored because this folder is not trusted; `agcore trust` shows the values and asks."
        ))
    }

    /// Adds to an error about a missing value which files were ignored.
    pub(super) fn explain(&self, error: SettingsError) -> SettingsError {
        match self.ignored_files() {
            Some(ignored) => SettingsError::new(format!("{error}\n{ignored}")),
            None => error,
        }
    }
}
