//! [`ContextsState`]: the contexts of a session as data.

use std::{collections::BTreeMap, sync::Arc};

use serde::{Deserialize, Serialize};

use crate::{error::AgentError, session::SessionState};

/// The version that this code writes and reads.
const VERSION: u16 = 1;

/// The contexts of a session as data. Serialize it to JSON, deserialize it in any process.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ContextsState {
    version: u16,
    /// The id of the session.
    pub(super) id: Arc<str>,
    /// The name of the current context.
    pub(super) current: String,
    pub(super) contexts: BTreeMap<String, SessionState>,
}

impl ContextsState {
    pub(super) fn new(id: &Arc<str>, current: String, contexts: BTreeMap<String, SessionState>) -> Self {
        Self {
            version: VERSION,
            id: Arc::clone(id),
            current,
            contexts,
        }
    }

    /// Returns the id of the session.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Returns the names of the contexts, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.contexts.keys().map(String::as_str)
    }

    /// Returns these contexts if they can be restored.
    pub(super) fn checked(self) -> Result<Self, AgentError> {
        if self.version != VERSION {
            let message = format!(
                "its contexts have version {}, but this program reads version {VERSION}; use a newer version of the program",
                self.version
            );
            return Err(AgentError::state(message));
        }
        if !self.contexts.contains_key(&self.current) {
            let message = format_args!("its current context `{}` is missing", self.current);
            return Err(AgentError::state(message));
        }
        Ok(self)
    }
}
