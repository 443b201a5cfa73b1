//! [`Chosen`]: a setting's value and where it came from.

use std::{fmt, path::PathBuf};

/// A value, and where it came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Chosen<T> {
    /// The value.
    pub(crate) value: T,
    /// Where it came from.
    pub(crate) origin: Origin,
}

/// Where a value came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Origin {
    /// An option of the command line.
    Option(&'static str),
    /// A variable of the environment.
    Environment(String),
    /// A variable of `.env`.
    Dotenv(String),
    /// The settings file.
    File(PathBuf),
    /// Nobody said anything.
    Default,
}

impl<T> Chosen<T> {
    /// The same from the same place, as something else.
    pub(super) fn map<U>(self, map: impl FnOnce(T) -> U) -> Chosen<U> {
        Chosen {
            value: map(self.value),
            origin: self.origin,
        }
    }
}

impl Origin {
    /// The kind of place in one word, for programs.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::Option(_) => "option",
            Self::Environment(_) => "environment",
            Self::Dotenv(_) => "dotenv",
            Self::File(_) => "file",
            Self::Default => "default",
        }
    }

    /// The option, the variable or the file.
    pub(crate) fn place(&self) -> Option<String> {
        match self {
            Self::Option(name) => Some((*name).to_owned()),
            Self::Environment(name) | Self::Dotenv(name) => Some(name.clone()),
            Self::File(path) => Some(path.display().to_string()),
            Self::Default => None,
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Option(name) => write!(f, "option {name}"),
            Self::Environment(name) => write!(f, "environment, {name}"),
            Self::Dotenv(name) => write!(f, ".env, {name}"),
            Self::File(path) => write!(f, "{}", path.display()),
            Self::Default => f.write_str("default"),
        }
    }
}
