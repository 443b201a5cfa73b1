//! [`Policy`]: what commands in a sandbox may do.

use std::{
    fmt,
    path::{Path, PathBuf},
    str::FromStr,
};

/// The strength of a sandbox. A later mode allows less than an earlier one.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Mode {
    /// Not at all.
    #[default]
    Off,
    /// All files can be read except hidden ones. Only the folders of the policy and a private temporary folder can be written.
    Workspace,
    /// Only the files of the system and the folders of the policy can be read.
    Strict,
}

impl Mode {
    /// All modes, in the order in which they allow less.
    pub const ALL: [Self; 3] = [Self::Off, Self::Workspace, Self::Strict];

    /// Returns the name in settings.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Workspace => "workspace",
            Self::Strict => "strict",
        }
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Mode {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|mode| mode.as_str() == text);
        found.ok_or_else(|| format!("{text:?} is not a mode of the sandbox; use off, workspace or strict"))
    }
}

/// Whether commands reach the network.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Network {
    /// As without a sandbox, except for raw packets and sockets of the Unix domain.
    On,
    /// Not at all. Where the system has network namespaces, commands have a loopback interface of their own.
    #[default]
    Off,
}

impl Network {
    /// Returns the name in settings.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::On => "on",
            Self::Off => "off",
        }
    }
}

impl FromStr for Network {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "on" => Ok(Self::On),
            "off" => Ok(Self::Off),
            _ => Err(format!("{text:?} is not a network of the sandbox; use off or on")),
        }
    }
}

/// Limits of the processes of one command.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Limits {
    /// The number of processes and threads at the same time.
    pub processes: Option<u64>,
    /// The private memory of each process, in bytes.
    pub memory: Option<u64>,
}

/// The rights of commands in a sandbox.
///
/// ```
/// use agcore_sandbox::{Limits, Mode, Network, Policy};
///
/// let policy = Policy::new(Mode::Workspace)
///     .with_write("/srv/project")
///     .with_hidden("/srv/project/keys")
///     .with_limits(Limits { processes: Some(512), memory: None });
/// assert_eq!(policy.network(), Network::Off);
/// ```
#[derive(Debug, Default, Clone, PartialEq, Eq)]
#[must_use]
pub struct Policy {
    mode: Mode,
    network: Network,
    write: Vec<PathBuf>,
    read: Vec<PathBuf>,
    hidden: Vec<PathBuf>,
    protected: Vec<PathBuf>,
    limits: Limits,
}

impl Policy {
    /// Creates a policy that allows no folder to be written, and no network.
    pub fn new(mode: Mode) -> Self {
        Self {
            mode,
            ..Self::default()
        }
    }

    /// Adds a folder or file that commands may change. It is ignored while it does not exist.
    pub fn with_write(mut self, path: impl Into<PathBuf>) -> Self {
        self.write.push(path.into());
        self
    }

    /// Adds a folder or file that commands may read: in the mode `strict`, and below a hidden folder.
    pub fn with_read(mut self, path: impl Into<PathBuf>) -> Self {
        self.read.push(path.into());
        self
    }

    /// Adds a folder or file that commands may not read, although they may read the folder around it. Names in it stay visible.
    pub fn with_hidden(mut self, path: impl Into<PathBuf>) -> Self {
        self.hidden.push(path.into());
        self
    }

    /// Adds a folder or file that commands may not change, although they may change the folder around it. It needs a kernel with
    /// user namespaces, and protects only what exists when a command starts.
    pub fn with_protected(mut self, path: impl Into<PathBuf>) -> Self {
        self.protected.push(path.into());
        self
    }

    /// Sets whether commands reach the network.
    pub fn with_network(mut self, network: Network) -> Self {
        self.network = network;
        self
    }

    /// Sets what the processes of a command may use.
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Returns the mode.
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// Returns whether commands reach the network.
    pub fn network(&self) -> Network {
        self.network
    }

    /// Returns what commands may change.
    pub fn write(&self) -> impl Iterator<Item = &Path> {
        self.write.iter().map(PathBuf::as_path)
    }

    /// Returns what commands may read.
    pub fn read(&self) -> impl Iterator<Item = &Path> {
        self.read.iter().map(PathBuf::as_path)
    }

    /// Returns what commands may not read.
    pub fn hidden(&self) -> impl Iterator<Item = &Path> {
        self.hidden.iter().map(PathBuf::as_path)
    }

    /// Returns what commands may not change.
    pub fn protected(&self) -> impl Iterator<Item = &Path> {
        self.protected.iter().map(PathBuf::as_path)
    }

    /// Returns what the processes of a command may use.
    pub fn limits(&self) -> Limits {
        self.limits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_are_named_and_a_later_one_allows_less() {
        for mode in Mode::ALL {
            assert_eq!(mode.to_string().parse(), Ok(mode));
        }
        assert!(Mode::Off < Mode::Workspace && Mode::Workspace < Mode::Strict);
        assert!(Network::On < Network::Off);
        let error = "Strict".parse::<Mode>().unwrap_err();
        assert_eq!(
            error,
            "\"Strict\" is not a mode of the sandbox; use off, workspace or strict"
        );
        assert_eq!("on".parse(), Ok(Network::On));
        assert!("".parse::<Network>().is_err());
    }
}
