//! [`GrantStore`]: the store of permanent grants, and [`InMemoryGrants`], a store in memory.

use std::sync::{Mutex, PoisonError};

use agcore_chat::Actor;
use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Grant;
use crate::error::{ToolError, ToolErrorKind};

/// The version of the JSON form of grants. Version 1 had no owners: its grants belong to [`Actor::local`].
const VERSION: u32 = 2;

/// A store of permanent grants. Approvals for one session are kept in its [`ToolSession`](crate::ToolSession).
///
/// A store keeps the grants of each user apart. Whatever it returns, a grant never covers calls of another user.
///
/// ```
/// use std::sync::Mutex;
///
/// use agcore_tools::{Actor, Grant, GrantStore, ToolError};
/// use async_trait::async_trait;
///
/// /// Keeps one JSON document per line, as a file would.
/// #[derive(Default)]
/// struct Lines(Mutex<Vec<String>>);
///
/// #[async_trait]
/// impl GrantStore for Lines {
///     async fn list(&self, actor: &Actor) -> Result<Vec<Grant>, ToolError> {
///         let lines = self.0.lock().unwrap();
///         let mut grants = Vec::new();
///         for line in lines.iter() {
///             grants.push(serde_json::from_str::<Grant>(line)?);
///         }
///         grants.retain(|grant| grant.is_for(actor));
///         Ok(grants)
///     }
///
///     async fn add(&self, grant: Grant) -> Result<(), ToolError> {
///         self.0.lock().unwrap().push(serde_json::to_string(&grant)?);
///         Ok(())
///     }
///
///     async fn revoke(&self, grant: &Grant) -> Result<bool, ToolError> {
///         let revoked = serde_json::to_string(grant)?;
///         let mut lines = self.0.lock().unwrap();
///         let before = lines.len();
///         lines.retain(|line| *line != revoked);
///         Ok(lines.len() < before)
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), ToolError> {
/// let (ann, bob) = (Actor::user("ann"), Actor::user("bob"));
/// let grant = Grant::new("read_file").with_owner(ann.clone());
/// let store = Lines::default();
/// store.add(grant.clone()).await?;
/// assert_eq!(store.find(&ann, "read_file").await?, [grant.clone()]);
/// assert_eq!(store.find(&bob, "read_file").await?, []);
/// assert!(store.revoke(&grant).await?);
/// # Ok(())
/// # }
/// ```
#[async_trait]
pub trait GrantStore: Send + Sync {
    /// Returns all grants for calls of an actor.
    ///
    /// # Errors
    /// When the grants cannot be read.
    async fn list(&self, actor: &Actor) -> Result<Vec<Grant>, ToolError>;

    /// Returns the grants for calls of a tool by an actor. By default, they are picked from the [`list`](Self::list).
    ///
    /// # Errors
    /// When the grants cannot be read. The person is asked again.
    async fn find(&self, actor: &Actor, tool: &str) -> Result<Vec<Grant>, ToolError> {
        let mut grants = self.list(actor).await?;
        grants.retain(|grant| grant.tool.matches(tool));
        Ok(grants)
    }

    /// Stores a grant for its [owner](Grant::owner).
    ///
    /// # Errors
    /// When the grant cannot be stored. The call runs anyway, and the person will be asked again in another session.
    async fn add(&self, grant: Grant) -> Result<(), ToolError>;

    /// Removes a grant. Returns whether it was stored. It may still be valid in sessions that are open: see
    /// [`ToolSession::revoke`](crate::ToolSession::revoke).
    ///
    /// # Errors
    /// When the grants cannot be changed.
    async fn revoke(&self, grant: &Grant) -> Result<bool, ToolError>;
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
/// assert_eq!(restored.revoke_tool("search"), 1);
/// assert_eq!(restored.all(), [Grant::new("read_file")]);
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
            Some(version) if (1..=u64::from(VERSION)).contains(&version) => {}
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
            grants: self.all(),
        };
        // Serializing plain data with string keys cannot fail.
        serde_json::to_string_pretty(&file).unwrap_or_default()
    }

    /// Returns the grants of all owners.
    pub fn all(&self) -> Vec<Grant> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Removes the grants of all owners whose pattern is the name of a tool, and returns their number.
    pub fn revoke_tool(&self, tool: &str) -> usize {
        self.retain(|grant| grant.tool.as_str() != tool)
    }

    fn retain(&self, keep: impl Fn(&Grant) -> bool) -> usize {
        let mut grants = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let before = grants.len();
        grants.retain(keep);
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
    async fn list(&self, actor: &Actor) -> Result<Vec<Grant>, ToolError> {
        let grants = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(grants.iter().filter(|grant| grant.is_for(actor)).cloned().collect())
    }

    async fn add(&self, grant: Grant) -> Result<(), ToolError> {
        let mut grants = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !grants.contains(&grant) {
            grants.push(grant);
        }
        Ok(())
    }

    async fn revoke(&self, grant: &Grant) -> Result<bool, ToolError> {
        Ok(self.retain(|known| known != grant) > 0)
    }
}
