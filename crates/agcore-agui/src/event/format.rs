//! [`Format`]: how events are written for one client.

use std::fmt;

/// Where the members that AG-UI does not define are placed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Dialect {
    /// Events as AG-UI defines them; the members of agcore are in `metadata.agcore`.
    #[default]
    Standard,
    /// The same, with the members of agcore beside the standard ones as well. A cancelled run ends in `RUN_ERROR` with the code
    /// [`RUN_CANCELED`](crate::RUN_CANCELED).
    Superset,
}

impl Dialect {
    /// Returns the dialect with this name: `standard` or `superset`.
    ///
    /// ```
    /// use agcore_agui::Dialect;
    ///
    /// assert_eq!(Dialect::from_name("superset"), Some(Dialect::Superset));
    /// assert_eq!(Dialect::from_name("Standard"), None);
    /// ```
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "standard" => Some(Self::Standard),
            "superset" => Some(Self::Superset),
            _ => None,
        }
    }

    /// Returns the name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Standard => "standard",
            Self::Superset => "superset",
        }
    }
}

impl fmt::Display for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// The line of AG-UI versions that a client speaks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Protocol {
    /// 0.x, whose clients reject what 1.0 added: the outcome `cancelled`, `pendingToolCallIds`, and events of sub-agents in most
    /// versions.
    V0,
    /// 1.0 and later.
    #[default]
    V1,
}

impl Protocol {
    /// Returns the line of a client that sent this `protocolVersion`. Clients before 1.0 send none.
    ///
    /// ```
    /// use agcore_agui::Protocol;
    ///
    /// assert_eq!(Protocol::of_version(None), Protocol::V0);
    /// assert_eq!(Protocol::of_version(Some("1.0")), Protocol::V1);
    /// ```
    pub fn of_version(version: Option<&str>) -> Self {
        match version {
            None => Self::V0,
            Some(version) if version == "0" || version.starts_with("0.") => Self::V0,
            Some(_) => Self::V1,
        }
    }
}

/// The form in which events are written for one client: a dialect, and a version of the protocol.
///
/// ```
/// use agcore_agui::{Dialect, Format, Protocol};
///
/// assert_eq!(Format::default(), Format::new(Dialect::Standard, Protocol::V1));
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Format {
    /// The place of the members that AG-UI does not define.
    pub dialect: Dialect,
    /// The version of the protocol.
    pub protocol: Protocol,
}

impl Format {
    /// Creates a format.
    pub const fn new(dialect: Dialect, protocol: Protocol) -> Self {
        Self { dialect, protocol }
    }

    /// Returns whether a cancelled run ends in `RUN_FINISHED` with the outcome `cancelled`.
    pub(crate) fn has_cancelled_outcome(self) -> bool {
        self.dialect == Dialect::Standard && self.protocol == Protocol::V1
    }
}
