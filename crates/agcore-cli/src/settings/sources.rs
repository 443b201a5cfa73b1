//! [`Sources`]: the environment, `.env` and the settings file, read once.

use std::{
    collections::HashMap,
    fs, io,
    path::{Path, PathBuf},
};

use super::{
    dotenv,
    file::File,
    origin::{Chosen, Origin},
};
use crate::{
    exit::Failure,
    process::{variable, variable_names},
};

/// The default settings file.
pub(super) const FILE: &str = "agcore.toml";
const DOTENV: &str = ".env";

/// The prefix of the program's variables.
const PREFIX: &str = "AGCORE_";

/// The sources of settings, apart from options.
#[derive(Debug)]
pub(super) struct Sources {
    dotenv: Option<HashMap<String, String>>,
    /// The path of the settings file.
    path: PathBuf,
    /// Whether the settings file exists.
    has_file: bool,
    /// The settings file, or empty settings if it does not exist.
    pub(super) file: File,
}

impl Sources {
    /// Reads `.env` and the settings file.
    ///
    /// # Errors
    /// When a file cannot be read or parsed.
    pub(super) fn read(config: Option<&Path>) -> Result<Self, Failure> {
        let file = file(config)?;
        let dotenv = match read(Path::new(DOTENV))? {
            Some(text) => Some(dotenv::parse(Path::new(DOTENV), &text)?),
            None => None,
        };
        Ok(Self {
            dotenv,
            path: config.unwrap_or(Path::new(FILE)).to_owned(),
            has_file: file.is_some(),
            file: file.unwrap_or_default(),
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

    /// Returns a value of the settings file, with its source.
    pub(super) fn setting<T>(&self, value: Option<T>) -> Option<Chosen<T>> {
        let origin = Origin::File(self.path.clone());
        value.map(|value| Chosen { value, origin })
    }

    /// Returns the files that were read.
    pub(super) fn files(&self) -> Vec<PathBuf> {
        let dotenv = self.dotenv.is_some().then(|| PathBuf::from(DOTENV));
        let file = self.has_file.then(|| self.path.clone());
        dotenv.into_iter().chain(file).collect()
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

/// Reads the settings file: the given one, which must exist, or the default one, which need not exist.
///
/// # Errors
/// When the file cannot be read or parsed.
pub(super) fn file(config: Option<&Path>) -> Result<Option<File>, Failure> {
    let path = config.unwrap_or(Path::new(FILE));
    match read(path)? {
        Some(text) => Ok(Some(File::parse(path, &text)?)),
        None if config.is_none() => Ok(None),
        None => Err(Failure::usage(format!(
            "the settings file {} does not exist",
            path.display()
        ))),
    }
}

/// Reads a file. Returns `None` if it does not exist.
fn read(path: &Path) -> Result<Option<String>, Failure> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Failure::usage(format!("cannot read {}: {error}", path.display()))),
    }
}
