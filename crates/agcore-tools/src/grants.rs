//! [`Grant`]: an approval that covers later calls, and [`GrantStore`], the store of permanent grants.

use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    arguments::Arguments,
    error::{ToolError, ToolErrorKind},
    permission::JsonPath,
};

/// The version of the JSON form of grants.
const VERSION: u32 = 1;

/// An approval by a person that covers later calls of one tool with matching arguments.
///
/// ```
/// use agcore_tools::{Arguments, Grant, GrantedArgument, permission::JsonPath};
/// use serde_json::json;
///
/// let readme: Arguments = serde_json::from_value(json!({"path": "/srv/readme.md"}))?;
/// let license: Arguments = serde_json::from_value(json!({"path": "/srv/license.md"}))?;
/// let path = JsonPath::new("$.path").unwrap();
///
/// // Covers every call of the tool …
/// let grant = Grant::new("read_file");
/// assert!(grant.covers("read_file", &license, &[]));
/// // … except where a rule asks about an argument that the grant does not name.
/// assert!(!grant.covers("read_file", &license, &[&path]));
///
/// let grant = grant.with_argument(GrantedArgument::from_arguments(path.clone(), &readme));
/// assert!(grant.covers("read_file", &readme, &[&path]));
/// assert!(!grant.covers("read_file", &license, &[&path]));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[must_use]
#[non_exhaustive]
pub struct Grant {
    /// The exact name of the tool; patterns are not supported.
    pub tool: String,
    /// The required arguments. If empty, the grant covers any arguments, except those that a rule asks about.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub arguments: Vec<GrantedArgument>,
}

/// The values that a JSON path must select in the arguments of a call for a [`Grant`] to cover the call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct GrantedArgument {
    /// The path into the arguments.
    pub path: JsonPath,
    /// All values that the path must select, in order.
    pub values: Vec<Value>,
}

impl GrantedArgument {
    /// Requires the values that `path` selects in `arguments`.
    pub fn from_arguments(path: JsonPath, arguments: &Arguments) -> Self {
        let values = path.find(arguments.as_value()).into_iter().cloned().collect();
        Self { path, values }
    }

    fn matches(&self, arguments: &Arguments) -> bool {
        self.path.find(arguments.as_value()).into_iter().eq(&self.values)
    }
}

impl Grant {
    /// Creates a grant that covers any call of a tool, except arguments that a rule asks about.
    pub fn new(tool: impl Into<String>) -> Self {
        Self {
            tool: tool.into(),
            arguments: Vec::new(),
        }
    }

    /// Restricts the grant to calls with this argument.
    pub fn with_argument(mut self, argument: GrantedArgument) -> Self {
        self.arguments.push(argument);
        self
    }

    /// Returns whether the grant covers a call, where `asked` are the arguments that rules ask about.
    pub fn covers(&self, tool: &str, arguments: &Arguments, asked: &[&JsonPath]) -> bool {
        self.tool == tool
            && self.arguments.iter().all(|argument| argument.matches(arguments))
            && asked
                .iter()
                .all(|path| self.arguments.iter().any(|argument| argument.path == **path))
    }
}

/// A store of what a person has allowed permanently. Approvals for one session are kept in its
/// [`ToolSession`](crate::ToolSession).
///
/// ```
/// use std::sync::Mutex;
///
/// use agcore_tools::{Grant, GrantStore, ToolError};
/// use async_trait::async_trait;
///
/// /// Keeps one JSON document per line, as a file would.
/// #[derive(Default)]
/// struct Lines(Mutex<Vec<String>>);
///
/// #[async_trait]
/// impl GrantStore for Lines {
///     async fn find(&self, tool: &str) -> Result<Vec<Grant>, ToolError> {
///         let lines = self.0.lock().unwrap();
///         let mut grants = Vec::new();
///         for line in lines.iter() {
///             grants.push(serde_json::from_str::<Grant>(line)?);
///         }
///         grants.retain(|grant| grant.tool == tool);
///         Ok(grants)
///     }
///
///     async fn add(&self, grant: Grant) -> Result<(), ToolError> {
///         self.0.lock().unwrap().push(serde_json::to_string(&grant)?);
///         Ok(())
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), ToolError> {
/// let store = Lines::default();
/// store.add(Grant::new("read_file")).await?;
/// assert_eq!(store.find("read_file").await?, [Grant::new("read_file")]);
/// assert_eq!(store.find("write_file").await?, []);
/// # Ok(())
/// # }
/// ```
#[async_trait]
pub trait GrantStore: Send + Sync {
    /// Returns the grants for a tool.
    ///
    /// # Errors
    /// When the grants cannot be read. The person is asked again.
    async fn find(&self, tool: &str) -> Result<Vec<Grant>, ToolError>;

    /// Stores a grant.
    ///
    /// # Errors
    /// When the grant cannot be stored. The call runs anyway, and the person will be asked again in another session.
    async fn add(&self, grant: Grant) -> Result<(), ToolError>;
}

/// A store of grants in memory, with a JSON form for applications that keep them in a file.
///
/// ```
/// use agcore_tools::{Grant, InMemoryGrants};
///
/// let grants = InMemoryGrants::from_iter([Grant::new("read_file"), Grant::new("search")]);
/// let saved = grants.to_json();
///
/// let restored = InMemoryGrants::from_json(&saved)?;
/// assert_eq!(restored.revoke("search"), 1);
/// assert_eq!(restored.list(), [Grant::new("read_file")]);
/// # Ok::<(), agcore_tools::ToolError>(())
/// ```
#[derive(Debug, Default)]
pub struct InMemoryGrants(Mutex<Vec<Grant>>);

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct GrantFile {
    version: u32,
    grants: Vec<Grant>,
}

impl InMemoryGrants {
    /// Creates an empty store.
    pub fn new() -> Self {
        Self::default()
    }

    /// Parses the output of [`to_json`](Self::to_json).
    ///
    /// # Errors
    /// When the text is corrupt or has an unsupported version. No grant is recovered from such a text: grants are never
    /// guessed.
    pub fn from_json(text: &str) -> Result<Self, ToolError> {
        let invalid =
            |reason: String| ToolError::new(ToolErrorKind::Config, format!("cannot read the grants: {reason}"));
        let raw: Value =
            serde_json::from_str(text).map_err(|error| invalid(format!("{error}; restore or remove them")))?;
        match raw.get("version").and_then(Value::as_u64) {
            Some(version) if version == u64::from(VERSION) => {}
            Some(version) => {
                return Err(invalid(format!(
                    "they have version {version}, but this program reads version {VERSION}; update the program"
                )));
            }
            None => {
                return Err(invalid("they have no version; restore or remove them".to_owned()));
            }
        }
        let file = GrantFile::deserialize(raw).map_err(|error| invalid(format!("{error}; restore or remove them")))?;
        Ok(Self::from_iter(file.grants))
    }

    /// Serializes all grants as JSON, with a version.
    pub fn to_json(&self) -> String {
        let file = GrantFile {
            version: VERSION,
            grants: self.list(),
        };
        // Serializing plain data with string keys cannot fail.
        serde_json::to_string_pretty(&file).unwrap_or_default()
    }

    /// Returns all grants.
    pub fn list(&self) -> Vec<Grant> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Removes all grants for a tool and returns their number.
    pub fn revoke(&self, tool: &str) -> usize {
        let mut grants = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let before = grants.len();
        grants.retain(|grant| grant.tool != tool);
        before - grants.len()
    }
}

impl FromIterator<Grant> for InMemoryGrants {
    fn from_iter<I: IntoIterator<Item = Grant>>(grants: I) -> Self {
        Self(Mutex::new(grants.into_iter().collect()))
    }
}

#[async_trait]
impl GrantStore for InMemoryGrants {
    async fn find(&self, tool: &str) -> Result<Vec<Grant>, ToolError> {
        let grants = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(grants.iter().filter(|grant| grant.tool == tool).cloned().collect())
    }

    async fn add(&self, grant: Grant) -> Result<(), ToolError> {
        let mut grants = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !grants.contains(&grant) {
            grants.push(grant);
        }
        Ok(())
    }
}
