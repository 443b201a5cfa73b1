//! [`Chosen`]: the value of a setting and its source.

use std::{fmt, path::PathBuf};

/// A value and its source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Chosen<T> {
    /// The value.
    pub(crate) value: T,
    /// The source of the value.
    pub(crate) origin: Origin,
}

/// The source of a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Origin {
    /// A command-line option.
    Option(&'static str),
    /// An environment variable.
    Environment(String),
    /// A variable in `.env`.
    Dotenv(String),
    /// The settings file.
    File(PathBuf),
    /// The default.
    Default,
}

impl<T> Chosen<T> {
    /// Converts the value and keeps the source.
    pub(super) fn map<U>(self, map: impl FnOnce(T) -> U) -> Chosen<U> {
        Chosen {
            value: map(self.value),
            origin: self.origin,
        }
    }
}

impl Origin {
    /// Returns the kind of source, for JSON output.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::Option(_) => "option",
            Self::Environment(_) => "environment",
            Self::Dotenv(_) => "dotenv",
            Self::File(_) => "file",
            Self::Default => "default",
        }
    }

    /// Returns the name of the option or variable, or the path of the file.
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
