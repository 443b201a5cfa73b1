//! [`Permission`]: a capability that a tool needs.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::error::{ToolError, ToolErrorKind};

/// A capability that a tool needs.
///
/// In JSON and text, a permission is one of the words `read`, `write`, `delete`, `network`, `shell` and `file_system`,
/// or `namespace:name` for a custom permission.
///
/// ```
/// use agcore_tools::Permission;
///
/// assert_eq!("network".parse::<Permission>()?, Permission::Network);
/// assert_eq!(Permission::custom("acme:refund")?.as_str(), "acme:refund");
/// assert!("refund".parse::<Permission>().is_err());
/// # Ok::<(), agcore_tools::ToolError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Permission {
    /// Reads data.
    Read,
    /// Creates or changes data.
    Write,
    /// Destroys data.
    Delete,
    /// Communicates with other machines.
    Network,
    /// Runs programs.
    Shell,
    /// Accesses files outside the application's own data.
    FileSystem,
    /// A custom permission. See [`Permission::custom`].
    Custom(CustomPermission),
}

/// A permission defined by an application, in the form `namespace:name`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CustomPermission(Box<str>);

impl CustomPermission {
    /// Returns the permission as text, `namespace:name`.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Permission {
    /// Creates a custom permission.
    ///
    /// # Errors
    /// When the text is not of the form `namespace:name`, where both parts consist of letters, digits, `_`, `-`, `.`
    /// and `/`.
    pub fn custom(text: &str) -> Result<Self, ToolError> {
        let is_part = |part: &str| {
            !part.is_empty()
                && part
                    .chars()
                    .all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/'))
        };
        match text.split_once(':') {
            Some((namespace, name)) if is_part(namespace) && is_part(name) => {
                Ok(Self::Custom(CustomPermission(text.into())))
            }
            _ => Err(ToolError::new(
                ToolErrorKind::Config,
                format!(
                    "{text:?} is not a permission; use read, write, delete, network, shell, file_system, or a custom one \
                     as namespace:name"
                ),
            )),
        }
    }

    /// Returns the permission as text.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Delete => "delete",
            Self::Network => "network",
            Self::Shell => "shell",
            Self::FileSystem => "file_system",
            Self::Custom(custom) => custom.as_str(),
        }
    }
}

impl fmt::Display for Permission {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Permission {
    type Err = ToolError;

    fn from_str(text: &str) -> Result<Self, ToolError> {
        Ok(match text {
            "read" => Self::Read,
            "write" => Self::Write,
            "delete" => Self::Delete,
            "network" => Self::Network,
            "shell" => Self::Shell,
            "file_system" => Self::FileSystem,
            other => return Self::custom(other),
        })
    }
}

impl Serialize for Permission {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for Permission {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'_, str>::deserialize(deserializer)?;
        text.parse().map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn round_trips_through_text() {
        for text in [
            "read",
            "write",
            "delete",
            "network",
            "shell",
            "file_system",
            "acme:billing/refund",
        ] {
            assert_eq!(text.parse::<Permission>().unwrap().as_str(), text);
        }
    }

    #[test]
    fn rejects_custom_permissions_without_a_namespace() {
        for text in ["", "Read", "billing", ":x", "x:", "a b:c", "a:b:c"] {
            assert!(text.parse::<Permission>().is_err(), "{text:?}");
        }
        let error = serde_json::from_str::<Permission>("\"reed\"").unwrap_err();
        assert!(error.to_string().contains("namespace:name"), "{error}");
    }
}
