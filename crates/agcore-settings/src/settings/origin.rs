//! [`Chosen`]: the value of a setting and its source.

use std::{fmt, path::PathBuf};

/// A value and its source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chosen<T> {
    /// The value.
    pub value: T,
    /// The source of the value.
    pub origin: Origin,
}

/// The source of a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// A command-line option.
    Option(&'static str),
    /// An environment variable.
    Environment(String),
    /// A variable in `.env`.
    Dotenv(String),
    /// The settings file of the folder, or the one named by `--config`.
    File(PathBuf),
    /// The user's settings file.
    UserFile(PathBuf),
    /// Several settings files, whose values add up.
    Files(Vec<PathBuf>),
    /// The keyring of the system.
    Keyring,
    /// The file of secrets.
    SecretFile(PathBuf),
    /// The only API key that is set, in this variable.
    Key(String),
    /// The only API key that is stored, for this variable.
    StoredKey(String),
    /// The default.
    Default,
}

impl<T> Chosen<T> {
    /// Creates a default.
    pub(super) fn default(value: T) -> Self {
        let origin = Origin::Default;
        Self { value, origin }
    }

    /// Returns the first value that is set.
    pub(super) fn first<const N: usize>(sources: [Option<Self>; N]) -> Option<Self> {
        sources.into_iter().flatten().next()
    }

    /// Converts the value and keeps the source.
    pub(super) fn map<U>(self, map: impl FnOnce(T) -> U) -> Chosen<U> {
        Chosen {
            value: map(self.value),
            origin: self.origin,
        }
    }
}

impl Chosen<String> {
    /// Returns the value of an option, if it was given.
    pub(super) fn option(name: &'static str, value: Option<&String>) -> Option<Self> {
        let origin = Origin::Option(name);
        value.cloned().map(|value| Self { value, origin })
    }
}

impl Origin {
    /// Returns the precedence of the source: a lower number overrides a higher one.
    pub(super) fn rank(&self) -> usize {
        match self {
            Self::Option(_) => 0,
            Self::Environment(_) => 1,
            Self::Dotenv(_) => 2,
            Self::File(_) => 3,
            Self::UserFile(_) | Self::Files(_) => 4,
            Self::Keyring | Self::SecretFile(_) => 5,
            Self::Key(_) | Self::StoredKey(_) => 6,
            Self::Default => 7,
        }
    }

    /// Returns the kind of source, for JSON output.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Option(_) => "option",
            Self::Environment(_) => "environment",
            Self::Dotenv(_) => "dotenv",
            Self::File(_) => "file",
            Self::UserFile(_) => "user_file",
            Self::Files(_) => "files",
            Self::Keyring => "keyring",
            Self::SecretFile(_) => "secret_file",
            Self::Key(_) => "key_variable",
            Self::StoredKey(_) => "stored_key",
            Self::Default => "default",
        }
    }

    /// Returns the name of the option or variable, or the path of the file.
    pub fn place(&self) -> Option<String> {
        match self {
            Self::Option(name) => Some((*name).to_owned()),
            Self::Environment(name) | Self::Dotenv(name) | Self::Key(name) | Self::StoredKey(name) => {
                Some(name.clone())
            }
            Self::File(path) | Self::UserFile(path) | Self::SecretFile(path) => Some(path.display().to_string()),
            Self::Files(paths) => Some(joined(paths)),
            Self::Keyring | Self::Default => None,
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Option(name) => write!(f, "option {name}"),
            Self::Environment(name) => write!(f, "environment, {name}"),
            Self::Dotenv(name) => write!(f, ".env, {name}"),
            Self::File(path) | Self::UserFile(path) | Self::SecretFile(path) => write!(f, "{}", path.display()),
            Self::Files(paths) => f.write_str(&joined(paths)),
            Self::Keyring => f.write_str("keyring"),
            Self::Key(name) => write!(f, "{name} is set"),
            Self::StoredKey(name) => write!(f, "a key for {name} is stored"),
            Self::Default => f.write_str("default"),
        }
    }
}

fn joined(paths: &[PathBuf]) -> String {
    let paths: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
    paths.join(" and ")
}
