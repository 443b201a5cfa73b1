//! How long a turn waits for a store that is away.

use std::time::Duration;

use super::StoredSessions;

/// How long a turn waits without a setting: as long as a database usually takes to fail over.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

impl StoredSessions {
    /// Sets how long a turn waits for a store that cannot be reached when there is a reply of the model or a result of a tool to store;
    /// 30 s by default. Other calls go on meanwhile. After that, the turn fails with
    /// [`Storage`](crate::AgentErrorKind::Storage). The result is still in the memory of the handle then: the next
    /// [`resume`](crate::AgentSession::resume) on it stores the result first. Only when the process ends, it is unknown.
    ///
    /// What begins something, such as the input of a turn, is not waited for: nothing has happened yet.
    #[must_use]
    pub fn with_store_patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }
}
