//! [`Sources`]: the places from which settings come, read once.

use std::{collections::HashMap, env, fs, io, path::Path};

use super::{dotenv, file::File};
use crate::exit::Failure;

/// The settings file that is read when none is named.
const FILE: &str = "agcore.toml";
const DOTENV: &str = ".env";

/// Environment, `.env` and the settings file.
#[derive(Debug)]
pub(super) struct Sources {
    dotenv: HashMap<String, String>,
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
            Some(text) => dotenv::parse(Path::new(DOTENV), &text)?,
            None => HashMap::new(),
        };
        Ok(Self { dotenv, file })
    }

    /// The first of these variables that the environment has, else the first that `.env` has; an empty one is none.
    pub(super) fn variable(&self, names: &[&str]) -> Option<String> {
        let dotenv = |name: &str| self.dotenv.get(name).cloned().filter(|value| !value.is_empty());
        let from_environment = names.iter().find_map(|name| environment(name));
        from_environment.or_else(|| names.iter().find_map(|name| dotenv(name)))
    }
}

/// The settings file: the named one, which must exist, or the one of this folder, which need not.
///
/// # Errors
/// What cannot be read, with its place.
pub(super) fn file(config: Option<&Path>) -> Result<File, Failure> {
    let path = config.unwrap_or(Path::new(FILE));
    match read(path)? {
        Some(text) => File::parse(path, &text),
        None if config.is_none() => Ok(File::default()),
        None => Err(Failure::usage(format!("there is no settings file {}", path.display()))),
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "the command line is where the environment is read"
)]
fn environment(name: &str) -> Option<String> {
    env::var(name).ok().filter(|value| !value.is_empty())
}

/// The text of a file; none when there is no such file.
fn read(path: &Path) -> Result<Option<String>, Failure> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Failure::usage(format!("{} cannot be read: {error}", path.display()))),
    }
}
