//! [`SessionState`]: a session as data.

use std::{
    sync::Arc,
    time::{Duration, SystemTime},
};

use agcore_llm::cycle::machine::Machine;
use agcore_tools::ToolSession;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::AgentError;

/// The version that this code writes.
const VERSION: u16 = 1;

/// A session as data: the state of its cycle, and what its tools remember. Write it as JSON, read it in any process.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SessionState {
    version: u16,
    id: Arc<str>,
    cycle: Machine,
    tools: Value,
    /// Since 1970.
    made_ms: u64,
}

impl SessionState {
    pub(super) fn new(id: Arc<str>, cycle: Machine, tools: Value, made: SystemTime) -> Self {
        let since = made.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let made_ms = u64::try_from(since.as_millis()).unwrap_or(u64::MAX);
        Self {
            version: VERSION,
            id,
            cycle,
            tools,
            made_ms,
        }
    }

    /// The session's id.
    pub fn id(&self) -> &str {
        &self.id
    }

    pub(super) fn into_parts(self) -> Result<(Arc<str>, Machine, ToolSession, SystemTime), AgentError> {
        if self.version != VERSION {
            let message = format!(
                "it has version {}, but this program reads version {VERSION}: use the program that wrote it",
                self.version
            );
            return Err(AgentError::State(message));
        }
        let tools = ToolSession::restore(self.tools).map_err(|error| AgentError::State(error.to_string()))?;
        let made = SystemTime::UNIX_EPOCH.checked_add(Duration::from_millis(self.made_ms));
        let made = made.ok_or_else(|| AgentError::State("the time when it was made cannot be".to_owned()))?;
        Ok((self.id, self.cycle, tools, made))
    }
}
