//! [`Sources`]: the places from which settings come, read once.

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
    environment::{names, variable},
    exit::Failure,
};

/// The settings file that is read when none is named.
pub(super) const FILE: &str = "agcore.toml";
const DOTENV: &str = ".env";

/// What variables of ours begin with.
const PREFIX: &str = "AGCORE_";

/// Environment, `.env` and the settings file.
#[derive(Debug)]
pub(super) struct Sources {
    dotenv: Option<HashMap<String, String>>,
    /// Where the settings file is.
    path: PathBuf,
    /// Whether there is a settings file.
    has_file: bool,
    /// The settings file; empty when there is none.
    pub(super) file: File,
}

impl Sources {
    /// Reads `.env` and the settings file.
    ///
    /// # Errors
    /// What cannot be read, with its place.
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

    /// The first of these variables that the environment has, else the first that `.env` has; an empty one is none.
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

    /// Whether `.env` has this variable.
    pub(super) fn is_in_dotenv(&self, name: &str) -> bool {
        self.dotenv
            .as_ref()
            .is_some_and(|variables| variables.contains_key(name))
    }

    /// A value of the settings file.
    pub(super) fn member<T>(&self, value: Option<T>) -> Option<Chosen<T>> {
        let origin = Origin::File(self.path.clone());
        value.map(|value| Chosen { value, origin })
    }

    /// The files that were read.
    pub(super) fn files(&self) -> Vec<PathBuf> {
        let dotenv = self.dotenv.is_some().then(|| PathBuf::from(DOTENV));
        let file = self.has_file.then(|| self.path.clone());
        dotenv.into_iter().chain(file).collect()
    }

    /// The variables of ours, of the environment and of `.env`, sorted, each once.
    pub(super) fn own_variables(&self) -> Vec<String> {
        let dotenv = self.dotenv.iter().flat_map(HashMap::keys).cloned();
        let mut names: Vec<String> = dotenv.chain(names()).collect();
        names.retain(|name| name.starts_with(PREFIX));
        names.sort();
        names.dedup();
        names
    }
}

/// The settings file: the named one, which must exist, or the one of this folder, which need not.
///
/// # Errors
/// What cannot be read, with its place.
pub(super) fn file(config: Option<&Path>) -> Result<Option<File>, Failure> {
    let path = config.unwrap_or(Path::new(FILE));
    match read(path)? {
        Some(text) => Ok(Some(File::parse(path, &text)?)),
        None if config.is_none() => Ok(None),
        None => Err(Failure::usage(format!("there is no settings file {}", path.display()))),
    }
}

/// The text of a file; none when there is no such file.
fn read(path: &Path) -> Result<Option<String>, Failure> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Failure::usage(format!("{} cannot be read: {error}", path.display()))),
    }
}
