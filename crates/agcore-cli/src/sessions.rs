//! [`Sessions`]: where the conversations of the program are kept.

mod find;
mod kind;
mod open;
mod questions;
mod search;
mod started;
mod table;

pub(crate) use self::{
    find::Extent,
    kind::{KIND, SessionKind},
    questions::{OpenQuestion, answers_of, question_key},
    started::Answered,
    table::{day, last_turn, numbered_table, time},
};

use std::{fs, path::Path, sync::Arc};

use agcore::{
    chat::Actor,
    memory::MemoryStore,
    session::{CheckpointStore, Session, SessionStore},
    store::user_data::UserDataStore,
};
use serde_json::Value;

/// The name of the folder in the metadata of a session.
pub(crate) const FOLDER: &str = "folder";

/// The name of what was to answer first, as `provider:model`, in the metadata of a session.
pub(crate) const FIRST_MODEL: &str = "first_model";

/// The name of the mark of a session that was started for a single message, in the metadata of a session.
pub(crate) const SINGLE: &str = "single_message";

/// The name of the options of a flow in the metadata of a session.
pub(crate) const FLOW_OPTIONS: &str = "flow_options";

/// The name of the node in the metadata of a session in which an agent of a flow works. Databases have such sessions also if
/// this build runs no flows.
pub(crate) const FLOW_NODE: &str = "flow_node";

/// The sessions of the user: in the database, or in the memory of the process.
#[derive(Clone)]
pub(crate) struct Sessions {
    store: Arc<dyn SessionStore>,
    /// The same store.
    checkpoints: Arc<dyn CheckpointStore>,
    /// The store of facts and notes, beside the sessions.
    memory: Arc<dyn MemoryStore>,
    /// The same store with everything that it keeps of users, if it is a database.
    user_data: Option<Arc<dyn UserDataStore>>,
    /// The same store with the schedules of users, if it is a database.
    #[cfg(feature = "serve")]
    schedules: Option<Arc<dyn agcore::schedule::ScheduleStore>>,
    /// The same store with the webhooks of users, if it is a database.
    #[cfg(feature = "serve")]
    webhooks: Option<Arc<dyn agcore::webhook::WebhookStore>>,
    /// The same store with the quotas of tenants and users, if it is a database.
    #[cfg(feature = "serve")]
    quotas: Option<Arc<dyn agcore::session::quota::QuotaStore>>,
    /// Whether they outlive the process.
    is_kept: bool,
    /// Which of them are meant.
    kind: SessionKind,
    /// Whether new sessions are started for a single message.
    is_single: bool,
    /// The options of the flow that runs in new sessions.
    flow_options: Option<String>,
}

impl Sessions {
    /// Returns the sessions of this kind only. New sessions are of this kind.
    pub(crate) fn of_kind(mut self, kind: SessionKind) -> Self {
        self.kind = kind;
        self
    }

    /// Returns which sessions are meant.
    pub(crate) fn kind(&self) -> SessionKind {
        self.kind
    }

    /// Marks new sessions as started for a single message.
    pub(crate) fn for_single_message(mut self) -> Self {
        self.is_single = true;
        self
    }

    /// Returns whether new sessions are started for a single message.
    pub(crate) fn is_single(&self) -> bool {
        self.is_single
    }

    /// Keeps these options of a flow in new sessions.
    pub(crate) fn with_flow_options(mut self, options: String) -> Self {
        self.flow_options = Some(options);
        self
    }

    /// Returns the options of the flow that runs in new sessions; `None` if none does.
    pub(crate) fn flow_options(&self) -> Option<&str> {
        self.flow_options.as_deref()
    }

    /// Returns the store.
    pub(crate) fn store(&self) -> Arc<dyn SessionStore> {
        Arc::clone(&self.store)
    }

    /// Returns the store of the checkpoints of flows.
    pub(crate) fn checkpoints(&self) -> Arc<dyn CheckpointStore> {
        Arc::clone(&self.checkpoints)
    }

    /// Returns the store of facts and notes.
    pub(crate) fn memory(&self) -> Arc<dyn MemoryStore> {
        Arc::clone(&self.memory)
    }

    /// Returns the database with everything that it keeps of users.
    pub(crate) fn user_data(&self) -> Option<Arc<dyn UserDataStore>> {
        self.user_data.clone()
    }

    /// Returns the schedules of users, if they are kept.
    #[cfg(feature = "serve")]
    pub(crate) fn schedules(&self) -> Option<Arc<dyn agcore::schedule::ScheduleStore>> {
        self.schedules.clone()
    }

    /// Returns the webhooks of users, if they are kept.
    #[cfg(feature = "serve")]
    pub(crate) fn webhooks(&self) -> Option<Arc<dyn agcore::webhook::WebhookStore>> {
        self.webhooks.clone()
    }

    /// Returns the quotas of tenants and users, if they are kept.
    #[cfg(feature = "serve")]
    pub(crate) fn quotas(&self) -> Option<Arc<dyn agcore::session::quota::QuotaStore>> {
        self.quotas.clone()
    }

    /// Returns whether the sessions outlive the process.
    pub(crate) fn is_kept(&self) -> bool {
        self.is_kept
    }

    /// Returns the owner of the sessions.
    fn owner() -> Actor {
        Actor::local()
    }
}

/// Returns the current directory without links, or `None` if it is unknown.
pub(crate) fn current_folder() -> Option<String> {
    let folder = fs::canonicalize(Path::new(".")).ok()?;
    Some(folder.display().to_string())
}

/// Returns the folder in which a session was started.
pub(crate) fn folder_of(session: &Session) -> Option<&str> {
    session.metadata.get(FOLDER).and_then(Value::as_str)
}

#[cfg(all(test, feature = "flow"))]
mod tests {
    use super::*;

    #[test]
    fn the_sessions_of_nodes_are_those_that_flows_write() {
        assert_eq!(FLOW_NODE, agcore::flow::NODE_METADATA);
    }
}
