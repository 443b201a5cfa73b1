//! [`FolderReport`]: which files were considered for the settings, for reports and error messages.

use std::path::PathBuf;

use agcore::{LlmError, llm::LlmErrorKind};

use super::{
    effect::{Effect, summary},
    folder::Folder,
};
use crate::{
    args::PolicyArgs,
    exit::Failure,
    places::{SETTINGS_FILE, user_settings},
    trust::{FileKind, Trust},
};

/// Which files were considered, and what of them is ignored.
#[derive(Debug)]
pub(crate) struct FolderReport {
    /// The current directory.
    pub(crate) folder: Option<PathBuf>,
    /// Whether its files may be used.
    pub(crate) trust: Trust,
    /// The settings files, variables and instructions, highest precedence first, each with what was done with it.
    pub(crate) files: Vec<(String, &'static str)>,
    /// The effects that are ignored because the folder is not trusted.
    pub(crate) ignored: Vec<Effect>,
}

impl FolderReport {
    /// Creates the report before anything is taken out of the folder.
    pub(super) fn new(folder: &Folder, policy: &PolicyArgs) -> Self {
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
    pub(crate) fn used(&self) -> impl Iterator<Item = &str> {
        let is_used = |state: &str| state == "read" || state.starts_with("partly");
        self.files
            .iter()
            .filter(move |(_, state)| is_used(state))
            .map(|(file, _)| file.as_str())
    }

    /// Adds to an error about something that is missing which files were ignored.
    pub(super) fn explain(&self, failure: Failure) -> Failure {
        if self.ignored.is_empty() {
            return failure;
        }
        let message = format!(
            "{failure}\n{} ignored because this folder is not trusted; `agcore trust` shows the values and asks.",
            summary(&self.ignored)
        );
        Failure::new(failure.kind(), message)
    }

    /// Converts an error of a provider that cannot be built or used, and adds what to do about a missing key.
    pub(crate) fn setup_failure(&self, error: LlmError) -> Failure {
        let is_missing_key = *error.kind() == LlmErrorKind::Authentication && error.status().is_none();
        let provider = error.provider().map(str::to_owned);
        let failure = Failure::setup(error);
        if !is_missing_key {
            return failure;
        }
        let failure = self.explain(failure);
        let store = provider.map_or_else(
            || "Or run `agcore init`".to_owned(),
            |provider| format!("Or store the key with `agcore keys set {provider}`; `agcore init` asks for everything"),
        );
        Failure::new(
            failure.kind(),
            format!(
                "{failure}\n{store}.\nOr use a local model: agcore -m ollama:llama3.2\nOr try \
                 the program without a model: agcore demo --chat"
            ),
        )
    }
}
