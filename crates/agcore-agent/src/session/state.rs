//! [`SessionState`]: a session as data.

use std::{
    sync::Arc,
    time::{Duration, SystemTime},
};

use agcore_cycle::machine::Machine;
use agcore_tools::ToolSession;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::AgentError;

/// The version that this code writes and reads.
const VERSION: u16 = 1;

/// A session as data: the state of its conversation, and what its tools remember. Serialize it to JSON, deserialize it in
/// any process.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SessionState {
    version: u16,
    id: Arc<str>,
    cycle: Machine,
    tools: Value,
    /// When the session was created, in milliseconds since 1970.
    made_ms: u64,
}

impl SessionState {
    pub(super) fn new(id: Arc<str>, cycle: Machine, tools: Value, created: SystemTime) -> Self {
        let since = created.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let made_ms = u64::try_from(since.as_millis()).unwrap_or(u64::MAX);
        Self {
            version: VERSION,
            id,
            cycle,
            tools,
            made_ms,
        }
    }

    /// Returns the id of the session.
    pub fn id(&self) -> &str {
        &self.id
    }

    pub(super) fn into_parts(self) -> Result<(Arc<str>, Machine, ToolSession, SystemTime), AgentError> {
        if self.version != VERSION {
            let message = format!(
                "it has version {}, but this program reads version {VERSION}; use the version of the program that wrote it",
                self.version
            );
            return Err(AgentError::state(message));
        }
        let tools = ToolSession::restore(self.tools).map_err(AgentError::state_from)?;
        let created = SystemTime::UNIX_EPOCH.checked_add(Duration::from_millis(self.made_ms));
        let created = created.ok_or_else(|| AgentError::state("its creation time is out of range"))?;
        Ok((self.id, self.cycle, tools, created))
    }
}
