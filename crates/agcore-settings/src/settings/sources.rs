//! [`Sources`]: the environment, `.env` and the settings files, read once.

use std::{
    collections::HashMap,
    fs, io,
    path::{Path, PathBuf},
};

use agcore::llm::ProviderType;
use agcore_terminal::process::{variable, variable_names};

use super::{
    file::File,
    folder::Folder,
    origin::{Chosen, Origin},
    stored_keys::StoredKeys,
};
use crate::{
    PolicyOptions, SettingsError,
    places::{SETTINGS_FILE, user_settings},
};

/// The prefix of the program's variables.
const PREFIX: &str = "AGCORE_";

/// The sources of settings, apart from options.
#[derive(Debug)]
pub(super) struct Sources {
    dotenv: Option<HashMap<String, String>>,
    /// The API keys of the user.
    pub(super) stored: StoredKeys,
    /// The settings files, highest precedence first.
    pub(super) files: Vec<SettingsFile>,
}

/// A settings file that is used.
#[derive(Debug)]
pub(super) struct SettingsFile {
    /// Where it is.
    pub(super) origin: Origin,
    /// Its settings.
    pub(super) file: File,
}

impl Sources {
    /// Takes what may be used of the folder, and reads the other settings files.
    ///
    /// # Errors
    /// When a file cannot be read or parsed.
    pub(super) fn read(folder: &mut Folder, policy: &PolicyOptions) -> Result<Self, SettingsError> {
        Ok(Self {
            files: settings_files(folder, policy)?,
            stored: StoredKeys::of_user(),
            dotenv: folder.take_variables()?.map(|dotenv| dotenv.values()),
        })
    }

    /// Returns the first of these variables that is set in the environment, else the first that is set in `.env`. An
    /// empty variable counts as not set.
    pub(super) fn variable(&self, names: &[&str]) -> Option<Chosen<String>> {
        let from_environment = |name: &&str| {
            let origin = || Origin::Environment((*name).to_owned());
            variable(name).map(|value| Chosen {
                value,
                origin: origin(),
            })
        };
        let from_dotenv = |name: &&str| {
            let value = self.dotenv.as_ref()?.get(*name).filter(|value| !value.is_empty())?;
            Some(Chosen {
                value: value.clone(),
                origin: Origin::Dotenv((*name).to_owned()),
            })
        };
        let found = names.iter().find_map(from_environment);
        found.or_else(|| names.iter().find_map(from_dotenv))
    }

    /// Returns whether `.env` contains this variable.
    pub(super) fn is_in_dotenv(&self, name: &str) -> bool {
        self.dotenv
            .as_ref()
            .is_some_and(|variables| variables.contains_key(name))
    }

    /// Returns a value of the first settings file that has it.
    pub(super) fn setting<T>(&self, value: impl Fn(&File) -> Option<T>) -> Option<Chosen<T>> {
        self.files.iter().find_map(|file| file.setting(&value))
    }

    /// Returns a value that depends on the provider, such as a key. Files that name another provider are skipped.
    pub(super) fn setting_for<T>(
        &self,
        provider: &ProviderType,
        value: impl Fn(&File) -> Option<T>,
    ) -> Option<Chosen<T>> {
        let is_meant = |file: &&SettingsFile| {
            let name = file.file.provider.as_ref();
            name.is_none_or(|name| name.parse().is_ok_and(|named: ProviderType| named == *provider))
        };
        self.files.iter().filter(is_meant).find_map(|file| file.setting(&value))
    }

    /// Returns where the value of a setting is, for error messages: with its line and column if it is in a file.
    pub(super) fn place(&self, name: &str, origin: &Origin) -> String {
        place(&self.files, name, origin)
    }

    /// Returns the names of all variables with the program's prefix, in the environment and in `.env`, sorted.
    pub(super) fn program_variables(&self) -> Vec<String> {
        let dotenv = self.dotenv.iter().flat_map(HashMap::keys).cloned();
        let mut names: Vec<String> = dotenv.chain(variable_names()).collect();
        names.retain(|name| name.starts_with(PREFIX));
        names.sort();
        names.dedup();
        names
    }
}

/// Returns where the value of a setting is, for error messages: with its line and column if it is in one of these files.
pub(super) fn place(files: &[SettingsFile], name: &str, origin: &Origin) -> String {
    let file = files.iter().find(|file| file.origin == *origin);
    let place = file.and_then(|file| file.file.places.get(name));
    format!("{origin}{}", place.map(String::as_str).unwrap_or_default())
}

impl SettingsFile {
    fn setting<T>(&self, value: impl Fn(&File) -> Option<T>) -> Option<Chosen<T>> {
        let origin = self.origin.clone();
        value(&self.file).map(|value| Chosen { value, origin })
    }
}

/// Reads the settings files, highest precedence first: the one named by `--config`, else that of the folder, and the
/// user's own.
///
/// # Errors
/// When a file cannot be read or parsed, or the named one does not exist.
pub(super) fn settings_files(folder: &mut Folder, policy: &PolicyOptions) -> Result<Vec<SettingsFile>, SettingsError> {
    let first = match &policy.config {
        Some(path) => {
            let file = read(path)?;
            let missing = || SettingsError::new(format!("the settings file {} does not exist", path.display()));
            Some((path.clone(), file.ok_or_else(missing)?))
        }
        None => folder.take_file().map(|file| (PathBuf::from(SETTINGS_FILE), file)),
    };
    let users = match user_settings() {
        Some(path) => read(&path)?.map(|file| SettingsFile {
            origin: Origin::UserFile(path),
            file,
        }),
        None => None,
    };
    let first = first.map(|(path, file)| SettingsFile {
        origin: Origin::File(path),
        file,
    });
    Ok(first.into_iter().chain(users).collect())
}

/// Reads and parses a file. Returns `None` if it does not exist.
fn read(path: &Path) -> Result<Option<File>, SettingsError> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(File::parse(path, &text)?)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(SettingsError::new(format!("cannot read {}: {error}", path.display()))),
    }
}
