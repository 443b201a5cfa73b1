//! The table `[sandbox]`: what commands of tools may do.

use std::num::NonZeroU64;

use agcore_sandbox::{Mode, Network};
use serde::{
    Deserialize, Deserializer,
    de::{self, Unexpected},
};

/// A description of sizes, for errors.
const SIZE: &str = "a size such as \"512MB\" or \"4GB\", of at least 16MB";

/// The smallest limit of memory: with less, no program starts.
const SMALLEST: u64 = 16 << 20;

/// The table `[sandbox]`.
#[derive(Debug, Default, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SandboxTable {
    /// How much commands are confined.
    pub(crate) mode: Option<ModeName>,
    /// Whether they reach the network.
    pub(crate) network: Option<NetworkName>,
    /// The paths that they may change beside the workspace.
    #[serde(default)]
    pub(crate) write: Vec<String>,
    /// The paths that they may read although they are hidden, or in the mode `strict`.
    #[serde(default)]
    pub(crate) read: Vec<String>,
    /// The number of processes and threads of a command.
    pub(crate) processes: Option<NonZeroU64>,
    /// The memory of each process, in bytes.
    #[serde(default, deserialize_with = "size")]
    pub(crate) memory: Option<u64>,
    /// Whether commands are refused on a system that cannot confine them.
    pub(crate) required: Option<bool>,
    /// Whether MCP servers that are started as child processes are confined as well.
    pub(crate) mcp: Option<bool>,
    /// Whether the folder of the file is not trusted, so that its table can only allow less.
    #[serde(skip)]
    pub(crate) only_tightens: bool,
}

/// A mode of the sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ModeName {
    Off,
    Workspace,
    Strict,
}

/// The network of the sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum NetworkName {
    Off,
    On,
}

impl SandboxTable {
    /// Returns the table of a folder that is not trusted: paths would allow more.
    pub(crate) fn tightening(&self) -> Self {
        Self {
            write: Vec::new(),
            read: Vec::new(),
            only_tightens: true,
            ..self.clone()
        }
    }
}

impl From<ModeName> for Mode {
    fn from(name: ModeName) -> Self {
        match name {
            ModeName::Off => Self::Off,
            ModeName::Workspace => Self::Workspace,
            ModeName::Strict => Self::Strict,
        }
    }
}

impl From<NetworkName> for Network {
    fn from(name: NetworkName) -> Self {
        match name {
            NetworkName::Off => Self::Off,
            NetworkName::On => Self::On,
        }
    }
}

fn size<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    let text = String::deserialize(deserializer)?;
    let refused = || de::Error::invalid_value(Unexpected::Other("another text"), &SIZE);
    bytes(&text).map(Some).ok_or_else(refused)
}

/// Parses a number with a unit: `512MB`.
fn bytes(text: &str) -> Option<u64> {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit())?;
    let (number, unit) = text.split_at(end);
    let shift = match unit.trim() {
        "MB" => 20,
        "GB" => 30,
        _ => return None,
    };
    let bytes = number.parse::<u64>().ok()?.checked_mul(1 << shift)?;
    Some(bytes).filter(|bytes| *bytes >= SMALLEST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_a_unit() {
        assert_eq!(bytes("4GB"), Some(4 << 30));
        assert_eq!(bytes(" 512 MB "), Some(512 << 20));
        for wrong in ["", "4", "GB", "1.5GB", "4gb", "1MB", "-1GB", "99999999999999GB"] {
            assert_eq!(bytes(wrong), None, "{wrong}");
        }
    }
}
