//! [`Grant`]: a person's yes that holds for later calls, and [`GrantStore`], where such are kept for good.

use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    arguments::Arguments,
    error::{ToolError, ToolErrorKind},
    permission::JsonPath,
};

/// The version of grants in JSON.
const VERSION: u32 = 1;

/// A person's yes that holds for later calls of one tool, as far as their arguments are alike.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Grant {
    /// The tool's name; no pattern.
    pub tool: String,
    /// What the arguments must be; empty is any, but for arguments that a rule asks about.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub arguments: Vec<SameArgument>,
}

/// The values that a path must find in the arguments for a [`Grant`] to hold.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct SameArgument {
    /// Where.
    pub path: JsonPath,
    /// All that is found there, in order.
    pub values: Vec<Value>,
}

impl SameArgument {
    /// What these arguments have at a path.
    pub fn of(path: JsonPath, arguments: &Arguments) -> Self {
        let values = path.find(arguments.as_value()).into_iter().cloned().collect();
        Self { path, values }
    }

    fn holds(&self, arguments: &Arguments) -> bool {
        self.path.find(arguments.as_value()).into_iter().eq(&self.values)
    }
}

impl Grant {
    /// A yes to any call of a tool, but for arguments that a rule asks about.
    pub fn new(tool: impl Into<String>) -> Self {
        Self {
            tool: tool.into(),
            arguments: Vec::new(),
        }
    }

    /// Narrows it to calls with such an argument.
    #[must_use]
    pub fn with_argument(mut self, argument: SameArgument) -> Self {
        self.arguments.push(argument);
        self
    }

    /// Whether it holds for a call, where rules ask about the arguments at `asked`.
    pub fn covers(&self, tool: &str, arguments: &Arguments, asked: &[&JsonPath]) -> bool {
        self.tool == tool
            && self.arguments.iter().all(|argument| argument.holds(arguments))
            && asked
                .iter()
                .all(|path| self.arguments.iter().any(|argument| argument.path == **path))
    }
}

/// Keeps what a person has allowed for good. What is allowed for a session is kept in its
/// [`ToolSession`](crate::ToolSession).
#[async_trait]
pub trait GrantStore: Send + Sync {
    /// The grants of a tool.
    ///
    /// # Errors
    /// When they cannot be read; the person is asked again then.
    async fn find(&self, tool: &str) -> Result<Vec<Grant>, ToolError>;

    /// Keeps a grant.
    ///
    /// # Errors
    /// When it cannot be kept; the call runs all the same, and the person will be asked again.
    async fn add(&self, grant: Grant) -> Result<(), ToolError>;
}

/// Keeps grants in memory; reads and writes them as JSON for an application that has a file.
#[derive(Debug, Default)]
pub struct InMemoryGrants(Mutex<Vec<Grant>>);

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct GrantFile {
    version: u32,
    grants: Vec<Grant>,
}

impl InMemoryGrants {
    /// No grants.
    pub fn new() -> Self {
        Self::default()
    }

    /// These grants.
    pub fn with(grants: impl IntoIterator<Item = Grant>) -> Self {
        Self(Mutex::new(grants.into_iter().collect()))
    }

    /// Reads what [`to_json`](Self::to_json) wrote.
    ///
    /// # Errors
    /// When it is corrupt or of a newer version. Nothing is taken from it then: grants are never guessed.
    pub fn from_json(text: &str) -> Result<Self, ToolError> {
        let refuse = |why: String| ToolError::new(ToolErrorKind::Config, format!("the grants cannot be read: {why}"));
        let raw: Value =
            serde_json::from_str(text).map_err(|error| refuse(format!("{error}; restore or remove them")))?;
        match raw.get("version").and_then(Value::as_u64) {
            Some(version) if version == u64::from(VERSION) => {}
            Some(version) => {
                return Err(refuse(format!(
                    "they are of version {version}, this program knows {VERSION}; update it"
                )));
            }
            None => {
                return Err(refuse("they have no version; restore or remove them".to_owned()));
            }
        }
        let file = GrantFile::deserialize(raw).map_err(|error| refuse(format!("{error}; restore or remove them")))?;
        Ok(Self::with(file.grants))
    }

    /// All grants as JSON with a version.
    pub fn to_json(&self) -> String {
        let file = GrantFile {
            version: VERSION,
            grants: self.list(),
        };
        // Grants are plain data with string keys: writing them cannot fail.
        serde_json::to_string_pretty(&file).unwrap_or_default()
    }

    /// All grants.
    pub fn list(&self) -> Vec<Grant> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Takes back all grants of a tool; says how many.
    pub fn revoke(&self, tool: &str) -> usize {
        let mut grants = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let before = grants.len();
        grants.retain(|grant| grant.tool != tool);
        before - grants.len()
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
