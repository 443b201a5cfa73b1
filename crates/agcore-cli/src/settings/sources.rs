//! [`Sources`]: the places from which settings come, read once.

use std::{collections::HashMap, env, fs, io, path::Path};

use super::file::File;
use crate::exit::Failure;

/// The settings file that is read when none is named.
const FILE: &str = "agcore.toml";
const DOTENV: &str = ".env";

/// Environment, `.env` and the settings file.
#[derive(Debug)]
pub(crate) struct Sources {
    dotenv: HashMap<String, String>,
    /// The settings file; empty when there is none.
    pub(crate) file: File,
}

impl Sources {
    /// Reads `.env` and the settings file: the named one, which must exist, or the one of this folder, which need not.
    ///
    /// # Errors
    /// What cannot be read, with its place.
    pub(crate) fn read(config: Option<&Path>) -> Result<Self, Failure> {
        let path = config.unwrap_or(Path::new(FILE));
        let file = match fs::read_to_string(path) {
            Ok(text) => File::parse(path, &text)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound && config.is_none() => File::default(),
            Err(error) => return Err(Failure::usage(format!("{}: {error}", path.display()))),
        };
        Ok(Self { dotenv: read_dotenv()?, file })
    }

    /// A variable of the environment, else of `.env`; an empty one is none.
    #[expect(clippy::disallowed_methods, reason = "the command line is where the environment is read")]
    pub(crate) fn variable(&self, name: &str) -> Option<String> {
        env::var(name).ok().or_else(|| self.dotenv.get(name).cloned()).filter(|value| !value.is_empty())
    }
}

fn read_dotenv() -> Result<HashMap<String, String>, Failure> {
    let wrong = |error: dotenvy::Error| Failure::usage(format!("{DOTENV}: {error}"));
    match dotenvy::from_path_iter(DOTENV) {
        Ok(pairs) => pairs.collect::<Result<_, _>>().map_err(wrong),
        Err(error) if error.not_found() => Ok(HashMap::new()),
        Err(error) => Err(wrong(error)),
    }
}
